/*
 * What there is when a search is stopped: some mapping of the whole workload, as good as is found in a moment. Rows that are
 * there already are joined with few states behind each einsum. Where there are none, all templates are glanced at, once with
 * shared loops that have all iterations they can have, so that those of different einsums match, and once with any. And every
 * einsum can stand by itself, with all that is exchanged at home, if the search came as far as to know a row for each.
 */
#ifndef DFL_MAPPER_EXACT_PRIMAL_H
#define DFL_MAPPER_EXACT_PRIMAL_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/exact/join.h"

typedef struct {
    dfl_arena *arena;            /* of the result, but for its rows */
    dfl_einsum_classes *classes;
    const dfl_tile_goal *goal;
    const dfl_cost_to_go *bounds;
    const double *capacity;
    double deadline;
    uint64_t evaluations;        /* of rows of einsums between others, about the most; 0 = any number */
    /* inside: */
    dfl_budget budget;
    dfl_deadline halt;
    uint64_t looked, most_looked; /* ways to cut a rank in looks so far, and at most; 0 = any number */
    dfl_arena *rows, *scratch;
} dfl_primal;

/* Within a grace budget (support/deadline.h) from now on. */
void dfl_primal_start(dfl_primal *k, dfl_stop why);
/* Rows that were found in a glance are gone. */
void dfl_primal_end(dfl_primal *k);
/* Every einsum by itself. NULL if some has no row, or there is no room for what is exchanged. */
const dfl_join_result *dfl_primal_unfused(dfl_arena *arena, const dfl_einsum_classes *classes, const dfl_tile_goal *goal,
                                          const double *capacity);
/* The best of all that, of values from `bound` on. NULL if there is nothing. */
const dfl_join_result *dfl_primal_any(dfl_primal *k, double bound);
/*
 * dfl_join. Where that takes long, or the limit is the lower bound, what is found in a moment is all there is to know if it gets
 * to the lower bound, so that the join need not come to its end. Else, if the join is stopped, `*why` says so, and what was found
 * is returned.
 */
const dfl_join_result *dfl_primal_join(dfl_primal *k, const dfl_join_step *steps, bool front, double bound, uint32_t *n,
                                       bool *full, dfl_stop *why);

#endif
