/*
 * What every mapping of several einsums costs at least, whatever the skeletons, the tiles and the exchanges: rule B44 of
 * SEARCH.md. It takes a millisecond or less, so it is there where skeletons are too many to list.
 */
#ifndef DFL_MAPPER_JOIN_WORKLOAD_FLOOR_H
#define DFL_MAPPER_JOIN_WORKLOAD_FLOOR_H

#include "mapper/first/floor.h"

/* The floor of a mapping with all lines open. 0 for both if some einsum is none that a problem describes. */
dfl_floor dfl_workload_floor(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping);

#endif
