/*
 * Lower bound of a mapping of several einsums, all lines open, with any tile sizes. Each einsum costs at least the least of its
 * exchange pattern: the memories in which its operands are exchanged, with the room that its own tiles take there. Einsums must
 * agree on these memories; loops need not match, and only exchanged tiles and held keeps take room from others. For lines
 * J + rate * S the sum over einsums is least by dynamic programming over the tensors that are alive (SEARCH.md, B40 to B48, B62).
 */
#ifndef DFL_MAPPER_JOIN_EXCHANGE_BOUND_H
#define DFL_MAPPER_JOIN_EXCHANGE_BOUND_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"

typedef struct {
    double value;          /* lower bound of the first term of the objective; 0 = not known */
    dfl_stop stopped;
    uint64_t programs;     /* number of geometric programs solved, which count as evaluations */
} dfl_exchange_result;

/* The classes of the einsums of a mapping with all lines open, as the bound and the search of fused groups (fused_groups.h) look
   at them for an objective: where time does not count, loops may be shared for a shared input alone. NULL if a limit ends the
   list, or the search does not support an einsum. They lie in `arena`. */
dfl_einsum_classes *dfl_exchange_list(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                      const dfl_objective *objective, const dfl_search_limits *limits);

size_t dfl_exchange_skeletons(const dfl_einsum_classes *classes);
bool dfl_exchange_has_windows(const dfl_einsum_classes *classes);

/* The bound for a mapping with all lines open and a `native` objective. `joules` and `seconds` are those of a mapping that is
   known, for the rate of the line. `classes`: those of dfl_exchange_list; NULL: the floor alone (B44) is the bound. */
dfl_exchange_result dfl_exchange_bound(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_objective *objective, double joules, double seconds,
                                       dfl_einsum_classes *classes, const dfl_search_limits *limits);

#endif
