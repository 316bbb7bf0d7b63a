/*
 * What every mapping of several einsums costs at least, whatever the skeletons, the tiles and the exchanges: rule B44 of
 * SEARCH.md. It takes a millisecond or less, so it is there where skeletons are too many to list.
 */
#ifndef DFL_MAPPER_JOIN_WORKLOAD_FLOOR_H
#define DFL_MAPPER_JOIN_WORKLOAD_FLOOR_H

#include "mapper/problem/floor.h"

/* The floor of a mapping with all lines open. Energy and latency are 0 if a problem (einsum_problem.h) cannot describe some
   einsum. */
dfl_floor dfl_workload_floor(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping);

#endif
