#include "mapper/problem/evaluate.h"

#include <math.h>

const dfl_result *dfl_mapping_costs(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_sink *quiet = dfl_sink_quiet(arena);
    const dfl_paths *paths = dfl_paths_resolve(arena, quiet, names, m);

    return paths != NULL ? dfl_model_eval(arena, quiet, names, paths) : NULL;
}

double dfl_mapping_value(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m, const dfl_objective *o)
{
    dfl_arena *arena = dfl_arena_new(budget);
    const dfl_result *costs = dfl_mapping_costs(arena, names, m);
    const double value = costs != NULL && dfl_objective_met(o, costs, NULL)
                             ? dfl_objective_value(o, costs->joules, costs->seconds) : INFINITY;

    dfl_arena_free(arena);
    return value;
}

bool dfl_mapping_divides(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_arena *arena = dfl_arena_new(budget);
    dfl_sink *quiet = dfl_sink_quiet(arena);
    const dfl_paths *paths;
    bool divides;

    paths = dfl_paths_resolve(arena, quiet, names, m);
    divides = paths != NULL;
    for (uint32_t e = 0; divides && e < paths->mapping->workload->n_einsums; e++)
        for (uint32_t i = 0; i < paths->paths[e].n_steps; i++) {
            const dfl_path_step *step = &paths->paths[e].steps[i];
            divides &= step->line->kind == DFL_LINE_KEEP || step->rank == DFL_NONE || step->nominal % step->tile == 0;
        }
    dfl_arena_free(arena);
    return divides;
}
