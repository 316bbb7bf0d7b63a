/* The nests of an einsum whose tiles need not divide what they cut: each rank has any chain of loops and axes, with any tiles,
   and the loops of all ranks stand in any order. */
#ifndef DFL_MAPPER_NESTS_RAGGED_NEST_H
#define DFL_MAPPER_NESTS_RAGGED_NEST_H

#include "mapper/nests/nest.h"

enum { DFL_RAGGED_CHAINS = 4096 };
/* As dfl_nests_each. False if a rank has more than DFL_RAGGED_CHAINS chains, or a nest too many lines: then nests are missing. */
bool dfl_ragged_nests_each(dfl_arena *arena, const dfl_problem *problem, dfl_nest_use *use, void *context);
/* Number of nests; `most` if there are at least so many, or if it cannot list them. */
uint64_t dfl_ragged_nests_count(dfl_arena *arena, const dfl_problem *problem, uint64_t most);

#endif
