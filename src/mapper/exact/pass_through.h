/*
 * Einsums that stand between others which share loops, without exchanging anything below these themselves: there is a tensor
 * that they do not touch, alive while they run, with a home below the loops. The join knows which loops are open before an
 * einsum; the rows of the einsum that have just these (skeleton/template.h, `through`) are searched when it gets there, once
 * for all einsums of a class.
 */
#ifndef DFL_MAPPER_EXACT_PASS_THROUGH_H
#define DFL_MAPPER_EXACT_PASS_THROUGH_H

#include "mapper/exact/exact.h"
#include "mapper/exact/primal.h"

typedef struct dfl_pass_through dfl_pass_through;

/* NULL: no einsum stands between others. */
dfl_pass_through *dfl_pass_through_make(dfl_arena *arena, const dfl_einsum_classes *k);
/* The goal with such einsums, for joins until dfl_pass_through_end; rows are searched until it stops. `progress` may be NULL. */
const dfl_tile_goal *dfl_pass_through_begin(dfl_pass_through *x, const dfl_tile_goal *goal, const dfl_cost_to_go *bounds,
                                            dfl_deadline *halt,
                                            dfl_progress_meter *progress);
/* What is better with such einsums than `found`, the best mapping without, NULL = there is none, or that; with several of a kind
   or a front all within the limit of the goal. `*n`, `*full` and `*why` as of dfl_primal_join. */
const dfl_join_result *dfl_pass_through_join(dfl_pass_through *x, dfl_primal *rescue, const dfl_join_step *steps,
                                             const dfl_join_result *found, const dfl_map_options *options, double bound,
                                                 uint32_t *n,
                                             bool *full, dfl_stop *why);
/* Adds the rows that were found to those of the classes. */
void dfl_pass_through_append(dfl_arena *arena, const dfl_pass_through *x, dfl_einsum_classes *k);
/* The rows go; adds the nodes that were looked at, and those of them below which nothing was searched. `x` may be NULL. */
void dfl_pass_through_end(dfl_pass_through *x, uint64_t *evaluated, uint64_t *pruned);

#endif
