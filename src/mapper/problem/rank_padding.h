/*
 * Tiles that do not divide, for a search in which all lines are open. The search over divisors is run for a workload whose
 * ranks are a little longer, to numbers with more divisors or to multiples of an array. A mapping of that is one of the real
 * workload, whose last tiles are smaller; the model counts it exactly, and it is polished (polish.h). Nothing is proven this
 * way but that it is no worse than the best mapping of tiles that divide.
 */
#ifndef DFL_MAPPER_PROBLEM_RANK_PADDING_H
#define DFL_MAPPER_PROBLEM_RANK_PADDING_H

#include "ir/mapping.h"

enum { DFL_RAGGED_WAYS = 4 };

/* The mapping with all its ranks longer in way 0, 1...; NULL if this is no other than those of the ways before. */
dfl_mapping *dfl_rank_padding_longer(dfl_arena *arena, const dfl_mapping *m, uint32_t way);

#endif
