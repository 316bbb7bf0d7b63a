/* Several einsums beside the joint search: fused groups, and the lower bound of all exchanges. */
#include <math.h>

#include "mapper/improve/tree_climb.h"
#include "mapper/join/exchange_bound.h"
#include "mapper/join/exchange_scope.h"
#include "mapper/join/fused_groups.h"
#include "mapper/join/regroup.h"
#include "mapper/join/workload_floor.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Why a result that a climb ended with is not proven. */
static const char CLIMBED[] = "lines of the best mapping were changed one by one: other changes may be better";

static const char GROUPED[] = "groups of einsums were mapped one by one: mappings that share other loops may be better";

/* Of the shares of einsums that share no loop (solve/segments.c), behind a second search of all together without windows. */
static const double LEAVES_AGAIN = 0.5;

/* The limits of a stage: a share of the time that is left, and the evaluations that are left. */
static dfl_search_limits share_limits(const dfl_fill *fill, const dfl_search_summary *summary, double share)
{
    dfl_search_limits limits = dfl_fill_share_limits(fill, share);

    limits.evaluations = dfl_evaluations_left(limits.evaluations, summary->evaluated);
    return limits;
}

static bool has_gap(const dfl_search_summary *summary)
{
    return !(summary->value <= dfl_value_times(summary->lower_bound, 1 + DFL_SMALL_GAP));
}

/* Whether the einsums have so many skeletons that a search of all together finds nothing in the time of this one. */
static bool has_many(const dfl_einsum_classes *classes)
{
    return classes != NULL && dfl_exchange_skeletons(classes) > DFL_JOINT_SKELETONS;
}

/* Replaces the mapping by one of fused groups if that is better. */
static void try_groups(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within,
                       const dfl_einsum_classes *classes, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    const bool is_many = has_many(classes), has_windows = dfl_exchange_has_windows(classes);
    const double share = fill->is_part ? DFL_PART_GROUPS_SHARE : is_many ? DFL_GROUPS_MANY
                         : has_windows ? DFL_GROUPS_WINDOWS : DFL_GROUPS_SHARE;
    const double probe_share = fill->is_part || is_many ? share : fmin(share, DFL_GROUPS_PROBE);
    const dfl_search_limits limits = share_limits(fill, summary, share);
    const double probe = share_limits(fill, summary, probe_share).deadline;
    dfl_arena *work = dfl_arena_new(solver->budget);
    const dfl_result *costs = dfl_fill_deciding_costs(fill, out);
    dfl_fused_result found = dfl_fused_groups(work, solver->names, within, objective, costs ? costs->joules : 0,
                                              costs ? costs->seconds : 0, summary->value, probe, classes, &limits);
    const dfl_mapping *best = found.mapping;

    summary->evaluated += found.nodes;
    if (found.mapping && found.value > summary->value && found.value <= dfl_value_times(summary->value, DFL_ALONE_NEAR) &&
        !fill->is_part && within->workload->n_einsums <= DFL_CLIMB_EINSUMS) /* a climb from there may come lower */
        best = dfl_fill_climb(fill, objective, found.mapping, DFL_CLIMB_SHARE, 0, work, summary, &found.value);
    if (best != NULL && best != found.mapping)
        dfl_fill_take_climbed(fill, best, found.value, CLIMBED, out, summary);
    else if (best != NULL)
        dfl_fill_take_better(fill, best, found.value, GROUPED, out, summary);
    dfl_arena_free(work);
}

/* Has einsums of the mapping share loops if that is better: with many skeletons fused groups need more time. */
static void try_regroup(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within,
                        const dfl_einsum_classes *classes, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_limits limits = share_limits(fill, summary, DFL_REGROUP_SHARE);
    const dfl_result *costs = dfl_fill_deciding_costs(fill, out);
    dfl_arena *work = dfl_arena_new(fill->solver->budget);
    dfl_fused_result found = { 0 };

    if (costs != NULL)
        found = dfl_regroup(work, fill->solver->names, within, out->mapping, objective, costs->joules, costs->seconds, classes,
                            &limits);
    summary->evaluated += found.nodes;
    if (found.mapping != NULL)
        dfl_fill_take_better(fill, found.mapping, found.value, GROUPED, out, summary);
    dfl_arena_free(work);
}

/* Whether evaluations are left. */
static bool may_go_on(const dfl_fill *fill, const dfl_search_summary *summary)
{
    return dfl_budget_ok(fill->solver->budget) && has_gap(summary) &&
           (fill->limits.evaluations == 0 || summary->evaluated < fill->limits.evaluations);
}

/* Whether a mapping belongs to the space that was asked for; `context` is the dfl_fill. */
static bool is_admitted(void *context, const dfl_mapping *m) { return dfl_fill_admits(context, m); }

const dfl_mapping *dfl_fill_climb(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *from, double share,
                                  uint32_t walks, dfl_arena *arena, dfl_search_summary *summary, double *value)
{
    const dfl_search_limits limits = share_limits(fill, summary, share);
    dfl_deadline halt = { .budget = fill->solver->budget, .at = limits.deadline };
    const bool is_timed = fill->limits.deadline > 0 && fill->solver->budget->work == NULL;
    const uint64_t part = fill->limits.evaluations / DFL_CLIMB_PART; /* which does not depend on the stages before */
    const uint32_t n = from->workload->n_einsums;
    const uint64_t most = n <= DFL_CLIMB_EINSUMS ? DFL_CLIMB_PROVEN : DFL_CLIMB_PROVEN * DFL_CLIMB_EINSUMS / n + 1;
    dfl_tree_climb_options options = {
        .objective = objective, .halt = &halt, .walks = walks, .patience = is_timed ? UINT32_MAX : DFL_CLIMB_PATIENCE,
        .may_share = fill->space.max_shared_loops == DFL_NONE, .evaluations = is_timed ? DFL_CLIMB_TIMED : DFL_CLIMB_EVALUATIONS,
        .proven = summary->optimal ? summary->value : 0, .admits = is_admitted, .context = fill };
    uint64_t evaluated;
    const dfl_mapping *m;

    if (fill->limits.evaluations > 0)
        options.evaluations = part < limits.evaluations ? part : limits.evaluations;
    if (summary->optimal && options.evaluations > most)
        options.evaluations = most;
    m = dfl_tree_climb(arena, fill->solver->names, from, &options, value, &evaluated);
    summary->evaluated += evaluated;
    return m;
}

void dfl_fill_try_climb(dfl_fill *fill, const dfl_objective *objective, double share, uint32_t walks, dfl_filled *out,
                        dfl_search_summary *summary)
{
    dfl_arena *work = dfl_arena_new(fill->solver->budget);
    double value;
    const dfl_mapping *m = dfl_fill_climb(fill, objective, out->mapping, share, walks, work, summary, &value);

    dfl_fill_take_climbed(fill, m, value, CLIMBED, out, summary);
    dfl_arena_free(work);
}

/* Whether the value of a result reaches a bound of all mappings. */
static bool reaches(const dfl_search_summary *summary, double bound)
{
    return bound > 0 && summary->value <= dfl_value_times(bound, 1 + DFL_VALUE_TOLERANCE);
}

/* Raises the lower bound to that of all exchanges, under limits. That a mapping of its space is below it is an internal error. */
static void raise_within(dfl_fill *fill, const dfl_objective *objective, dfl_einsum_classes *classes, dfl_filled *out,
                         const dfl_search_limits *limits, dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    const dfl_result *costs = dfl_fill_deciding_costs(fill, out);
    dfl_arena *work;
    dfl_exchange_result bound;

    if (!costs)
        return;
    work = dfl_arena_new(solver->budget);
    bound = dfl_exchange_bound(work, solver->names, out->given, objective, costs->joules, costs->seconds, classes, limits);
    summary->evaluated += bound.programs;
    if (dfl_exchange_covers(work, out->mapping))
        (void)dfl_objective_check_bound(fill->sink, out->given->span, summary->value, bound.value);
    dfl_arena_free(work);
    /* a mapping outside of the space of the bound may be below it; lists share no loops along windows, so theirs gives way */
    if (bound.value > 0 && bound.value <= dfl_value_times(summary->value, 1 + DFL_VALUE_TOLERANCE) &&
        (!(summary->lower_bound >= bound.value) || (classes != NULL && dfl_exchange_has_windows(classes))))
        summary->lower_bound = bound.value;
}

/* The same in a share of the time. */
static void raise_bound(dfl_fill *fill, const dfl_objective *objective, dfl_einsum_classes *classes, dfl_filled *out,
                        dfl_search_summary *summary)
{
    const dfl_search_limits limits = share_limits(fill, summary, has_many(classes) ? DFL_BOUND_MANY : DFL_BOUND_SHARE);

    raise_within(fill, objective, classes, out, &limits, summary);
}

void dfl_fill_raise_alone(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary)
{
    dfl_search_limits limits = share_limits(fill, summary, 1), few;
    dfl_arena *listed;
    dfl_einsum_classes *classes;

    if (!dfl_budget_ok(fill->solver->budget) || !has_gap(summary) || limits.evaluations == 1)
        return;
    if (limits.evaluations == 0 || limits.evaluations > DFL_ALONE_PROGRAMS)
        limits.evaluations = DFL_ALONE_PROGRAMS;
    few = limits;
    if (few.evaluations > DFL_ALONE_LISTED)
        few.evaluations = DFL_ALONE_LISTED;
    listed = dfl_arena_new(fill->solver->budget);
    classes = dfl_exchange_list(listed, fill->solver->names, out->given, objective, &few);
    if (classes != NULL && !dfl_exchange_has_windows(classes))
        raise_within(fill, objective, classes, out, &limits, summary);
    dfl_arena_free(listed);
    if (reaches(summary, summary->lower_bound) && objective->n_terms <= 1) {
        summary->optimal = true;
        summary->unproven = NULL;
    }
}

/* Searches all einsums together as a stage of its own, with the members of `stage` that the caller has set: a stage without a
   mapping is no error, and its end by time does not end the others. */
static bool search_apart(dfl_fill *stage, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *other)
{
    const dfl_solver *solver = stage->solver;
    dfl_stop why = DFL_STOP_NONE;
    bool is_found;

    stage->sink = dfl_sink_quiet(solver->arena);
    stage->is_last = true;
    is_found = search(stage, objective, other, &why);
    if (solver->budget->why == DFL_STOP_TIME)
        solver->budget->why = DFL_STOP_NONE;
    return is_found;
}

/* Searches all einsums together once more, and takes what is better: the mapping, the lower bound. */
static void search_again(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, bool has_windows, dfl_filled *out,
                         dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_fill again = *fill;
    dfl_filled other = { .given = out->given };

    again.limits = share_limits(fill, summary, fill->is_part ? DFL_PART_AGAIN_SHARE : DFL_AGAIN_SHARE);
    if (!search_apart(&again, objective, search, &other))
        return;
    summary->evaluated += other.search->evaluated;
    summary->pruned += other.search->pruned;
    dfl_fill_take_better(fill, other.mapping, other.search->value, other.search->unproven, out, summary);
    if (other.search->lower_bound <= summary->value && !(summary->lower_bound >= other.search->lower_bound) && !has_windows)
        summary->lower_bound = other.search->lower_bound; /* with windows the mapping may lie outside of this space */
    if (other.search->optimal && other.search->value <= dfl_value_times(summary->value, 1 + DFL_VALUE_TOLERANCE)) {
        summary->optimal = true;
        summary->unproven = NULL;
        *stopped = DFL_STOP_NONE;
    }
}

bool dfl_fill_start_narrow(const dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                           dfl_search_summary *summary)
{
    dfl_fill narrow = *fill;
    dfl_filled other = { .given = out->given };

    narrow.space = (dfl_search_space){ .perfect = true, .max_shared_loops = fill->space.max_shared_loops };
    narrow.limits = share_limits(fill, summary, DFL_NARROW_SHARE);
    narrow.limits.gap = 0; /* which is one of the wide space */
    if (!search_apart(&narrow, objective, search, &other) || other.mapping == NULL)
        return false;
    summary->evaluated += other.search->evaluated;
    summary->pruned += other.search->pruned;
    if (out->mapping == NULL || other.search->value < summary->value) {
        dfl_filled_set(out, other.mapping, other.costs);
        summary->value = other.search->value;
        summary->unproven = "the best mapping is one of tile sizes that divide: other tile sizes may be better";
    }
    return true;
}

void dfl_fill_try_ragged(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                         dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    const dfl_search_limits limits = share_limits(fill, summary, DFL_GROUPS_SHARE);
    dfl_arena *work = dfl_arena_new(solver->budget);
    const dfl_einsum_classes *classes = dfl_exchange_list(work, solver->names, within, objective, &limits);
    const dfl_result *costs = dfl_fill_deciding_costs(fill, out);
    dfl_search_limits once = { .evaluations = limits.evaluations };
    dfl_fused_result found;

    if (classes != NULL && costs != NULL && !has_many(classes) && !dfl_exchange_has_windows(classes)) {
        found = dfl_fused_groups(work, solver->names, within, objective, costs->joules, costs->seconds, summary->value, 0,
                                 classes, &once);
        summary->evaluated += found.nodes;
        if (found.mapping != NULL)
            dfl_fill_take_better(fill, found.mapping, found.value,
                                 "the mapping has tile sizes that do not divide: the best of those that divide is proven, which "
                                 "`--tiles perfect` gives; of the others only some were tried", out, summary);
    }
    dfl_arena_free(work);
}

void dfl_fill_raise_floor(const dfl_fill *fill, const dfl_objective *objective, const dfl_filled *out,
                          dfl_search_summary *summary)
{
    const dfl_solver *solver = fill->solver;
    dfl_arena *work = dfl_arena_new(solver->budget);
    const dfl_floor floor = dfl_workload_floor(work, solver->names, out->given);
    const double joules = floor.joules + dfl_system_leakage(out->given->system) * floor.seconds;
    const double bound = objective->native ? dfl_objective_value(objective, joules, floor.seconds) : 0;

    if (bound > 0 && !(summary->lower_bound >= bound))
        summary->lower_bound = bound;
    if (reaches(summary, bound) && objective->n_terms <= 1) {
        summary->optimal = true;
        summary->unproven = NULL;
    }
    dfl_arena_free(work);
}

bool dfl_fill_alone_is_near(const dfl_fill *fill, double value)
{
    return fill->alone == NULL || fill->alone->workload->n_einsums <= DFL_CLIMB_FIRST_EINSUMS ||
           fill->alone_value <= dfl_value_times(value, DFL_ALONE_NEAR);
}

void dfl_fill_improve_several(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_fill_open *search,
                              dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_arena *listed = dfl_arena_new(fill->solver->budget);
    dfl_einsum_classes *classes = NULL;
    const bool is_bounded = fill->space.extensions == 0 && within == out->given && !fill->is_part && !fill->is_segment;
    const bool may_share = fill->space.max_shared_loops > 0; /* as groups and the loop of a common rank do */
    bool is_again, has_windows;

    if (may_go_on(fill, summary) && within == out->given && may_share) {
        dfl_fill part = *fill;
        part.limits = share_limits(fill, summary, DFL_COMMON_SHARE);
        part.is_part = true;
        dfl_fill_try_common(&part, objective, search, out, summary);
    }
    if (may_go_on(fill, summary)) {
        const dfl_search_limits limits = share_limits(fill, summary, DFL_LIST_SHARE);
        classes = dfl_exchange_list(listed, fill->solver->names, within, objective, &limits);
    }
    if (may_go_on(fill, summary) && has_many(classes) && out->given->workload->n_carries == 0 && may_share)
        try_regroup(fill, objective, within, classes, out, summary);
    if (may_go_on(fill, summary) && is_bounded && has_many(classes))
        raise_bound(fill, objective, classes, out, summary);
    if (may_go_on(fill, summary) && classes != NULL && out->given->workload->n_carries == 0 && may_share)
        try_groups(fill, objective, within, classes, out, summary);
    if (may_go_on(fill, summary) && !fill->is_part && out->given->workload->n_einsums <= DFL_CLIMB_EINSUMS)
        dfl_fill_try_climb(fill, objective, DFL_CLIMB_SHARE, 0, out, summary);
    if (may_go_on(fill, summary) && is_bounded && !has_many(classes))
        raise_bound(fill, objective, classes, out, summary);
    is_again = may_go_on(fill, summary) && *stopped == DFL_STOP_TIME && !has_many(classes) &&
               fill->limits.deadline > dfl_budget_time(fill->solver->budget);
    has_windows = classes != NULL && dfl_exchange_has_windows(classes);
    if (is_again)
        search_again(fill, objective, search, has_windows, out, summary, stopped);
    if (may_go_on(fill, summary) && !fill->is_part && !fill->is_segment && fill->limits.deadline > 0)
        dfl_fill_try_leaves(fill, objective, is_again && !has_windows ? LEAVES_AGAIN : 1, search, out, summary);
    if (may_go_on(fill, summary) && !fill->is_part)
        dfl_fill_try_climb(fill, objective, dfl_fill_alone_is_near(fill, summary->value) ? DFL_CLIMB_REST : 1, UINT32_MAX, out,
                           summary);
    dfl_arena_free(listed);
}
