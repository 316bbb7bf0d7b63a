/*
 * Groups for a mapping of several einsums. Runs of einsums that stand alone in the mapping share loops, and exchange what is
 * between them in an inner memory there; what they exchange with others stays where the mapping has it. Each einsum is searched
 * among the skeletons with the least bounds of its exchange pattern (pattern_bound.h), in the room that is left. Runs that cost
 * less by a line of energy and time, and by the model, take the place of their einsums. Nothing is proven.
 */
#ifndef DFL_MAPPER_JOIN_REGROUP_H
#define DFL_MAPPER_JOIN_REGROUP_H

#include "mapper/join/fused_groups.h"

/* `from` is the mapping, with its joules and seconds; `mapping` is the one that is searched, with all lines open; `classes` are
   those of dfl_exchange_list. The result lies in `arena`; it has no mapping if `from` is not made better. */
dfl_fused_result dfl_regroup(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_mapping *from,
                             const dfl_objective *objective, double joules, double seconds, const dfl_einsum_classes *classes,
                             const dfl_search_limits *limits);

#endif
