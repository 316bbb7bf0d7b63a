/*
 * Whole units of a compute unit with `units`: the seconds of an einsum on some of them, and the division of all of them among the
 * einsums of a group that run at the same time (PLAN.md).
 */
#ifndef DFL_PLAN_PASS_ALLOTMENT_H
#define DFL_PLAN_PASS_ALLOTMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/system.h"
#include "support/arena.h"

enum { DFL_ALLOTMENT_MOST = 65536 }; /* units at most */

/* The work of an einsum in one pass: m x n x k x batch points. Rows of units take the values of m, lanes those of n and batch. An
   einsum that is no product of two tensors takes lanes alone: `has_rows` is false, m is 1. */
typedef struct {
    double m, n, k, batch;
    double pieces;         /* most pieces in which the group streams; each has a part of m, or of n without rows */
    double point_seconds;  /* time of a point in one lane and row of one unit, s */
    bool has_rows;
} dfl_allotment_work;

/* [u - 1]: the time of the work, s, on u of `units` units, 1 <= u <= units; it never rises with u. */
const double *dfl_allotment_seconds(dfl_arena *arena, const dfl_compute *compute, int64_t units,
                                    const dfl_allotment_work *work);
/* The least time, s, in which `n` einsums run at the same time on parts of `units` units; seconds[i]: times of einsum i as above.
   If n > units, they take turns on all units. `taken`: scratch room for n numbers. */
double dfl_allotment_divide(const double *const *seconds, uint32_t n, int64_t units, int64_t *taken);

#endif
