/*
 * A mapping made better as it stands: two loops at a time are left open and searched again by the model, exactly
 * (size_search.h), until no pair gets any better or much was evaluated. So structures that the search counts in bounds only
 * (windows, transfers that overlap), and tiles that do not divide, are judged by what they really cost.
 */
#ifndef DFL_MAPPER_IMPROVE_PAIR_SEARCH_H
#define DFL_MAPPER_IMPROVE_PAIR_SEARCH_H

#include "mapper/problem/evaluate.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"
#include "support/deadline.h"

typedef struct {
    const dfl_objective *objective;
    dfl_search_limits limits;    /* without that of evaluations */
    dfl_search_space space;
    uint64_t *left;              /* evaluations of an einsum that all who have these options may still take, NULL = any number */
} dfl_pair_search_options;

/* So many evaluations of an einsum are taken, as far as there are any left. */
static inline void dfl_pair_search_take(const dfl_pair_search_options *o, uint64_t evaluations)
{
    if (o->left != NULL)
        *o->left -= evaluations < *o->left ? evaluations : *o->left;
}

static inline bool dfl_pair_search_over(const dfl_pair_search_options *o) { return o->left != NULL && *o->left == 0; }

/* A copy of `m` in `arena`, as good or better; `*value` is that of `m`, then of the copy. Without loops of one iteration. */
dfl_mapping *dfl_pair_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m,
                             const dfl_pair_search_options *options,
                             double *value);

#endif
