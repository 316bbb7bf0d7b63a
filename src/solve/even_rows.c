/* Mappings for systems whose memories in arrays move rows. The model refuses a mapping whose instances move unequal numbers of
   elements, and a search may find one. Then two others follow: over tiles that divide, and on one instance of each array. */
#include <math.h>
#include <string.h>

#include "solve/solve_internal.h"
#include "support/deadline.h"

bool dfl_fill_has_rows_inside(const dfl_system *s)
{
    for (uint32_t m = 0; m < s->n_memories; m++)
        if (s->memories[m].access_bits != 0 && dfl_memory_is_in_array(s, m))
            return true;
    return false;
}

/* A copy of a mapping with open lines, on a system with one instance of each array. */
static const dfl_mapping *take_one_instance(dfl_arena *arena, const dfl_mapping *given)
{
    dfl_mapping *out = dfl_mapping_copy(arena, given);
    dfl_system *s = DFL_NEW(arena, dfl_system);
    dfl_axis *axes = DFL_NEW_ARRAY(arena, dfl_axis, (size_t)given->system->n_axes + 1);

    *s = *given->system;
    memcpy(axes, s->axes, s->n_axes * sizeof *axes);
    for (uint32_t a = 0; a < s->n_axes; a++)
        axes[a].size = 1;
    s->axes = axes;
    out->system = s;
    return out;
}

bool dfl_fill_evenly(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_search_summary *best = NULL;

    for (uint32_t way = 0; way < 2 && dfl_budget_ok(solver->budget); way++) {
        dfl_fill again = *fill;
        dfl_filled other = { .given = way == 0 ? out->given : take_one_instance(solver->arena, out->given) };
        const dfl_mapping *m;
        const dfl_result *costs;
        double value;

        again.sink = dfl_sink_quiet(solver->arena); /* a search that finds no mapping is no error */
        again.space = (dfl_search_space){ .perfect = true, .max_shared_loops = fill->space.max_shared_loops };
        again.limits.gap = 0; /* which is one of the whole space */
        if (!search(&again, objective, &other, stopped) || other.mapping == NULL)
            continue;
        m = dfl_fill_copy(solver, other.mapping, out->given);
        costs = dfl_fill_costs(&again, m);
        value = costs != NULL && dfl_objective_met(objective, costs, NULL)
                ? dfl_objective_value(objective, costs->joules, costs->seconds) : INFINITY;
        if (isinf(value) || (best != NULL && !(value < best->value)))
            continue;
        best = DFL_NEW(solver->arena, dfl_search_summary);
        *best = *other.search;
        best->value = value;
        best->lower_bound = NAN;
        best->optimal = false;
        best->unproven = way == 0
            ? "of mappings whose instances move unequal numbers of elements the rows are not counted: they were left out"
            : "of mappings whose instances move unequal numbers of elements the rows are not counted: only mappings on one "
              "instance of each array were searched, and small changes of them";
        dfl_filled_set(out, m, costs);
        out->search = best;
    }
    if (best == NULL)
        return false;
    dfl_fill_raise_floor(fill, objective, out, best);
    dfl_fill_try_climb(fill, objective, 1, UINT32_MAX, out, best);
    return true;
}
