/* The search of a single einsum over all tile sizes or over those that divide: by boxes (tiling/box_search.h). With written lines
   only over those that divide. */
#ifndef DFL_MAPPER_SINGLE_H
#define DFL_MAPPER_SINGLE_H

#include "mapper/exact/exact.h"
#include "mapper/first/first.h"
#include "mapper/nests/nests.h"
#include "mapper/tiling/box_search.h"

/* Whether the search applies to these options at all: one best mapping, no extensions, no certificate. */
bool dfl_single_applies(const dfl_mapping *mapping, const dfl_map_options *options);
/* Searches the mapping; `first` is one to begin with, or has none. NULL if the search does not handle the einsum, or if it
   found no mapping; nothing was reported. */
dfl_map_result *dfl_single_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_map_options *options, const dfl_first_result *first);

/* Searches the mappings below `value` whose tiles divide by nests, where they are few (nests/nests.h); incomplete where they are
   not. `evaluated`: what other searches of the request took of its limit. */
dfl_nests_result dfl_single_nests(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_map_options *options, uint64_t evaluated, double value);

/* The best amounts of a mapping of one einsum whose lines are all written, by boxes. NULL where there are few, so that a search
   by lists takes no longer, where the search does not know the lines, and without a mapping. */
const dfl_box_result *dfl_single_sizes(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_search_request *request);

#endif
