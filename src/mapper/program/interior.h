/*
 * The solver of geometric programs: a primal-dual interior point method in logarithms.
 *
 * Every step computes the sums at the present point and the plane of the present multipliers (plane.h), so every step has a
 * lower bound that holds. The search ends when bound and value are close, when the bound passes a cutoff, when no bound can
 * pass it, or when steps run out; a bound never depends on why it ended.
 */
#ifndef DFL_MAPPER_PROGRAM_INTERIOR_H
#define DFL_MAPPER_PROGRAM_INTERIOR_H

#include "mapper/program/plane.h"

typedef enum {
    DFL_GEOMETRIC_CLOSE,       /* value - bound <= precision */
    DFL_GEOMETRIC_ABOVE,       /* bound > cutoff */
    DFL_GEOMETRIC_BELOW,       /* value < cutoff: no bound can pass the cutoff */
    DFL_GEOMETRIC_INFEASIBLE,  /* the limits cannot hold together in the box: bound = INFINITY */
    DFL_GEOMETRIC_STEPS,       /* no more steps */
} dfl_geometric_end_reason;

typedef struct {
    double precision;          /* of the logarithm: 0.001 = 0.1 % of the objective */
    double cutoff;             /* INFINITY = none */
    bool stop_below;           /* end with DFL_GEOMETRIC_BELOW; false = go on to the precision */
    uint32_t steps;
} dfl_geometric_effort;

/* A point and multipliers from which a solver can start; those of a solution serve for boxes near its own. */
typedef struct {
    double x[DFL_GEOMETRIC_VARS];
    double multiplier[DFL_GEOMETRIC_SUMS];
} dfl_geometric_state;

typedef struct {
    dfl_geometric_end_reason reason;
    double bound;              /* ln of the objective, at least, in the box */
    double value;              /* ln of the objective at `state.x`; INFINITY if some ln (limit) is above the precision there */
    uint32_t steps;
    dfl_geometric_state state; /* last point and multipliers */
    dfl_geometric_plane plane; /* of the bound; of the limits alone if they cannot hold */
} dfl_geometric_solution;

/* Solves a program in a box inside of its range. `start` may be NULL. */
void dfl_geometric_solve(const dfl_geometric_program *p, const dfl_geometric_box *box, const dfl_geometric_state *start,
                         const dfl_geometric_effort *effort, dfl_geometric_solution *out);

#endif
