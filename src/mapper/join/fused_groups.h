/*
 * A first mapping of several einsums: neighbours in workload order form groups that exchange their intermediates in one inner
 * memory below shared loops (assemble.h); other einsums stand alone. The objective is replaced by a line of energy and time, so
 * costs of groups add up, and the best split into groups is found by dynamic programming. The line touches the level of
 * the objective at the energy and the time of the mapping in which each einsum stands alone. Nothing is proven; the model judges
 * the result.
 */
#ifndef DFL_MAPPER_JOIN_FUSED_GROUPS_H
#define DFL_MAPPER_JOIN_FUSED_GROUPS_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"

typedef struct {
    dfl_mapping *mapping;      /* the mapping found; NULL = none */
    double value;              /* its first term of the objective, by the model */
    uint64_t nodes;            /* number of nodes split */
    dfl_stop stopped;
} dfl_fused_result;

/* Fills a mapping of several einsums with all lines open, for a `native` objective. `joules` and `seconds` are those of a mapping
   that is known, and give the first line; 0 = no mapping is known. `known` is its value. Under a limit on time, rounds of the
   search end at `probe` (s of dfl_deadline_clock) as long as no earlier round has found a value below `known`. `classes` are
   those of dfl_exchange_list (exchange_bound.h). The result lies in `arena`. */
dfl_fused_result dfl_fused_groups(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, double joules, double seconds,
                                  double known, double probe, const dfl_einsum_classes *classes,
                                  const dfl_search_limits *limits);

#endif
