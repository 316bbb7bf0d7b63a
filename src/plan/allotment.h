/*
 * Whole units of a compute unit with `units`: what an einsum takes on some of them, and the division among the einsums of a group
 * that run at the same time.
 */
#ifndef DFL_PLAN_ALLOTMENT_H
#define DFL_PLAN_ALLOTMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/system.h"
#include "support/arena.h"

enum { DFL_ALLOTMENT_MOST = 65536 }; /* units at most */

/* The points of an einsum in one pass: m x n x k, `batch` times. Its rows are the m points, its lanes the n x batch ones. An
   einsum that is no product of two tensors has no rows: m is 1. */
typedef struct {
    double m, n, k, batch;
    double pieces;         /* pieces in which the group streams: each has a part of the m points, or of the n ones without rows */
    double point_seconds;  /* time of a point in one lane and row of one unit */
    bool has_rows;
} dfl_allotment_work;

/* [u - 1]: the time of the work on u of `units` units, 1 <= u <= units; it never rises with u. */
const double *dfl_allotment_seconds(dfl_arena *arena, const dfl_compute *compute, int64_t units,
                                    const dfl_allotment_work *work);
/* The least time in which `n` einsums run at the same time on parts of `units` units; seconds[i] as above. If they are more than
   the units, they take turns on all of them. `taken`: room for n numbers. */
double dfl_allotment_divide(const double *const *seconds, uint32_t n, int64_t units, int64_t *taken);

#endif
