/* The search over tiles that divide, for the portfolio: with or without written branches, with either way to count time. */
#ifndef DFL_MAPPER_BRANCHES_PERFECT_H
#define DFL_MAPPER_BRANCHES_PERFECT_H

#include "mapper/exact/exact.h"

/* The search over tiles that divide, with or without written branches, under either way to count time (perfect.c). Returns like
   dfl_mapper_alone. */
dfl_map_result *dfl_mapper_perfect(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                   const dfl_map_options *options, bool *fits);
/* Whether time counts in the objective, and transfers take some besides the work. */
bool dfl_mapper_counts_waits(const dfl_mapping *m, const dfl_map_options *options);

#endif
