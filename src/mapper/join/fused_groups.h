/*
 * A first mapping of several einsums: neighbours in workload order form groups that exchange their intermediates in one inner
 * memory below shared loops (assemble.h); other einsums stand alone. The objective is replaced by a line of energy and time, so
 * costs of groups add up, and the best split into groups is found by dynamic programming. The line touches the objective at
 * the einsums alone. Nothing is proven; the model judges the result.
 */
#ifndef DFL_MAPPER_JOIN_FUSED_GROUPS_H
#define DFL_MAPPER_JOIN_FUSED_GROUPS_H

#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"

typedef struct {
    dfl_mapping *mapping;      /* the mapping found; NULL = none */
    double value;              /* its first term of the objective, by the model */
    uint64_t nodes;            /* number of nodes split */
    dfl_stop stopped;
} dfl_fused_result;

/* Maps a mapping of several einsums with all lines open, for a `native` objective. `joules` and `seconds` are those of a mapping
   that is known, for the first line; 0 = none is. A search under a limit on time goes on beyond `probe` (s of
   dfl_deadline_clock) only once it has something below `known`. The result lies in `arena`. */
dfl_fused_result dfl_fused_groups(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, double joules, double seconds,
                                  double known, double probe, const dfl_search_limits *limits);

#endif
