#include "solve/solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/fan_out.h"
#include "ir/path/unit_choice.h"
#include "ir/print_check.h"
#include "mapper/conflict/conflict.h"
#include "mapper/problem/limits.h"
#include "report/check/check.h"
#include "solve/certificate.h"
#include "solve/homes.h"
#include "solve/one_by_one.h"
#include "solve/search_options.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Whether a search exists for the holes and the objective of a mapping; false after reporting. */
static bool check_searched(const dfl_fill *fill, const dfl_mapping *m)
{
    if (!dfl_mapping_check_axes(fill->sink, fill->solver->names, m) ||
        !dfl_mapping_check_units(fill->sink, fill->solver->names, m))
        return false;
    if (m->n_decisions > 0)
        return dfl_fill_refuse(fill, m->decisions[0].span, "no search decides this in", "decided only in a plan over chips",
                      "write the tensors that are recomputed, the schedule, the memories and the parts of homes");
    if (m->workload->n_carries > 0 && dfl_mapping_lines_are_written(m))
        return dfl_fill_refuse(fill, m->hole_span, "no search fills the amounts of",
                               "a `repeat` of the workload carries a tensor",
                               "write the amounts and the choices in place of `?`, or search for one iteration as a workload "
                               "of its own");
    if (m->workload->n_carries > 0 && (!dfl_mapping_all_lines_open(m) || m->root->n_lines > 0))
        return dfl_fill_refuse(fill, m->hole_span, "no search completes the lines of",
                               "a `repeat` of the workload carries a tensor, and some lines are written",
                               "leave all lines open, `{ ...; }`, or write all of them");
    if (m->n_front > 0 && !dfl_mapping_lines_are_written(m) &&
        dfl_system_without_rows(fill->solver->arena, m->system) != m->system)
        return dfl_fill_refuse_front(fill, "a memory of the system has `access`, and the search counts elements, not rows",
                            "use `minimize`, or leave `access` out");
    if (m->n_front > 0 && m->n_choices > 0 && !dfl_mapping_lines_are_written(m))
        return dfl_fill_refuse_front(fill, "no Pareto set is searched with structural choices beside open lines",
                            "replace `?` by tensors or ranks, or use `minimize`");
    if (m->n_front > 0 && m->n_minimize > 0)
        return dfl_fill_refuse_front(fill, "`minimize` is here", "remove `minimize` or `pareto`");
    return m->n_choices > 0 || dfl_mapper_check(fill->sink, fill->solver->names, m);
}

/* ---- figures of a mapping that was evaluated ---- */

/* The value of an expression over the figures of an evaluated mapping; has the type dfl_figure_of. The first lookup reports
   nothing; after a failure a second lookup reports the reason. */
static bool look_up_figure(void *context, const dfl_result *result, const dfl_val *expr, double *out)
{
    dfl_fill *fill = context;
    dfl_sink *quiet = fill->one.sink;
    size_t reports = dfl_sink_errors(fill->sink);

    fill->item.result = result;
    if (dfl_check_number(&fill->one, fill->item.mapping->name, expr, out))
        return true;
    fill->one.sink = fill->sink;
    (void)dfl_check_number(&fill->one, fill->item.mapping->name, expr, out);
    fill->one.sink = quiet;
    if (dfl_sink_errors(fill->sink) == reports)
        dfl_report(fill->sink, DFL_EVAL_OBJECTIVE, expr->span, "an objective uses figures of the mapping itself");
    return false;
}

/* Whether an evaluated mapping meets a requirement of the file; has the type dfl_meets. */
static bool meets_requirement(void *context, uint32_t requirement, const dfl_result *result)
{
    dfl_fill *fill = context;

    fill->item.result = result;
    return !dfl_check_is_violated(&fill->one, fill->required.at[requirement]);
}

/* ---- searches ---- */

/* Searches for the best mapping in a temporary arena and copies the result to `*found`, `*summary` and `out->mapping`. Returns
   the costs of this mapping by the model; NULL after reporting. */
static const dfl_result *search_lines(const dfl_fill *fill, const dfl_mapping *within, const dfl_search_request *request,
                                      dfl_filled *out, dfl_search_summary *summary, dfl_search_result *found)
{
    const dfl_solver *solver = fill->solver;
    dfl_arena *work = dfl_arena_new(solver->budget);
    const dfl_search_result *r = dfl_fill_search(fill, work, within, request);
    const bool is_found = dfl_fill_has_result(r);

    *found = *r;
    if (is_found) {
        dfl_filled_set(out, dfl_fill_copy(solver, r->at[0].mapping, out->given), NULL);
        *summary = dfl_fill_start_summary(fill, request->objective);
        summary->lower_bound = r->lower_bound;
        summary->optimal = r->status == DFL_SEARCH_OPTIMAL;
        summary->evaluated = r->evaluated;
        summary->pruned = r->pruned;
        summary->space = dfl_arena_copy(solver->arena, r->space, strlen(r->space));
        summary->max_fused = solver->options->max_fused;
        if (r->certificate)
            found->certificate = dfl_arena_copy(solver->arena, r->certificate, strlen(r->certificate));
    }
    dfl_arena_free(work);
    if (is_found)
        out->costs = dfl_fill_costs(fill, out->mapping);
    return is_found ? out->costs : NULL;
}

/* Latency of a mapping if no transfer stalls the work: that of the mapping with `option overlap = perfect;`. */
static double seconds_without_stalls(dfl_fill *fill, const dfl_mapping *mapping)
{
    dfl_mapping *perfect = DFL_NEW(fill->solver->arena, dfl_mapping);
    const dfl_result *costs;

    *perfect = *mapping;
    perfect->options.overlap_perfect = true;
    costs = dfl_fill_costs(fill, perfect);
    return costs ? costs->seconds : 0;
}

/* Whether stalls, and whether anything else, make the mapping cost more than `counted`. */
static void find_uncounted(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *mapping, const dfl_result *costs,
                           double counted, bool *has_stalls, bool *has_uncounted)
{
    const double most = dfl_value_times(counted, 1 + DFL_VALUE_TOLERANCE);
    double without;

    if (!(dfl_objective_value(objective, costs->joules, costs->seconds) > most))
        return;
    without = seconds_without_stalls(fill, mapping);
    *has_stalls = without < costs->seconds * (1 - DFL_VALUE_TOLERANCE);
    *has_uncounted = dfl_objective_value(objective, costs->joules, without) > most;
}

/* Finds why the mapping costs more than the search counted for it, and why more than the lower bound. Without a part of the time
   in the objective only rounding leaves it above the bound. */
static void find_gaps(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *mapping, const dfl_result *costs,
                      double counted_seconds, double lower_bound, dfl_proof_gaps *out)
{
    const double value = dfl_objective_value(objective, costs->joules, costs->seconds);
    const bool has_time = dfl_objective_value(objective, costs->joules, 2 * costs->seconds) > value;

    find_uncounted(fill, objective, mapping, costs, dfl_objective_value(objective, costs->joules, counted_seconds),
                   &out->has_stalls, &out->has_uncounted);
    if (has_time && !out->has_stalls && !out->has_uncounted)
        find_uncounted(fill, objective, mapping, costs, lower_bound, &out->has_stalls_above, &out->has_others_above);
}

/* Whether a mapping is also searched einsum by einsum: several einsums, all lines open, one term, and no certificate, which
   is that of the joint search. */
static bool has_several(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *given)
{
    return given->workload->n_einsums > 1 && dfl_mapping_all_lines_open(given) && given->root->n_lines == 0 &&
           objective->n_terms <= 1 && !fill->certificate;
}

/* Whether the search was interrupted, or its time is over by so much that nothing should follow which can be left out. */
static bool is_late(const dfl_fill *fill, dfl_stop stopped)
{
    return stopped == DFL_STOP_CANCELLED ||
           (stopped == DFL_STOP_TIME && dfl_budget_time(fill->solver->budget) > fill->limits.deadline + DFL_GRACE_LEAST_SECONDS);
}

/* Whether the bound of an einsum alone can be raised after its search (dfl_fill_raise_alone). */
static bool is_alone(const dfl_fill *fill, const dfl_mapping *given)
{
    return given->workload->n_einsums == 1 && given->workload->n_carries == 0 && dfl_mapping_all_lines_open(given) &&
           fill->space.extensions == 0 && !fill->is_part && !fill->certificate;
}

static dfl_fill_open fill_lines_once;

/* Finds a first mapping of several einsums under a limit on time, before all other searches, unless only dividing tiles are asked
   for: it has any. False if there is none. */
static bool find_first(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary)
{
    *summary = dfl_fill_start_summary(fill, objective);
    summary->lower_bound = NAN;
    summary->space = "lines of each einsum alone; each intermediate at home in one memory outside of arrays";
    return fill->limits.deadline > 0 && !fill->solver->budget->work && !fill->space.perfect &&
           dfl_fill_first(fill, objective, out, summary);
}

/* Climbs from the first mapping. */
static void climb_first(dfl_fill *fill, const dfl_objective *objective, dfl_filled *first, dfl_search_summary *summary)
{
    const double left = fill->limits.deadline - dfl_budget_time(fill->solver->budget);
    const double share = left < DFL_CLIMB_SHORT ? DFL_CLIMB_FIRST_SHORT : left < DFL_CLIMB_MEDIUM ? DFL_CLIMB_FIRST_MEDIUM
                                                                                                 : DFL_CLIMB_FIRST;

    if (first->given->workload->n_einsums <= DFL_CLIMB_FIRST_EINSUMS)
        dfl_fill_try_climb(fill, objective, share, UINT32_MAX, first, summary);
}

/* Whether a search goes beyond the space of `--tiles perfect` under a limit on time: it begins with the best of that space, which
   it would else find late or not at all. */
static bool is_wide(const dfl_fill *fill)
{
    return fill->limits.deadline > 0 && !fill->solver->budget->work && !fill->is_part &&
           (fill->space.imperfect || fill->space.any_spread || fill->space.extensions != 0);
}

/* Goes on with the first mapping after the joint search used up its share of the time or of the steps, or its evaluations, or was
   interrupted, and found nothing. `why` ended the joint search. */
static bool go_on_after_stop(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                             dfl_search_summary *summary, dfl_stop *stopped, dfl_stop why)
{
    dfl_budget *budget = fill->solver->budget;

    if (why != DFL_STOP_TIME && why != DFL_STOP_STEPS && why != DFL_STOP_EVALUATIONS && why != DFL_STOP_CANCELLED)
        return false;
    if (budget->why == why && why != DFL_STOP_CANCELLED)
        budget->why = DFL_STOP_NONE;
    *stopped = why;
    if (summary->unproven == NULL)
        summary->unproven = dfl_proof_gaps_one_by_one(fill->solver->arena, out->given->workload, NULL,
                                                      dfl_fill_stop(fill, why));
    out->search = summary;
    if (why != DFL_STOP_CANCELLED) {
        dfl_fill_improve_several(fill, objective, within, fill_lines_once, out, summary, stopped);
        dfl_fill_improve_one_by_one(fill, objective, out, summary, stopped);
    }
    *stopped = why;
    dfl_fill_note_stop(fill, summary, stopped);
    return true;
}

/* Fills a mapping einsum by einsum after the joint search used up its share of the time or of the steps, or its evaluations, or
   was interrupted, and found nothing. `why` ended the joint search. After an interrupt the first lines of each einsum remain. */
static bool fill_after_stop(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped, dfl_stop why)
{
    dfl_budget *budget = fill->solver->budget;

    if (why != DFL_STOP_TIME && why != DFL_STOP_STEPS && why != DFL_STOP_EVALUATIONS && why != DFL_STOP_CANCELLED)
        return false;
    if (budget->why == why && why != DFL_STOP_CANCELLED)
        budget->why = DFL_STOP_NONE;
    if (!dfl_fill_one_by_one(fill, objective, out, stopped)) {
        dfl_budget_stop(budget, why);
        return false;
    }
    *stopped = why;
    return true;
}

/* Raises the lower bound of several einsums to their floor, which holds for all mappings but pipelines. A result that reaches it
   is proven, whatever ended the search. */
static void raise_floor(const dfl_fill *fill, const dfl_objective *objective, const dfl_filled *out,
                        dfl_search_summary *summary, dfl_stop *stopped)
{
    if (summary->optimal || !has_several(fill, objective, out->given) || (fill->space.extensions & DFL_SEARCH_PIPELINE) ||
        *stopped == DFL_STOP_CANCELLED)
        return;
    dfl_fill_raise_floor(fill, objective, out, summary);
    if (summary->optimal)
        *stopped = DFL_STOP_NONE;
}

/* Ends the search where the result is as close to the lower bound as `--gap` asks, also where a limit came first: the search has
   what was asked for. */
static void stop_if_close(const dfl_fill *fill, const dfl_objective *objective, dfl_search_summary *summary, dfl_stop *stopped)
{
    if (summary->optimal || objective->n_terms > 1 || *stopped == DFL_STOP_CANCELLED ||
        !dfl_gap_reached(&fill->limits, summary->value, summary->lower_bound))
        return;
    *stopped = DFL_STOP_GAP;
    summary->unproven = dfl_proof_gaps_after_stop(fill->solver->arena, NULL, DFL_STOP_GAP, false);
}

/* Fills a mapping without the joint search, which does not support it: takes the first mapping, or else maps the einsums one by
   one; then tries fused groups and bounds all exchanges. `first`: NULL = there is no first mapping yet. */
static bool fill_refused(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                         const dfl_mapping *first, dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_filled found = { .given = out->given };
    const bool is_first = first != NULL || (!fill->space.perfect && dfl_fill_first(fill, objective, &found, summary));

    if (is_first)
        dfl_filled_set(out, first != NULL ? first : found.mapping, NULL);
    else if (!dfl_fill_one_by_one(fill, objective, out, stopped))
        return false;
    else
        *summary = *out->search;
    summary->unproven = dfl_proof_gaps_one_by_one(fill->solver->arena, out->given->workload, NULL,
                                                  dfl_fill_stop(fill, *stopped));
    out->search = summary;
    dfl_fill_raise_floor(fill, objective, out, summary);
    if (is_first && *stopped != DFL_STOP_CANCELLED) {
        dfl_fill_improve_several(fill, objective, within, fill_lines_once, out, summary, stopped);
        dfl_fill_improve_one_by_one(fill, objective, out, summary, stopped);
        raise_floor(fill, objective, out, summary, stopped);
    }
    if (*stopped == DFL_STOP_NONE && !summary->optimal && fill->limits.evaluations > 0 &&
        summary->evaluated >= fill->limits.evaluations)
        *stopped = DFL_STOP_EVALUATIONS;
    dfl_fill_note_stop(fill, summary, stopped);
    return true;
}

/* Withdraws the reports with `code` from number `first` on. True if there were reports, all of them with this code. */
static bool withdraw_reports(const dfl_fill *fill, size_t first, dfl_code code)
{
    if (dfl_sink_count(fill->sink) == first)
        return false;
    dfl_sink_withdraw(fill->sink, first, code);
    return dfl_sink_count(fill->sink) == first;
}

/* Seconds in which most einsums of a network find good lines, one by one, and the largest share of a limit that they get: of one
   second, a layer that is searched as a whole needs 0.3 (BERT-large on a100_80g and h100; 0.3 leaves Llama 3 8B 8 % worse). */
static const double ALONE_SECONDS = 0.6, ALONE_MOST = 0.5;
/* The same with conditions: lines whose evaluation is short. Better ones come from the search without the conditions. */
static const double ALONE_SHARE_WHERE = 0.1;

/* The share of the time that is left for the search einsum by einsum. */
static double alone_share(const dfl_fill *fill)
{
    const double left = fill->limits.deadline - dfl_budget_time(fill->solver->budget);

    return left > 0 ? fmax(DFL_APART_ALONE_SHARE, fmin(ALONE_SECONDS / left, ALONE_MOST)) : DFL_APART_ALONE_SHARE;
}

/* Fills a mapping whose einsums are not all known to the joint search: one by one, then neighbours together, then by changes of
   lines, whose costs the model says. */
static bool fill_apart(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                       dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_budget *budget = fill->solver->budget;
    const dfl_search_limits given = fill->limits;
    const bool is_brief = given.deadline > 0 && dfl_fill_has_conditions(out->given->workload);
    const size_t reports = dfl_sink_count(fill->sink);
    bool is_found;

    fill->limits = dfl_fill_share_limits(fill, is_brief ? ALONE_SHARE_WHERE : alone_share(fill));
    if (given.evaluations > 0)
        fill->limits.evaluations = (uint64_t)((double)given.evaluations * DFL_APART_ALONE_SHARE) + 1;
    fill->judged_until = is_brief ? 0 : given.deadline;
    is_found = dfl_fill_one_by_one(fill, objective, out, stopped);
    fill->judged_until = 0;
    fill->limits = given;
    if (!is_found && dfl_budget_ok(budget) && withdraw_reports(fill, reports, DFL_MAP_CAPACITY))
        is_found = dfl_fill_whole(fill, objective, fill_lines_once, out, stopped);
    if (!is_found)
        return false;
    if ((*stopped == DFL_STOP_TIME && dfl_budget_time(budget) < given.deadline) ||
        (*stopped == DFL_STOP_EVALUATIONS && out->search->evaluated < given.evaluations))
        *stopped = DFL_STOP_NONE;
    *summary = *out->search;
    out->search = summary;
    if (*stopped != DFL_STOP_NONE || !dfl_budget_ok(budget))
        return true;
    dfl_fill_raise_floor(fill, objective, out, summary);
    dfl_fill_improve_apart(fill, objective, within, fill_lines_once, out, summary, stopped);
    raise_floor(fill, objective, out, summary, stopped);
    if (*stopped == DFL_STOP_NONE && !summary->optimal && given.evaluations > 0 && summary->evaluated >= given.evaluations)
        *stopped = DFL_STOP_EVALUATIONS;
    dfl_fill_note_stop(fill, summary, stopped);
    return true;
}

/* A joint search of several einsums, which may take 7/8 of the steps; the rest is left for a search einsum by einsum.
   `*why` is the limit that ended it. */
static const dfl_result *search_jointly(const dfl_fill *fill, const dfl_mapping *within, const dfl_search_request *request,
                                        dfl_filled *out, dfl_search_summary *summary, dfl_search_result *found, dfl_stop *why)
{
    dfl_budget *budget = fill->solver->budget;
    const uint64_t limit = budget->steps_limit;
    const dfl_result *costs;

    if (limit > budget->steps_used)
        budget->steps_limit = limit - (limit - budget->steps_used) / 8;
    costs = search_lines(fill, within, request, out, summary, found);
    budget->steps_limit = limit;
    *why = budget->why;
    if (budget->why == DFL_STOP_STEPS && (limit == 0 || budget->steps_used < limit))
        budget->why = DFL_STOP_NONE;
    return costs;
}

/* Fills open lines and evaluates the mapping found by the model. The gap is the difference between this value and the lower
   bound of the search. */
static bool fill_lines_once(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    const bool is_several = has_several(fill, objective, out->given) && !fill->is_last;
    const bool is_apart = dfl_one_by_one_applies(fill, out->given);
    const dfl_search_request request = { .objective = objective,
                                         .limits = is_several ? dfl_fill_share_limits(fill, DFL_JOINT_SHARE)
                                                   : is_alone(fill, out->given) ? dfl_fill_share_limits(fill, DFL_ALONE_SHARE)
                                                                                : fill->limits,
                                         .space = fill->space,
                                         .certificate = fill->certificate && !fill->space.imperfect &&
                                                        fill->space.extensions == 0 &&
                                                        fill->space.max_shared_loops == DFL_NONE && objective->rooms == NULL };
    const dfl_mapping *within = dfl_required_within(solver->arena, out->given, objective->rooms);
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary), *early = DFL_NEW(solver->arena, dfl_search_summary);
    dfl_filled first = { .given = out->given };
    dfl_search_result found;
    const dfl_result *costs;
    dfl_proof_gaps gaps = { .has_requirement = fill->has_requirement };
    dfl_stop why = DFL_STOP_NONE;
    bool is_met, is_equal, has_first;
    size_t reports;

    if (!objective->native)
        return dfl_fill_refuse_figure(fill, objective, out->given);
    if (is_several && (!dfl_check_room(fill, out->given) || !dfl_check_homes(fill, out->given)))
        return false;
    if (is_apart && (out->given->workload->n_einsums != 1 || out->given->workload->n_carries > 0))
        return is_several ? fill_apart(fill, objective, within, out, early, stopped)
                          : dfl_fill_one_by_one(fill, objective, out, stopped);
    has_first = is_several && find_first(fill, objective, &first, early);
    if (has_first && !fill->is_part)
        climb_first(fill, objective, &first, early);
    if (is_several && is_wide(fill) && dfl_fill_start_narrow(fill, objective, fill_lines_once, &first, early))
        has_first = true;
    reports = dfl_sink_count(fill->sink);
    costs = is_several ? search_jointly(fill, within, &request, out, summary, &found, &why)
                       : search_lines(fill, within, &request, out, summary, &found);
    if (dfl_fill_has_result(&found))
        *stopped = found.stopped;
    if (!costs && is_apart && found.status == DFL_SEARCH_REPORTED && withdraw_reports(fill, reports, DFL_EVAL_UNSUPPORTED))
        return dfl_fill_one_by_one(fill, objective, out, stopped);
    if (!costs && is_several && found.status == DFL_SEARCH_REPORTED && withdraw_reports(fill, reports, DFL_EVAL_UNSUPPORTED))
        return fill_refused(fill, objective, within, out, has_first ? first.mapping : NULL, early, stopped);
    if (!costs && has_first && found.status == DFL_SEARCH_REPORTED) {
        dfl_filled_set(out, first.mapping, first.costs);
        return go_on_after_stop(fill, objective, within, out, early, stopped, why);
    }
    if (!costs)
        return is_several && found.status == DFL_SEARCH_REPORTED && fill_after_stop(fill, objective, out, stopped, why);
    is_met = dfl_objective_met(objective, costs, NULL);
    if ((*stopped == DFL_STOP_GAP && !is_met) || (*stopped == DFL_STOP_NONE && (!is_met || objective->n_terms > 1))) {
        is_met |= dfl_fill_choose(fill, within, &request, is_met ? costs : NULL, out, summary, stopped);
        if (out->costs == NULL)
            out->costs = dfl_fill_costs(fill, out->mapping);
        costs = out->costs;
    }
    if (!is_met || !costs) {
        dfl_fill_report_violated(fill, out, within, &request, *stopped);
        return false;
    }
    summary->value = dfl_objective_value(objective, costs->joules, costs->seconds);
    summary->optimal &= summary->value <= dfl_value_times(summary->lower_bound, 1 + DFL_VALUE_TOLERANCE);
    dfl_fill_fit_bound(summary);
    if (isnan(summary->lower_bound)) /* the model counts less than the search, so the search has no valid bound */
        summary->optimal = false;
    is_equal = summary->value <= dfl_value_times(summary->lower_bound, 1 + DFL_VALUE_TOLERANCE);
    gaps.has_open_terms = is_equal && objective->n_terms > 1;
    gaps.is_above = !is_equal && objective->native && summary->value - summary->lower_bound >
                    DFL_VALUE_TOLERANCE * (fabs(summary->value) + fabs(dfl_objective_value(objective, 0, 0)));
    if (!summary->optimal && !is_equal && !is_late(fill, *stopped))
        find_gaps(fill, objective, out->mapping, costs, found.counted_seconds, summary->lower_bound, &gaps);
    if (!summary->optimal)
        summary->unproven = dfl_proof_gaps_text(solver->arena, &fill->space, out->given, dfl_fill_stop(fill, *stopped), &found,
                                                gaps);
    out->search = summary;
    summary->evaluated += early->evaluated;
    raise_floor(fill, objective, out, summary, stopped);
    if (has_first)
        dfl_fill_take_better(fill, first.mapping, early->value, early->unproven != NULL ? early->unproven :
                             "the einsums were mapped one by one: mappings that fuse them may be better", out, summary);
    if (is_several && (fill->space.extensions & DFL_SEARCH_KEEP) && !fill->is_part && *stopped == DFL_STOP_NONE &&
        dfl_budget_ok(solver->budget) && summary->value > dfl_value_times(summary->lower_bound, 1 + DFL_VALUE_TOLERANCE))
        dfl_fill_try_climb(fill, objective, DFL_CLIMB_REST, UINT32_MAX, out, summary);
    if (is_several && summary->optimal && *stopped == DFL_STOP_NONE && !fill->space.perfect &&
        fill->space.max_shared_loops == DFL_NONE && within == out->given)
        dfl_fill_try_ragged(fill, objective, within, out, summary);
    if (is_several && summary->optimal && *stopped == DFL_STOP_NONE && fill->space.extensions == 0)
        dfl_fill_try_climb(fill, objective, DFL_CLIMB_SHARE, 0, out, summary);
    if (is_several)
        stop_if_close(fill, objective, summary, stopped);
    if (is_several && !summary->optimal && *stopped != DFL_STOP_GAP && *stopped != DFL_STOP_CANCELLED) {
        dfl_fill_improve_several(fill, objective, within, fill_lines_once, out, summary, stopped);
        stop_if_close(fill, objective, summary, stopped);
    }
    if (is_several && !summary->optimal && *stopped != DFL_STOP_GAP &&
        !(summary->value <= dfl_value_times(summary->lower_bound, 1 + DFL_SMALL_GAP)))
        dfl_fill_improve_one_by_one(fill, objective, out, summary, stopped);
    if (is_alone(fill, out->given) && within == out->given && !summary->optimal && *stopped != DFL_STOP_GAP &&
        *stopped != DFL_STOP_CANCELLED) {
        dfl_fill_raise_alone(fill, objective, out, summary);
        if (summary->optimal)
            *stopped = DFL_STOP_NONE;
    }
    raise_floor(fill, objective, out, summary, stopped);
    if (*stopped != DFL_STOP_NONE)
        stop_if_close(fill, objective, summary, stopped);
    dfl_fill_note_stop(fill, summary, stopped);
    dfl_certificate_add(solver, out, objective, &found, costs);
    return true;
}

/* Searches all einsums together in the time that is left, and takes what is better: the mapping, the lower bound. */
static void fill_rest(const dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_fill rest = *fill;
    dfl_filled other = { .given = out->given };
    dfl_search_summary *best;
    dfl_stop why = DFL_STOP_NONE;
    double bound;
    bool is_better;

    rest.sink = dfl_sink_quiet(solver->arena); /* a search without a mapping is no error */
    rest.limits.evaluations = dfl_evaluations_left(fill->limits.evaluations, out->search->evaluated);
    rest.is_last = true;
    if (!fill_lines_once(&rest, objective, &other, &why)) {
        if (solver->budget->why == DFL_STOP_TIME)
            solver->budget->why = DFL_STOP_NONE;
        return;
    }
    best = DFL_NEW(solver->arena, dfl_search_summary);
    bound = fmax(out->search->lower_bound, other.search->lower_bound);
    is_better = other.search->value < out->search->value || /* a proof over tiles that divide may be above another mapping */
                (other.search->optimal && other.search->value <= dfl_value_times(out->search->value, 1 + DFL_VALUE_TOLERANCE));
    *best = is_better ? *other.search : *out->search;
    best->evaluated = out->search->evaluated + other.search->evaluated;
    best->pruned = out->search->pruned + other.search->pruned;
    if (bound <= best->value)
        best->lower_bound = bound;
    if (is_better)
        dfl_filled_set(out, other.mapping, other.costs);
    best->stopped = other.search->stopped;
    out->search = best;
    *stopped = why;
}

/* Fills open lines. Under a limit on time several einsums are first searched together for a share of it, then one by one. If
   more than that share is left, another search of all together comes further than the first. */
static bool fill_lines(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_budget *budget = fill->solver->budget;
    const double start = dfl_budget_time(budget), whole = fill->limits.deadline;
    const bool has_rows = dfl_fill_has_rows_inside(out->given->system);
    const size_t reports = dfl_sink_count(fill->sink);
    bool is_found;

    if (has_rows && whole > start)
        fill->limits.deadline = start + (whole - start) * DFL_ROWS_SHARE;
    is_found = fill_lines_once(fill, objective, out, stopped);
    fill->limits.deadline = whole;
    if (!is_found && has_rows && dfl_sink_count(fill->sink) > reports && dfl_sink_last(fill->sink) == DFL_EVAL_UNSUPPORTED &&
        dfl_fill_evenly(fill, objective, fill_lines_once, out, stopped)) {
        dfl_sink_withdraw(fill->sink, reports, DFL_EVAL_UNSUPPORTED);
        is_found = true;
    }
    if (is_found && *stopped == DFL_STOP_TIME && has_several(fill, objective, out->given) &&
        whole - dfl_budget_time(budget) > (whole - start) * DFL_REST_LEAST && !dfl_one_by_one_applies(fill, out->given))
        fill_rest(fill, objective, out, stopped);
    return is_found;
}

/* ---- progress ---- */

/* The phase of a progress report: "choice 17 of 512, 40 s left, search" during a search over structural choices, "work of 40 s"
   where the limit is one of work; else `phase` alone. */
static const char *phase_text(const dfl_fill *fill, const char *phase, char *text, size_t room)
{
    const dfl_budget *budget = fill->solver->budget;
    const double now = dfl_budget_time(budget), used = now - fill->choices_start;
    double left;

    if (fill->n_choices == 0)
        return phase;
    if (fill->choice == 0) {
        snprintf(text, room, "choice 1 of %u, %s", fill->n_choices, phase);
        return text;
    }
    left = used / fill->choice * (fill->n_choices - fill->choice);
    if (fill->limits.deadline > 0) /* all choices together end then */
        left = fmin(left, fmax(0, fill->limits.deadline - now));
    snprintf(text, room, budget->work ? "choice %u of %u, work of %.0f s left, %s" : "choice %u of %u, %.0f s left, %s",
             fill->choice + 1, fill->n_choices, left, phase);
    return text;
}

/* Passes a progress report to the callback of the search options; has the type dfl_progress_show. */
static void show_progress(void *context, const dfl_progress_state *now)
{
    dfl_fill *fill = context;
    const dfl_search_options *options = fill->solver->options;
    char phase[100];
    const dfl_progress p = { .mapping = dfl_sym_text(fill->solver->names, fill->item.mapping->name),
                             .evaluated = now->evaluated, .phase = phase_text(fill, now->phase, phase, sizeof phase),
                             .best = now->best, .bound = now->bound };

    fill->was_progress_shown = true;
    options->progress(options->progress_context, &p);
}

/* ---- all of it ---- */

/* Fills a mapping without structural choices; has the type dfl_fill_open. */
static bool fill_open(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    if (!check_searched(fill, out->given))
        return false;
    return dfl_mapping_lines_are_written(out->given) ? dfl_fill_tile_sizes(fill, objective, out, stopped)
                                                     : fill_lines(fill, objective, out, stopped);
}

/* Reads the objective of a mapping, or the terms of its `pareto` statement. False after reporting. */
static bool read_objective(const dfl_fill *fill, const dfl_mapping *m, dfl_objective *objective)
{
    dfl_mapping compared = *m;

    if (m->n_front > 0) {
        compared.minimize = m->front;
        compared.n_minimize = m->n_front;
    }
    return dfl_objective_make(fill->sink, fill->solver->names, &compared, objective);
}

/* Finds the requirements of the mapping and sets the callbacks of the objective for figures and requirements. */
static void connect_objective(dfl_fill *fill, dfl_objective *objective)
{
    dfl_fill_find_requirements(fill);
    objective->figure = look_up_figure;
    objective->meets = meets_requirement;
    objective->required = fill->required_at.at;
    objective->asked = fill->asked.at;
    objective->n_required = (uint32_t)fill->required_at.n;
    objective->rooms = dfl_required_rooms(fill->solver->arena, fill->item.mapping->system, fill->asked.at,
                                          objective->n_required);
    objective->context = fill;
}

/* Whether no limit was asked for, and not that there is none. */
static bool has_default_limit(const dfl_solver *solver)
{
    const dfl_search_options *o = solver->options;

    return !o->endless && !(o->seconds > 0) && o->evaluations == 0 && !solver->user_step_limit;
}

/* Largest share of a limit on time that a search may leave unused and still counts as stopped by it: stages end some time before.
   */
static const double LEFT_LEAST = 0.02;

/* Puts what ended a search in front of the reasons why its result is not proven. Stages may have written the stops of parts of
   the search there, and an interrupt may have come after the last stage. `start` is the time at which the search began, s. */
static void name_stop(const dfl_fill *fill, double start, dfl_filled *filled, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    const atomic_bool *cancel = solver->budget->cancel;
    const bool is_interrupted = cancel != NULL && atomic_load(cancel);
    const double left = fill->limits.deadline - dfl_budget_time(solver->budget);
    const bool is_left = left > LEFT_LEAST * (fill->limits.deadline - start);
    dfl_search_summary *summary;
    dfl_stop part;

    if (filled->search == NULL || filled->search->optimal)
        return;
    summary = DFL_NEW(solver->arena, dfl_search_summary);
    *summary = *filled->search;
    if (summary->stopped == DFL_STOP_NONE && is_interrupted)
        summary->stopped = *stopped = DFL_STOP_CANCELLED;
    part = dfl_proof_gaps_stop(summary->unproven);
    if (summary->stopped == DFL_STOP_NONE && (part == DFL_STOP_TIME || part == DFL_STOP_WORK) && !is_left) {
        *stopped = DFL_STOP_TIME; /* the last stage ended with the time */
        summary->stopped = dfl_fill_stop(fill, DFL_STOP_TIME);
    }
    summary->unproven = dfl_proof_gaps_after_stop(solver->arena, summary->unproven, summary->stopped,
                                                  summary->stopped == DFL_STOP_TIME && is_left);
    filled->search = summary;
}

/* Fills a mapping within the step limit of the budget. */
static const dfl_filled *fill_mapping(const dfl_solver *solver, const dfl_mapping *m, dfl_stop *stopped)
{
    const size_t first = solver->filled->n;
    dfl_progress_meter meter;
    dfl_fill fill = { .solver = solver, .sink = solver->sink, .space = dfl_search_options_space(solver->options),
                      .certificate = solver->options->certificate,
                      .has_default_limit = has_default_limit(solver),
                      .item = { .mapping = m, .status = DFL_STATUS_FILLED } };
    dfl_filled filled = { .given = m };
    dfl_objective objective;
    dfl_arena *texts;
    const double start = dfl_budget_time(solver->budget);
    const bool is_plan = dfl_mapping_is_plan(m);
    bool is_found, is_several = !is_plan && solver->options->top > 0 && m->n_front == 0 && !dfl_mapping_lines_are_written(m) &&
                                m->n_choices == 0;

    *stopped = DFL_STOP_NONE;
    if (is_plan && m->n_front > 0 && m->n_minimize > 0) {
        (void)dfl_fill_refuse_front(&fill, "`minimize` is here", "remove `minimize` or `pareto`");
        return NULL;
    }
    if ((!is_plan && !check_searched(&fill, m)) || !read_objective(&fill, m, &objective))
        return NULL;
    texts = dfl_arena_new(solver->budget);
    if (!dfl_check_objective_types(texts, solver->results, m)) {
        dfl_arena_free(texts);
        return NULL;
    }
    dfl_unused_options_report(solver, m);
    fill.one = *solver->results;
    fill.one.sink = dfl_sink_new(texts, solver->sources);
    fill.one.items = &fill.item;
    fill.one.n_items = 1;
    dfl_sink_limit(fill.one.sink, 0);
    connect_objective(&fill, &objective);
    dfl_progress_open(&meter, solver->options->progress ? show_progress : NULL, &fill);
    fill.limits = dfl_search_options_limits(solver->options, dfl_budget_time(solver->budget), &meter);
    if (fill.has_default_limit)
        fill.limits.deadline = dfl_budget_time(solver->budget) + DFL_DEFAULT_SECONDS;
    fill.space.imperfect |= !is_plan && solver->options->top == 0 && m->n_front == 0 && dfl_fill_takes_any_tiles(&fill, m);
    filled.given = dfl_fill_ask_bandwidth(&fill, m);
    if (is_plan)
        is_found = dfl_fill_plan(&fill, &objective, stopped);
    else if (m->n_front > 0 && m->n_choices > 0)
        is_found = dfl_fill_front_choices(&fill, &objective, filled.given, stopped);
    else if (m->n_front > 0 && dfl_mapping_lines_are_written(m))
        is_found = dfl_fill_front_sizes(&fill, &objective, filled.given, stopped);
    else if (m->n_front > 0)
        is_found = dfl_fill_front(&fill, &objective, filled.given, fill_lines, stopped);
    else if (is_several)
        is_found = dfl_fill_kinds(&fill, &objective, filled.given, fill_lines, stopped);
    else if (m->n_choices > 0)
        is_found = dfl_fill_choices(&fill, &objective, fill_open, &filled, stopped);
    else
        is_found = fill_open(&fill, &objective, &filled, stopped);
    filled.given = m;
    dfl_arena_free(texts);
    if (fill.was_progress_shown)
        solver->options->progress(solver->options->progress_context, NULL);
    if (is_found && m->n_front == 0 && !is_several && !is_plan) {
        name_stop(&fill, start, &filled, stopped);
        DFL_PUSH(solver->arena, solver->filled, filled);
    }
    return is_found ? &solver->filled->at[first] : NULL;
}

/* A time limit replaces the default step limit, but not a step limit that the user set. */
const dfl_filled *dfl_solve_mapping(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped)
{
    dfl_budget *budget = solver->budget;
    const uint64_t limit = budget->steps_limit, used = budget->steps_used;
    const bool is_default = has_default_limit(solver);
    const bool is_lifted = is_default ||
                           ((solver->options->seconds > 0 || solver->options->endless) && !solver->user_step_limit);
    dfl_work work = { 0 };
    const dfl_filled *out;

    if (is_lifted)
        budget->steps_limit = 0;
    if (is_default || (solver->options->counted && solver->options->seconds > 0))
        budget->work = &work;
    out = fill_mapping(solver, mapping, stopped);
    budget->work = NULL;
    budget->steps_limit = limit;
    if (is_lifted)
        budget->steps_used = used;
    if (is_default && out != NULL && (*stopped == DFL_STOP_TIME || *stopped == DFL_STOP_EVALUATIONS))
        *stopped = DFL_STOP_NONE;
    return out;
}

void dfl_solve_record_stop(const dfl_solver *solver, dfl_stop stop)
{
    if (stop != DFL_STOP_TIME && stop != DFL_STOP_EVALUATIONS)
        dfl_budget_stop(solver->budget, stop);
    else if (*solver->limited == DFL_STOP_NONE)
        *solver->limited = stop;
}
