/*
 * The different values of an index over a box: sums of strides, some of which may meet. `H[b, n + n]` touches every second
 * element; `X[p + r]` touches what lies between the ends, each once.
 */
#ifndef DFL_PLAN_LAYOUT_TOUCHED_H
#define DFL_PLAN_LAYOUT_TOUCHED_H

#include "support/arena.h"
#include "support/checked.h"

/* The summands 0, step, 2 * step ... of one rank: `n` > 0 of them. */
typedef struct { int64_t step, n; } dfl_stride;

/* Sums in one row: first, first + gap, and so on, `n` of them. */
typedef struct { dfl_i128 first, gap, n; } dfl_touched_row;

/* Largest distance between the ends of sums that are listed one by one, where strides neither join nor lie apart. */
enum { DFL_TOUCHED_SPAN = 1 << 20 };

/* The number of different sums `base` + one summand of each stride that lie in low .. high. Reorders the strides. False: they are
   not counted, since they would have to be listed and lie too far apart. */
bool dfl_touched_count(dfl_arena *arena, int64_t base, dfl_stride *strides, uint32_t n, int64_t low, int64_t high, int64_t *out);

/* The row of all sums. Reorders the strides. False: they do not lie in one row. */
bool dfl_touched_row_of(dfl_i128 base, dfl_stride *strides, uint32_t n, dfl_touched_row *out);

#endif
