/*
 * Which ranks one loop may cut at once. A loop above several einsums reaches an einsum by a rank of its own, or by a dimension of
 * a tensor that is exchanged below the loop: then it also cuts what the other einsum has in this dimension (MODEL.md, rule 11;
 * E0416). Two ranks are *linked* if such steps lead from one to the other.
 */
#ifndef DFL_MAPPER_EXACT_RANK_LINKS_H
#define DFL_MAPPER_EXACT_RANK_LINKS_H

#include "ir/workload.h"
#include "support/arena.h"

/* A number for each rank of a workload, equal for linked ranks. */
const uint32_t *dfl_rank_links(dfl_arena *arena, const dfl_workload *workload);

#endif
