/*
 * Einsums that repeat, as the layers of a network do: from some einsum on each has the rows of the one a period before it, and
 * exchanges its operands with einsums as far away. When a join (join.h) finds behind a period the states that it had before
 * it, with the names of this period, each for as much more, then so it is behind all that follow: they need not be joined one
 * by one, and a chain of any length costs what its first periods do.
 *
 * States that the limit has cut off are those of the periods to come only if there, too, they are beyond it: the bounds of
 * what stands behind must not fall faster than costs grow. So many periods are gone over as this is true for.
 */
#ifndef DFL_MAPPER_EXACT_PERIODIC_H
#define DFL_MAPPER_EXACT_PERIODIC_H

#include "mapper/exact/dp_states.h"

typedef struct dfl_periods dfl_periods;

dfl_periods *dfl_periods_new(dfl_arena *arena, const dfl_workload *w, const dfl_join_step *steps);
/* Einsums from `e` on that need not be joined, a number of periods; `l`, what is known in front of e, is then what is known
   behind them. To be called in front of every einsum that is joined. */
uint32_t dfl_periods_skip(dfl_periods *k, const dfl_joiner *j, dfl_join_layer *l, uint32_t e);
/* The einsum whose choices are those of `e`: itself, unless it was skipped. */
uint32_t dfl_periods_base(const dfl_periods *k, uint32_t e);
/* For a rank that names a loop there the one that does so in `e`. */
uint32_t dfl_periods_rank(const dfl_periods *k, uint32_t e, uint32_t rank);
void dfl_periods_free(dfl_periods *k);

#endif
