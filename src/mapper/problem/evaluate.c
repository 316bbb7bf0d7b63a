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
