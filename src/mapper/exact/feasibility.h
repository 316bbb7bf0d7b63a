/*
 * Whether any mapping at all fits when all lines are open, without searching for the best. Keeps but homes only take room, so
 * there are none; a loop that einsums share leaves each of its iterations the least room when it goes element by element; time
 * and energy do not count. What is left are a few rows for each einsum, and one join.
 */
#ifndef DFL_MAPPER_EXACT_FEASIBILITY_H
#define DFL_MAPPER_EXACT_FEASIBILITY_H

#include "ir/mapping.h"
#include "mapper/problem/request.h"
#include "support/deadline.h"

typedef struct {
    const dfl_intern *names;
    uint32_t max_fused;       /* loops that einsums share, DFL_NONE = any */
    dfl_deadline *halt;
} dfl_feasibility;

dfl_answer dfl_feasibility_any(const dfl_feasibility *f, const dfl_mapping *mapping);
/* One of those in `arena`, and its energy without leakage and time as a search counts them. NULL if none was found. */
dfl_mapping *dfl_feasibility_first(dfl_arena *arena, const dfl_feasibility *f, const dfl_mapping *mapping, double *joules,
                                   double *seconds);
/* Bits of all tensors, which is more than anything takes. */
double dfl_feasibility_bits(const dfl_workload *w);
/* The least size of a memory, in bits, with which there is one, everything else as it is. From 2^53 bits on one that is enough,
   and hardly more than the least. */
dfl_answer dfl_feasibility_least(const dfl_feasibility *f, const dfl_mapping *mapping, uint32_t memory, int64_t *bits);
/* Whether some einsum has a tensor that no memory may hold, on every unit that can run it. */
bool dfl_feasibility_homeless(const dfl_intern *names, const dfl_mapping *mapping);

#endif
