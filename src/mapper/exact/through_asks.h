/*
 * What is asked of rows of an einsum that stands between others (through.h): the loops that are open before it, each as a loop
 * over a rank of its own, where the inputs that are alive stand among them, and what everything else costs there at least. Loops
 * that the einsum may skip are asked for both with and without.
 */
#ifndef DFL_MAPPER_EXACT_THROUGH_ASKS_H
#define DFL_MAPPER_EXACT_THROUGH_ASKS_H

#include "mapper/exact/classes.h"

typedef DFL_VEC(dfl_through_ask) dfl_asks;

/* What does not change from one einsum to the next. */
typedef struct {
    const dfl_classes *k;
    const dfl_bounds *bounds;
    uint32_t *along;             /* by rank of the workload: one of those that index the same dimension of some tensor */
    uint32_t *memory;            /* by tensor that is alive: scratch */
} dfl_asker;

/* Without bounds. */
dfl_asker dfl_asker_make(dfl_arena *arena, const dfl_classes *k);
dfl_through_ask *dfl_asks_find(const dfl_asks *all, const dfl_through_way *way);
/* Adds to `out` what states before the einsum ask of its class: ways that are not `known`, or not with as little a rest. */
void dfl_asks_add(dfl_arena *arena, const dfl_asker *k, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                  const dfl_asks *known, dfl_asks *out);

#endif
