#include "mapper/problem/evaluate.h"

#include <math.h>

#include "model/model.h"

double dfl_mapping_value(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m, const dfl_objective *o)
{
    dfl_arena *arena = dfl_arena_new(budget);
    dfl_sink *quiet = dfl_sink_new(arena, NULL);
    const dfl_paths *paths;
    const dfl_result *costs;
    double value;

    dfl_sink_limit(quiet, 0);
    paths = dfl_paths_resolve(arena, quiet, names, m);
    costs = paths ? dfl_model_eval(arena, quiet, names, paths) : NULL;
    value = costs && dfl_objective_met(o, costs, NULL) ? dfl_objective_value(o, costs->joules, costs->seconds)
                                                       : INFINITY;
    dfl_arena_free(arena);
    return value;
}

bool dfl_mapping_divides(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_arena *arena = dfl_arena_new(budget);
    dfl_sink *quiet = dfl_sink_new(arena, NULL);
    const dfl_paths *paths;
    bool divides;

    dfl_sink_limit(quiet, 0);
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
