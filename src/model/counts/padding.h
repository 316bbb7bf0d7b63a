/*
 * Padding: points of an einsum that read an element outside of a declared shape. Padding is the number of all points
 * minus the number of points inside.
 */
#ifndef DFL_MODEL_COUNTS_PADDING_H
#define DFL_MODEL_COUNTS_PADDING_H

#include "ir/workload.h"
#include "support/arena.h"

/* Number of points of an einsum with all inputs inside their shapes. False on overflow, and if the budget is spent. */
bool dfl_padding_points_inside(dfl_arena *arena, const dfl_workload *workload, const dfl_einsum *einsum, dfl_i128 *out);

#endif
