/*
 * Lower bounds of a geometric program (SEARCH.md, B20).
 *
 * A *plane* is a linear function of x = ln T that is nowhere above ln (objective) where all limits hold. It comes from any point
 * and any multipliers >= 0; good ones make it high, and no choice makes it wrong. Its least value over a box is a lower bound
 * for all points of the box, and takes no exponentials: the plane of a box bounds every smaller box, too.
 */
#ifndef DFL_MAPPER_PROGRAM_PLANE_H
#define DFL_MAPPER_PROGRAM_PLANE_H

#include "mapper/program/sums.h"

/* constant + sum of slope[j] * x[j] */
typedef struct {
    double constant, slope[DFL_GEOMETRIC_VARS];
} dfl_geometric_plane;

/*
 * The plane of the multipliers of the limits: multiplier[k] >= 0 for sum k, from 1; `sums` are those at `x`. The objective has
 * the multiplier 1, or 0 if `limits_only`: then the plane is nowhere above 0 where all limits hold.
 */
void dfl_geometric_tangent(const dfl_geometric_program *p, const dfl_geometric_sums *sums, const double *x,
                           const double *multiplier, bool limits_only, dfl_geometric_plane *out);
/* Least value of a plane over a box. */
double dfl_geometric_least(const dfl_geometric_program *p, const dfl_geometric_plane *plane, const dfl_geometric_box *box);

#endif
