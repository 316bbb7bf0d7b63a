/*
 * Micro-batches: the passes of all einsums over the ranks that temporal lines cut. All einsums have the same number of them,
 * or one, and a pass reads what the same pass of another einsum makes. A loop over several ranks cuts each einsum along its
 * own one.
 */
#ifndef DFL_PLAN_LAYOUT_PASSES_H
#define DFL_PLAN_LAYOUT_PASSES_H

#include "plan/layout/frame.h"

/* Sets the number of micro-batches of a frame. False after a report. */
bool dfl_passes_count(dfl_frame *f);
/* Whether an einsum starts a sum over all micro-batches, so that only the first micro-batch runs it. */
bool dfl_frame_starts_once(const dfl_frame *f, uint32_t einsum);

#endif
