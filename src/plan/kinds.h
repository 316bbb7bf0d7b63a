/*
 * Micro-batches that differ. The last one along a rank has what remains of it, which may be less than a whole pass; the first
 * one of a step also starts the sums over all of them. Each kind has its own times of einsums and bits of exchanges; all have the
 * same einsums and exchanges in the same order. Kind 0 is that of the first micro-batch, which is whole.
 */
#ifndef DFL_PLAN_KINDS_H
#define DFL_PLAN_KINDS_H

#include "plan/plan_internal.h"

/* Sets the kinds of micro-batches and the work of each; `p->work` is that of kind 0. False after a report: the
   plan has a smaller last micro-batch that is not evaluated (PLAN.md). */
bool dfl_plan_kinds_find(dfl_plan_state *p);
/* Whether the last micro-batch along some rank is smaller than the others. */
bool dfl_plan_has_rest(const dfl_frame *f);
/* Number of micro-batches of a step that are whole along each rank. */
int64_t dfl_plan_whole_micro_batches(const dfl_frame *f);
/* Passes of an einsum through micro-batches of a kind; those of a step of the optimizer count for kind 0. */
double dfl_plan_passes(const dfl_plan_state *p, const dfl_plan_kind *kind, uint32_t einsum);

#endif
