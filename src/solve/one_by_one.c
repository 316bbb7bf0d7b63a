#include "solve/one_by_one.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/problem/limits.h"
#include "solve/homes.h"
#include "solve/kind_lines.h"
#include "support/deadline.h"
#include "support/limits.h"

bool dfl_one_by_one_applies(const dfl_fill *fill, const dfl_mapping *mapping)
{
    const dfl_workload *w = mapping->workload;

    if (!dfl_mapping_all_lines_open(mapping) || mapping->root->n_lines > 0)
        return false;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (dfl_kind_lines_lack(fill, mapping, e))
            return true;
    return w->n_carries > 0;
}

static bool has_conditions(const dfl_assembly *a)
{
    bool any = false;

    for (size_t i = 0; i < a->kinds.n; i++)
        any |= a->kinds.at[i].one.has_where;
    return any;
}

static bool is_timed(const dfl_assembly *a) { return a->fill->limits.deadline > 0 && a->fill->solver->budget->work == NULL; }

/* Costs of a mapping by the model; NULL if the model refuses it, or if an interrupt, or the end of the time that follows a limit
   on time, ends the evaluation. Reports nothing. After an interrupt the evaluation has few steps. */
static const dfl_result *evaluate_in_time(const dfl_assembly *a, const dfl_mapping *m)
{
    dfl_budget *budget = a->fill->solver->budget;
    const double end = fmax(fmax(a->fill->limits.deadline, a->fill->judged_until), dfl_budget_time(budget)) + DFL_GRACE_SECONDS;

    return dfl_fill_costs_until(a->fill, m, dfl_budget_ok(budget) ? DFL_WHOLE_STEPS : DFL_LINE_SEARCH_STEPS,
                                is_timed(a) ? end : 0);
}

/* Under a limit on time, the costs of the mapping before homes move, which most often is the result: an evaluation may take
   seconds, so there is one. Where no other search finds a mapping it goes to its end. NULL without such a limit, and where
   evaluate_in_time finds none. */
static const dfl_result *evaluate_first(const dfl_assembly *a, const dfl_mapping *m)
{
    const dfl_mapping *kept;

    if (!is_timed(a) || has_conditions(a))
        return NULL;
    kept = dfl_mapping_copy(a->fill->solver->arena, m); /* which the costs name */
    return a->reports ? dfl_fill_costs_until(a->fill, kept, 0, 0) : evaluate_in_time(a, kept);
}

/* Finds a mapping of all einsums. NULL after reporting. */
static dfl_mapping *map_one_by_one(dfl_assembly *a)
{
    const dfl_workload *w = a->workload;
    dfl_mapping *found;
    uint32_t *before;

    a->is_carried = DFL_NEW_ARRAY(a->arena, bool, w->n_ranks + 1);
    a->home = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_tensors + 1);
    a->found = DFL_NEW_ARRAY(a->arena, dfl_found_lines, w->n_einsums + 1);
    a->ones = DFL_NEW_ARRAY(a->arena, dfl_lone_einsum, w->n_einsums + 1);
    a->kind_of = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_einsums + 1);
    for (uint32_t c = 0; c < w->n_carries; c++)
        a->is_carried[w->carries[c].rank] = true;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        a->home[t] = DFL_NONE;
    if (!dfl_kind_lines_find(a))
        return NULL;
    before = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_tensors + 1);
    memcpy(before, a->home, w->n_tensors * sizeof *before);
    found = dfl_assembly_make(a);
    a->costs = evaluate_first(a, found);
    dfl_assembly_move_homes(a);
    a->has_moved = memcmp(before, a->home, w->n_tensors * sizeof *before) != 0;
    if (!a->has_moved)
        return found;
    a->costs = NULL;
    return dfl_assembly_make(a);
}

/* Maps the einsums one by one and copies the mapping to `out`. Returns its costs by the model; NULL after reporting. The
   evaluation of einsums with conditions may take long, or the model may refuse it: then other lines take their place. */
static const dfl_result *fill_from(dfl_assembly *a, dfl_filled *out)
{
    dfl_arena *arena = a->fill->solver->arena;
    const dfl_mapping *found = map_one_by_one(a);

    dfl_filled_set(out, found ? dfl_mapping_copy(arena, found) : NULL, found ? a->costs : NULL);
    if (out->mapping == NULL || out->costs != NULL)
        return out->costs;
    if (has_conditions(a))
        out->costs = evaluate_in_time(a, out->mapping);
    if (has_conditions(a) && !out->costs && dfl_kind_lines_shorten(a))
        out->mapping = dfl_mapping_copy(arena, dfl_assembly_make(a));
    if (!out->costs)
        out->costs = dfl_fill_costs(a->fill, out->mapping);
    return out->costs;
}

/* Maps the einsums one by one where the outermost memories have too little room for all tensors, with other homes of
   intermediates. If that gives a mapping, takes back the reports from `first` on. */
static const dfl_result *fill_packed(dfl_assembly *a, dfl_filled *out, size_t first)
{
    uint32_t *home = DFL_NEW_ARRAY(a->arena, uint32_t, a->workload->n_tensors + 1);
    dfl_sink *sink = a->fill->sink;
    const dfl_result *costs;

    if (a->stopped != DFL_STOP_NONE || !dfl_homes_pack(a->arena, a->given, home))
        return NULL;
    a->asked_home = home;
    a->kinds.n = a->kinds.cap = 0;
    a->kinds.at = NULL;
    a->fill->sink = dfl_sink_new(a->arena, a->fill->solver->sources);
    costs = fill_from(a, out);
    a->fill->sink = sink;
    if (costs) {
        dfl_sink_withdraw(sink, first, DFL_EVAL_INFEASIBLE);
        dfl_sink_withdraw(sink, first, DFL_MAP_CAPACITY);
    }
    return costs;
}

bool dfl_fill_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_assembly a = { .fill = fill, .arena = dfl_arena_new(solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .reports = true, .climbs = true };
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
    const size_t reports = dfl_sink_count(fill->sink);
    const dfl_result *costs = fill_from(&a, out);

    if (!costs)
        costs = fill_packed(&a, out, reports);
    *stopped = a.stopped;
    dfl_arena_free(a.arena);
    if (!costs)
        return false;
    if (!dfl_objective_met(objective, costs, NULL)) {
        dfl_diag *d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, objective->required[0],
                                 "the mapping that the search found does not meet the requirements");
        dfl_diag_label(fill->sink, d, out->given->span, "the einsums of this mapping were mapped one by one");
        dfl_diag_help(fill->sink, d, "write some lines of the mapping, or remove requirements");
        return false;
    }
    *summary = dfl_fill_start_summary(fill, objective);
    summary->value = dfl_objective_value(objective, costs->joules, costs->seconds);
    summary->lower_bound = NAN;
    summary->evaluated = a.evaluated;
    summary->space = dfl_is_single_einsum(a.workload)
                         ? "templates, and small changes of lines"
                         : "lines of each einsum alone; each intermediate at home in one memory outside of arrays";
    summary->unproven = dfl_proof_gaps_one_by_one(solver->arena, a.workload,
                                                  dfl_is_single_einsum(a.workload) ? dfl_kind_lines_lack(fill, a.given, 0) : NULL,
                                                  dfl_fill_stop(fill, a.stopped));
    summary->stopped = dfl_fill_stop(fill, a.stopped);
    out->search = summary;
    return true;
}

void dfl_fill_improve_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary,
                                 dfl_stop *stopped)
{
    const dfl_search_limits given = fill->limits;
    const bool is_own = given.evaluations == 0 || given.evaluations > DFL_ONE_BY_ONE_EVALUATIONS;
    dfl_assembly a = { .fill = fill, .arena = dfl_arena_new(fill->solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .climbs = is_own };
    const dfl_mapping *found, *start;
    dfl_assembly_score one = { false, INFINITY };

    if (!dfl_fill_alone_is_near(fill, summary->value)) {
        dfl_arena_free(a.arena);
        return;
    }
    /* The search needs at least a quarter of the limit on evaluations: each einsum gets an equal part of it. */
    if (dfl_assembly_is_over(&a) || (!is_own && summary->evaluated >= given.evaluations - given.evaluations / 4)) {
        dfl_arena_free(a.arena);
        return;
    }
    if (is_own)
        fill->limits.evaluations = DFL_ONE_BY_ONE_EVALUATIONS;
    else /* a limit that was given is one of both searches together */
        fill->limits.evaluations = dfl_evaluations_left(given.evaluations, summary->evaluated);
    found = fill->alone != NULL ? fill->alone : map_one_by_one(&a);
    if (found != NULL && a.costs != NULL)
        one = dfl_assembly_score_of(&a, a.costs);
    else if (found)
        one = dfl_assembly_judge(&a, found, given.deadline > 0 ? fmax(fmax(given.deadline, fill->judged_until),
                                                                      dfl_budget_time(fill->solver->budget)) +
                                                                DFL_GRACE_SECONDS : 0);
    fill->limits = given;
    summary->evaluated += a.evaluated;
    start = found;
    if (one.is_met && found && !fill->is_part) /* what shares no loops may climb higher than the best that shares some */
        found = dfl_fill_climb(fill, objective, found, fill->alone != NULL ? 1 : DFL_CLIMB_REST, UINT32_MAX, a.arena, summary,
                               &one.value);
    /* the limit of this search alone is no limit that was given */
    if (*stopped == DFL_STOP_NONE && !(is_own && a.stopped == DFL_STOP_EVALUATIONS))
        *stopped = a.stopped;
    if (one.is_met) {
        static const char unproven[] = "the einsums of the best mapping were mapped one by one: mappings that fuse them may be "
                                       "better";
        if (found != start)
            dfl_fill_take_climbed(fill, found, one.value, unproven, out, summary);
        else
            dfl_fill_take_better(fill, found, one.value, unproven, out, summary);
    }
    dfl_arena_free(a.arena);
}

/* Maps the einsums quickly in rounds, and judges the mapping. */
static const dfl_mapping *map_quickly(dfl_assembly *a, const dfl_search_limits *given, dfl_assembly_score *one)
{
    const dfl_mapping *found = map_one_by_one(a);

    if (found)
        *one = a->costs ? dfl_assembly_score_of(a, a->costs)
                        : dfl_assembly_judge(a, found, given->deadline > 0 ? given->deadline + DFL_GRACE_SECONDS : 0);
    return found;
}

/* Maps the einsums once more with intermediates in the homes to which they have moved, from the lines found on: other ones are
   best there. Keeps what is better. */
static void map_in_homes(const dfl_assembly *first, const dfl_search_limits *given, dfl_arena *arena, dfl_filled *out,
                         dfl_search_summary *summary)
{
    dfl_assembly again = { .fill = first->fill, .arena = dfl_arena_new(first->fill->solver->budget),
                           .objective = first->objective, .given = first->given, .workload = first->workload,
                           .system = first->system, .is_quick = true, .is_long = first->is_long, .asked_home = first->home,
                           .known = first };
    dfl_assembly_score one = { false, INFINITY };
    const dfl_mapping *found = map_quickly(&again, given, &one);

    summary->evaluated += again.evaluated;
    if (one.is_met && one.value < summary->value) {
        dfl_filled_set(out, dfl_mapping_copy(arena, found), again.costs);
        summary->value = one.value;
    }
    dfl_arena_free(again.arena);
}

bool dfl_fill_first(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_limits given = fill->limits;
    const bool is_long = given.deadline - dfl_budget_time(fill->solver->budget) > DFL_APART_LEAST;
    dfl_assembly a = { .fill = fill, .arena = dfl_arena_new(fill->solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .is_quick = true, .is_long = is_long };
    dfl_assembly_score one = { false, INFINITY };
    const dfl_mapping *found = map_quickly(&a, &given, &one);
    const bool is_found = one.is_met && !isinf(one.value);

    summary->evaluated += a.evaluated;
    if (is_found) {
        dfl_filled_set(out, dfl_mapping_copy(fill->solver->arena, found), a.costs);
        summary->value = one.value;
        fill->alone = is_long ? out->mapping : NULL; /* another place to climb from */
        fill->alone_value = summary->value;
        if (a.has_moved && given.deadline > 0 && !dfl_assembly_is_over(&a))
            map_in_homes(&a, &given, fill->solver->arena, out, summary);
    }
    dfl_arena_free(a.arena);
    return is_found;
}
