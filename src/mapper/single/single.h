/* The search of a single einsum over all tile sizes or over those that divide: by boxes (tiling/box_search.h). With written lines
   only over those that divide. */
#ifndef DFL_MAPPER_SINGLE_SINGLE_H
#define DFL_MAPPER_SINGLE_SINGLE_H

#include "mapper/exact/exact.h"
#include "mapper/first/first.h"
#include "mapper/nests/nests.h"
#include "mapper/tiling/box_search.h"

/* Whether a search over tile sizes that divide is a poor choice: see dfl_mapper_wants_any_tiles. */
bool dfl_single_wants_any_tiles(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping);
/* Whether the search knows the workload and the objective: one einsum, and one term of energy and latency. */
bool dfl_single_knows(const dfl_mapping *mapping, const dfl_map_options *options);
/* Makes the problems of the einsum on all units; false if the search does not handle one of them, or if there is none. `spread`:
   any ranks on axes whose network shares transfers. */
bool dfl_single_problems(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, bool divides, bool spread,
                         dfl_problems *out);
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

/* A good mapping of the only einsum by boxes over tile sizes that divide, in some milliseconds: for a matrix product on a TPU, a
   third of the energy that the starts of first/first.h have by then. DFL_BOX_LEAF splits count as one evaluation, also in the
   limit. No mapping where such a search needs longer, and where a limit ends it before. */
dfl_first_result dfl_single_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, const dfl_search_limits *limits);

/* Whether the workload is one einsum without written branches. */
bool dfl_single_is_one(const dfl_mapping *mapping);
/* Where a search over tile sizes that divide begins: with nothing. */
dfl_box_start dfl_single_start(const dfl_mapping *mapping);
/* Mappings with tile sizes that divide, at most DFL_SINGLE_FRONT, of which each has the least energy below some limit on the
   latency, as far as short searches find it; in no order, and some may undercut others. Returns their number, 0 where the search
   does not handle the einsum; `out` has room for all. */
enum { DFL_SINGLE_FRONT = 32 };
uint32_t dfl_single_front(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                          dfl_map_point *out);
/* A few of the best mappings with different memories of operands, at most options->top, best first: the best of each family of
   skeletons over tiles that divide, as far as a short search finds it. Returns their number, 0 where the search does not handle
   the einsum; `out` has room for all. */
uint32_t dfl_single_kinds(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                          dfl_map_point *out);

#endif
