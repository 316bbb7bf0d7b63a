/* Several einsums beside the joint search: fused groups, and the lower bound of all exchanges. */
#include <math.h>

#include "mapper/join/exchange_bound.h"
#include "mapper/join/fused_groups.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Share of the time that is left that a stage gets: what follows has its part, too. */
#define STAGE_SHARE 0.5

/* The limits of a stage: a share of the time that is left, and the evaluations that are left. */
static dfl_search_limits share_limits(const dfl_fill *fill, const dfl_search_summary *summary)
{
    dfl_search_limits limits = fill->limits;
    const double now = dfl_deadline_clock();

    if (limits.deadline > now)
        limits.deadline = now + (limits.deadline - now) * STAGE_SHARE;
    limits.evaluations = dfl_evaluations_left(limits.evaluations, summary->evaluated);
    return limits;
}

static bool has_gap(const dfl_search_summary *summary)
{
    return !(summary->value <= dfl_value_times(summary->lower_bound, 1 + DFL_SMALL_GAP));
}

void dfl_fill_take_better(dfl_fill *fill, const dfl_mapping *mapping, double value, const char *unproven, dfl_filled *out,
                          dfl_search_summary *summary)
{
    if (!(dfl_value_times(value, 1 + DFL_VALUE_TOLERANCE) < summary->value))
        return;
    out->mapping = dfl_fill_copy(fill->solver, mapping, out->given);
    summary->value = value;
    summary->optimal = false;
    if (value < summary->lower_bound) /* the bound is that of a space without this mapping */
        summary->lower_bound = NAN;
    summary->unproven = unproven;
}

/* Replaces the mapping by one of fused groups if that is better. */
static void try_groups(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                       dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    const dfl_search_limits limits = share_limits(fill, summary);
    dfl_arena *work = dfl_arena_new(solver->budget);
    const dfl_fused_result found = dfl_fused_groups(work, solver->names, within, objective, &limits);

    summary->evaluated += found.nodes;
    if (found.mapping)
        dfl_fill_take_better(fill, found.mapping, found.value,
                             "groups of einsums were mapped one by one: mappings that share other loops may be better", out,
                             summary);
    dfl_arena_free(work);
}

/* Whether evaluations are left. */
static bool may_go_on(const dfl_fill *fill, const dfl_search_summary *summary)
{
    return dfl_budget_ok(fill->solver->budget) && has_gap(summary) &&
           (fill->limits.evaluations == 0 || summary->evaluated < fill->limits.evaluations);
}

/* Raises the lower bound to that of all exchanges. */
static void raise_bound(dfl_fill *fill, const dfl_objective *objective, const dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    const dfl_search_limits limits = share_limits(fill, summary);
    const dfl_result *costs = dfl_fill_costs(fill, out->mapping);
    dfl_arena *work;
    dfl_exchange_result bound;

    if (!costs)
        return;
    work = dfl_arena_new(solver->budget);
    bound = dfl_exchange_bound(work, solver->names, out->given, objective, costs->joules, costs->seconds, &limits);
    dfl_arena_free(work);
    summary->evaluated += bound.programs;
    if (bound.value > 0 && !(summary->lower_bound >= bound.value))
        summary->lower_bound = bound.value;
}

void dfl_fill_improve_several(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                              dfl_search_summary *summary)
{
    if (may_go_on(fill, summary))
        try_groups(fill, objective, within, out, summary);
    if (may_go_on(fill, summary) && fill->space.extensions == 0 && within == out->given)
        raise_bound(fill, objective, out, summary);
}
