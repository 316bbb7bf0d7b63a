/*
 * What is asked of rows of an einsum that stands between others (pass_through.h): the loops that are open before it, each as a
 * loop over a rank of its own, where the inputs that are alive stand among them, and what everything else costs there at least.
 * Loops that the einsum may skip are asked for both with and without.
 */
#ifndef DFL_MAPPER_EXACT_PASS_REQUESTS_H
#define DFL_MAPPER_EXACT_PASS_REQUESTS_H

#include "mapper/exact/einsum_classes.h"

typedef DFL_VEC(dfl_pass_request) dfl_requests;

/* What does not change from one einsum to the next. */
typedef struct {
    const dfl_einsum_classes *k;
    const dfl_cost_to_go *bounds;
    uint32_t *along;             /* by rank of the workload: its class (dfl_rank_classes) */
    uint32_t *memory;            /* by tensor that is alive: scratch */
} dfl_requester;

/* Without bounds. */
dfl_requester dfl_requester_make(dfl_arena *arena, const dfl_einsum_classes *k);
dfl_pass_request *dfl_requests_find(const dfl_requests *all, const dfl_pass_through_way *way);
/* Adds to `out` what states before the einsum ask of its class: ways that are not `known`, or not with as little a rest. */
void dfl_requests_add(dfl_arena *arena, const dfl_requester *k, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                      const dfl_requests *known, dfl_requests *out);

#endif
