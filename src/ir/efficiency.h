/*
 * Efficiencies: the share of a peak rate that a piece of work of some size reaches. They are data of a system. The size
 * is in FLOP for a rate of a compute unit, and in bits for the bandwidth of a memory or a network.
 */
#ifndef DFL_IR_EFFICIENCY_H
#define DFL_IR_EFFICIENCY_H

#include <stdbool.h>

#include "support/intern.h"
#include "support/span.h"
#include "support/strbuf.h"

enum { DFL_GRID_DIMS = 3 }; /* m, n and k of a matrix product */

typedef struct {
    dfl_sym op, type;      /* operation and data type of the rates to which the shares apply, as in dfl_rate; 0 = any */
    dfl_span span;         /* place of the value in the file */
    bool curve;            /* linear between the points; if false, a point holds up to the next one */
    uint32_t n;            /* number of points, > 0; of a grid, the product of `n_of` */
    const double *at;      /* [point]: size of the work, ascending; NULL for a grid */
    const double *share;   /* [point]: share of the peak, in (0, 1]; for a grid, m is the slowest index and k the fastest */
    uint32_t n_of[DFL_GRID_DIMS];      /* grid: number of values of m, n and k */
    const double *of[DFL_GRID_DIMS];   /* grid: values of m, n and k, ascending, >= 1 */
} dfl_efficiency;

static inline bool dfl_efficiency_is_grid(const dfl_efficiency *e) { return e->at == NULL; }
/* The share that work of the size `work` reaches; above the last point, the share of the last point. 0 = the work is
   below the first point. Not for grids. */
double dfl_efficiency_share(const dfl_efficiency *e, double work);
/* The share that a matrix product of the extents `shape` (m, n, k) reaches: linear in the logarithms of the extents, an
   extent above the last value counts as that value. 0 = an extent is below the first value. Only for grids. */
double dfl_efficiency_grid_share(const dfl_efficiency *e, const double shape[DFL_GRID_DIMS]);
void dfl_efficiency_print(dfl_strbuf *out, const dfl_efficiency *e);
/* NULL, or what is wrong. */
const char *dfl_efficiency_verify(const dfl_efficiency *e);

#endif
