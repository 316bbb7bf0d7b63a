/*
 * Einsums that repeat, as the layers of a network do: from some einsum on each has the rows of the one a period before it, and
 * exchanges its operands with einsums as far away. When a join (join.h) finds behind a period the states that it had before
 * it, with the names of this period, each for as much more, then so it is behind all that follow: they need not be joined one
 * by one, and a chain of any length costs what its first periods do.
 *
 * States that the limit has cut off are those of the periods to come only if there, too, they are beyond it: the bounds of
 * what stands behind must not fall faster than costs grow. So many periods are gone over as this is true for.
 */
#ifndef DFL_MAPPER_EXACT_REPEAT_H
#define DFL_MAPPER_EXACT_REPEAT_H

#include "mapper/exact/states.h"

typedef struct dfl_repeats dfl_repeats;

dfl_repeats *dfl_repeats_new(dfl_arena *arena, const dfl_workload *w, const dfl_join_step *steps);
/* Einsums from `e` on that need not be joined, a number of periods; `l`, what is known in front of e, is then what is known
   behind them. To be called in front of every einsum that is joined. */
uint32_t dfl_repeats_skip(dfl_repeats *k, const dfl_joiner *j, dfl_join_layer *l, uint32_t e);
/* The einsum whose choices are those of `e`: itself, unless it was skipped. */
uint32_t dfl_repeats_base(const dfl_repeats *k, uint32_t e);
/* For a rank that names a loop there the one that does so in `e`. */
uint32_t dfl_repeats_rank(const dfl_repeats *k, uint32_t e, uint32_t rank);
void dfl_repeats_free(dfl_repeats *k);

#endif
