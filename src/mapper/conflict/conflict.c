#include "mapper/conflict/conflict.h"

#include "ir/mapping_open.h"
#include "mapper/conflict/conflict_internal.h"
#include "mapper/problem/einsum_problem.h"

void dfl_conflict_explain(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                          const dfl_search_request *request, const dfl_search_result *result)
{
    if (result->amounts != NULL)
        dfl_conflict_sizes(arena, sink, names, mapping, request, result->amounts);
    else if (dfl_space_overstates(mapping->workload))
        dfl_conflict_set_unknown(sink, names, mapping);
    else if (!dfl_mapping_all_lines_open(mapping))
        dfl_conflict_lines(sink, names, mapping, request, dfl_arena_budget(arena));
    else
        dfl_conflict_set_find(sink, names, mapping, request, dfl_arena_budget(arena));
}
