/*
 * What the rest of a mapping costs at least, given where the operands that are alive are exchanged. Einsums are relaxed to
 * their cheapest way for every choice of memories that their shared operands are exchanged in (a pattern): no loops need
 * to match and no room is shared. Neighbours still must agree on the memories, so the sums are found by going through the
 * einsums forwards and backwards with the memories of what is alive as the state, every measure (criteria.h) for itself.
 */
#ifndef DFL_MAPPER_EXACT_COST_TO_GO_H
#define DFL_MAPPER_EXACT_COST_TO_GO_H

#include "mapper/problem/criteria.h"
#include "mapper/problem/einsum_problem.h"

/* One choice of an einsum. */
typedef struct {
    uint32_t memory[DFL_PROBLEM_OPERANDS]; /* of operands that are exchanged, else 0 */
    double fetch[DFL_PROBLEM_OPERANDS]; /* joules to bring one there that others may have brought already, else 0 */
    double rebate;                      /* joules of these that are in the costs of the einsum, too */
    dfl_criteria least;
} dfl_pattern;

typedef struct {
    const dfl_problem *problem;
    const dfl_pattern *patterns;
    uint32_t n;
} dfl_bound_step;

typedef struct dfl_cost_to_go dfl_cost_to_go;

/* `steps` by einsum. */
dfl_cost_to_go *dfl_cost_to_go_make(dfl_arena *arena, const dfl_workload *w, const dfl_bound_step *steps);
/* Of the whole mapping. */
dfl_criteria dfl_cost_to_go_all(const dfl_cost_to_go *b);
/* Of everything but `einsum`, if it follows pattern `p`, and what that needs to fetch; INFINITY where nothing goes with it. */
dfl_criteria dfl_cost_to_go_others(const dfl_cost_to_go *b, uint32_t einsum, uint32_t p);
/* Of `einsum` and those behind it, when tensor t that is alive is exchanged in memory[t]. */
dfl_criteria dfl_cost_to_go_behind(const dfl_cost_to_go *b, uint32_t einsum, const uint32_t *memory);
/* The tensor that is behind a later einsum what another is behind an earlier one, DFL_NONE = none. */
typedef struct {
    uint32_t (*tensor)(const void *context, uint32_t tensor);
    const void *context;
} dfl_later;

/* Whether, whatever is alive, what stands behind `late` and `by` together are at least what stands behind `early`. */
bool dfl_cost_to_go_fall_by(const dfl_cost_to_go *b, uint32_t early, uint32_t late, const dfl_later *later,
                            const dfl_criteria *by);
/* Of those behind it when it follows pattern `p`, and what that needs to fetch; INFINITY where nothing goes with it. */
dfl_criteria dfl_cost_to_go_after(const dfl_cost_to_go *b, uint32_t einsum, const uint32_t *memory, uint32_t p);

#endif
