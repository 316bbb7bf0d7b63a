/* Mappings of which only tile sizes are open: the best filling, and the Pareto set of the fillings. */
#include <math.h>

#include "solve/search_options.h"
#include "solve/solve_internal.h"

const dfl_search_result *dfl_fill_search_sizes(const dfl_fill *fill, const dfl_objective *objective, dfl_search_mode mode,
                                               const dfl_mapping *given, dfl_search_summary *summary, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_search_request request = { .objective = objective, .mode = mode, .limits = dfl_search_options_tile_limits(fill->limits),
                                   .space = fill->space, .incumbent = fill->incumbent };
    const dfl_search_result *found;

    if (solver->options->endless && fill->limits.evaluations == 0)
        request.limits.evaluations = UINT64_MAX;
    found = dfl_fill_search(fill, solver->arena, given, &request);
    if (!dfl_fill_has_result(found))
        return NULL;
    *summary = dfl_fill_start_summary(fill, objective);
    summary->lower_bound = found->lower_bound;
    summary->optimal = found->status == DFL_SEARCH_OPTIMAL;
    summary->evaluated = found->evaluated;
    summary->pruned = found->pruned;
    summary->refused = found->refused;
    summary->space = found->space;
    summary->most_evaluations = request.limits.evaluations < UINT64_MAX ? request.limits.evaluations : 0;
    *stopped = found->stopped;
    if (*stopped == DFL_STOP_NONE && !summary->optimal && found->evaluated >= request.limits.evaluations)
        *stopped = DFL_STOP_EVALUATIONS;
    if (!summary->optimal)
        summary->unproven = dfl_proof_gaps_text(solver->arena, &fill->space, given, dfl_fill_stop(fill, *stopped), NULL,
                                               (dfl_proof_gaps){ .refused = found->refused });
    dfl_fill_note_stop(fill, summary, stopped);
    return found;
}

bool dfl_fill_tile_sizes(const dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    dfl_search_summary *summary = DFL_NEW(fill->solver->arena, dfl_search_summary);
    const dfl_search_result *found = dfl_fill_search_sizes(fill, objective, DFL_SEARCH_BEST, out->given, summary, stopped);

    if (found == NULL)
        return false;
    summary->value = found->value;
    dfl_filled_set(out, found->n > 0 ? found->at[0].mapping : NULL, NULL);
    out->search = summary;
    return true;
}

bool dfl_fill_front_sizes(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *given, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
    const dfl_search_result *found;
    uint32_t next = 1;

    fill->limits.gap = 0; /* `--gap` is that of one mapping */
    found = dfl_fill_search_sizes(fill, objective, DFL_SEARCH_FRONT, given, summary, stopped);
    if (found == NULL)
        return false;
    summary->value = found->at[0].terms[0];
    summary->objective = dfl_arena_printf(solver->arena, "pareto %s", given->front_text);
    summary->is_of_front = true;
    summary->space = dfl_arena_printf(solver->arena, "a Pareto set of %u; %s", found->n, found->space);
    for (uint32_t i = 0; i < found->n; i++)
        dfl_fill_add(solver, given, found->at[i].mapping, summary, &next);
    return true;
}
