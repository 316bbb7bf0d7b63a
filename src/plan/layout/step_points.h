/*
 * How many points go to the rows of one instance over a whole step. The passes of the chips that share a table may have unequal
 * numbers of points, and each is rounded by itself: 7 samples in passes of 2 on 2 chips are passes of 2, 2, 2 and 1.
 */
#ifndef DFL_PLAN_LAYOUT_STEP_POINTS_H
#define DFL_PLAN_LAYOUT_STEP_POINTS_H

#include "plan/layout/frame.h"

/* Points of all passes of an einsum by rows, on the chips of the `together` groups; on other groups that divide a rank of the
   positions, those of the first chip. */
typedef struct {
    dfl_i128 total;            /* points of all instances */
    dfl_i128 largest;          /* points of the instance that has most in every pass */
} dfl_step_points;

/* Counts them. True on overflow. */
bool dfl_step_points_find(const dfl_frame *f, uint32_t einsum, uint64_t together, dfl_step_points *out);
/* Sets the largest number of points of a step of the optimizer: one instance has most in all passes of the gather, of all chips
   whose rows the step renews together. */
void dfl_step_points_renew(dfl_frame *f, uint32_t einsum);

#endif
