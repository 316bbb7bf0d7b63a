/* The mappings of a Pareto set, and the best mappings of several kinds. */
#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/space_text.h"
#include "report/check/check.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"
#include "support/limits.h"

static bool refuse_kinds(const dfl_fill *fill, const char *here, const char *help)
{
    return dfl_fill_refuse(fill, fill->item.mapping->hole_span, "no search lists the best kinds of", here, help);
}

/* The summary of a search for several mappings; `found` holds at least one. `wider`: why the result is not proven if a search for
   one mapping found one of them; NULL = it did not. With `--tiles imperfect` nothing is proven: only the searches for one
   mapping try other tile sizes than those that divide. */
static dfl_search_summary summarize(const dfl_fill *fill, const dfl_objective *objective, const dfl_search_result *found,
                                    const char *wider)
{
    dfl_search_summary out = dfl_fill_start_summary(fill, objective);

    out.lower_bound = NAN;
    out.value = found->at[0].terms[0];
    out.optimal = found->status == DFL_SEARCH_OPTIMAL && !fill->space.imperfect;
    out.evaluated = found->evaluated;
    out.pruned = found->pruned;
    out.max_fused = fill->solver->options->max_fused;
    out.stopped = dfl_fill_stop(fill, found->stopped);
    if (!out.optimal)
        out.unproven = wider != NULL && found->stopped == DFL_STOP_NONE
                           ? wider
                           : dfl_proof_gaps_text(fill->solver->arena, &fill->space, fill->item.mapping, out.stopped, found,
                                                 (dfl_proof_gaps){ .is_one_of_several = true,
                                                                   .has_requirement = found->has_dropped });
    return out;
}

/* The time and the evaluations of the search for several mappings: half of those that are given. The searches for one mapping
   each get the rest, or, without a limit, as much as they have alone. */
static dfl_search_limits share_limits(const dfl_fill *fill)
{
    dfl_search_limits out = fill->has_default_limit ? fill->limits : dfl_fill_share_limits(fill, 0.5);

    if (out.evaluations > 1)
        out.evaluations -= out.evaluations / 2;
    return out;
}

/* A request for several mappings, with dividing tile sizes and without extensions of the search space. */
static dfl_search_request make_request(const dfl_fill *fill, const dfl_objective *objective, dfl_search_mode mode)
{
    return (dfl_search_request){ .objective = objective, .mode = mode, .limits = share_limits(fill),
                                 .space = { .any_spread = fill->space.any_spread,
                                            .max_shared_loops = fill->space.max_shared_loops } };
}

/* Whether a limit on time or on evaluations ended a search for several mappings before it found any: those that searches for one
   mapping find are the result then. Takes back the stop. */
static bool is_cut_short(const dfl_fill *fill, dfl_search_result *found)
{
    dfl_budget *budget = fill->solver->budget;
    const dfl_mapping *m = fill->item.mapping;

    if (found->status != DFL_SEARCH_REPORTED || (budget->why != DFL_STOP_TIME && budget->why != DFL_STOP_EVALUATIONS))
        return false;
    found->stopped = budget->why;
    budget->why = DFL_STOP_NONE;
    found->n = 0;
    found->space = dfl_mapper_default_space(fill->solver->arena, fill->solver->names, m, true);
    return true;
}

/* Searches for one mapping as if no others were asked for, with a share of the limits: 1 / `n` of what is left. Adds its effort
   to `*found`. False if there is none. */
static bool find_alone(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                       uint32_t n, dfl_search_result *found, dfl_filled *out)
{
    const dfl_solver *solver = fill->solver;
    const double now = dfl_budget_time(solver->budget);
    dfl_fill alone = *fill;
    dfl_stop why = DFL_STOP_NONE;
    bool is_found;

    *out = (dfl_filled){ .given = m };
    if (found->stopped == DFL_STOP_CANCELLED || !dfl_budget_ok(solver->budget))
        return false;
    alone.sink = dfl_sink_quiet(solver->arena);
    alone.alone = NULL;
    alone.limits.gap = 0;
    if (fill->has_default_limit)
        alone.limits.deadline = now + DFL_DEFAULT_SECONDS;
    else if (alone.limits.deadline > now)
        alone.limits.deadline = now + (alone.limits.deadline - now) / n;
    if (alone.limits.evaluations > 0)
        alone.limits.evaluations = dfl_evaluations_left(alone.limits.evaluations, found->evaluated) / n + 1;
    alone.space.imperfect |= dfl_fill_takes_any_tiles(fill, m);
    is_found = search(&alone, objective, out, &why) && out->mapping != NULL;
    if (solver->budget->why == DFL_STOP_TIME)
        solver->budget->why = DFL_STOP_NONE;
    if (out->search != NULL) {
        found->evaluated += out->search->evaluated;
        found->pruned += out->search->pruned;
    }
    if (found->stopped == DFL_STOP_NONE && !(why == DFL_STOP_EVALUATIONS && fill->limits.evaluations == 0))
        found->stopped = why;
    return is_found;
}

/* Adds the mappings that a search for each expression by itself finds, where they are better; to a set of energy and
   latency that is not complete also that of the least product, which lies between. Returns whether any is. */
static bool add_ends(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                     dfl_arena *arena, dfl_search_result *found)
{
    const dfl_front_alone ends = dfl_fill_single_objectives(fill, arena, objective, true);
    uint32_t n = dfl_objective_count(objective) - (objective->room != DFL_NONE);
    bool any = false;

    n += found->status != DFL_SEARCH_OPTIMAL && n < ends.n && ends.at[n].n_terms == 0;
    for (uint32_t i = 0; i < n && i < ends.n; i++) {
        dfl_filled one;
        if (find_alone(fill, &ends.at[i], m, search, n - i, found, &one))
            any |= dfl_mapper_add(arena, fill->solver->names, objective, DFL_SEARCH_FRONT, one.mapping, found);
    }
    return any;
}

bool dfl_fill_front(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                    dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_search_request request = make_request(fill, objective, DFL_SEARCH_FRONT);
    const dfl_mapping *within = dfl_required_within(solver->arena, m, objective->rooms);
    const size_t errors = dfl_sink_errors(fill->sink);
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
    dfl_search_result found;
    dfl_front_alone alone;
    uint32_t next = 1;
    dfl_arena *work;
    bool is_found, is_short, is_wider;

    if (!objective->native && objective->room == DFL_NONE)
        return dfl_fill_refuse_front(fill, "a Pareto set is over `energy`, `latency` and the peak of one memory",
                                     "use expressions over `energy` and `latency`, and the peak of one memory, as in `pareto "
                                     "latency, peak(sram);`; bound other figures with `require`, or write the lines with `?` "
                                     "for tile sizes");
    if (!objective->native && dfl_mapping_has_open_branches(m))
        return dfl_fill_refuse_front(fill, "the lines of written branches are not compared by the peak of a memory",
                                     "use expressions over `energy` and `latency`, and bound the room: `require peak(M) <= "
                                     "SIZE;`");
    fill->space.extensions = 0;
    work = dfl_arena_new(solver->budget);
    alone = dfl_fill_single_objectives(fill, work, objective, true);
    request.alone = &alone;
    found = *dfl_fill_search(fill, work, within, &request);
    is_short = is_cut_short(fill, &found);
    is_found = dfl_fill_has_result(&found) && found.n > 0;
    is_wider = (is_found || is_short) && add_ends(fill, objective, m, search, work, &found);
    is_found |= is_wider;
    if (dfl_fill_has_result(&found))
        *stopped = found.stopped;
    else if (is_short)
        dfl_budget_stop(solver->budget, found.stopped);
    if (is_found) {
        *summary = summarize(fill, objective, &found,
                             is_wider ? "a search for one expression alone looks at more mappings, and one that it found is in "
                                        "the set: others may belong to it, too" : NULL);
        summary->objective = dfl_arena_printf(solver->arena, "pareto %s", m->front_text);
        summary->is_of_front = true;
        if (fill->space.imperfect)
            found.space = dfl_mapper_words(work, m, &(dfl_words){ .ragged = true, .spread = fill->space.any_spread });
        summary->space = dfl_arena_printf(solver->arena, "a Pareto set of %u; %s", found.n, found.space);
    }
    for (uint32_t i = 0; is_found && i < found.n; i++)
        dfl_fill_add(solver, m, found.at[i].mapping, summary, &next);
    dfl_arena_free(work);
    if (!is_found && fill->required.n > 0 && dfl_sink_errors(fill->sink) == errors)
        dfl_fill_report_violated(fill, &(dfl_filled){ .given = m }, within, &request, *stopped);
    return is_found;
}

/* Adds the best mapping of each structure found and its summary, best first. `bound` is a lower bound for all structures;
   `is_wider`: a search for one mapping found the first one. */
static void add_kinds(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, const dfl_search_result *found,
                      double bound, bool is_wider)
{
    const dfl_solver *solver = fill->solver;
    const char *space = dfl_arena_printf(solver->arena, "kinds by units, keeps, exchanges and ranks of shared loops; %s",
                                         found->space);
    const uint32_t n = found->n < solver->options->top ? found->n : solver->options->top;
    uint32_t next = 0;

    for (uint32_t i = 0; i < n; i++) {
        dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
        *summary = summarize(fill, objective, found,
                             is_wider ? "a search without `--top` looks at more mappings, and the best mapping is one that it "
                                        "found: others may be better than those of the list, too" : NULL);
        summary->space = space;
        summary->top_value = summary->value;
        summary->value = found->at[i].terms[0];
        summary->top_position = i + 1;
        summary->lower_bound = summary->optimal ? summary->value : fmin(summary->value, bound);
        dfl_fill_add(solver, m, found->at[i].mapping, summary, &next);
    }
}

/* A lower bound of all mappings that a search for one mapping looks at. */
static double bound_alone(const dfl_fill *fill, const dfl_objective *objective, const dfl_filled *one)
{
    dfl_search_summary summary = dfl_fill_start_summary(fill, objective);

    summary.lower_bound = one->search != NULL && one->search->lower_bound > 0 ? one->search->lower_bound : 0;
    dfl_fill_raise_floor(fill, objective, one, &summary);
    return summary.lower_bound;
}

/* Searches for the best mappings of the K best structures. */
static void search_kinds(const dfl_fill *fill, const dfl_mapping *within, dfl_search_request *request, dfl_arena *work,
                         dfl_search_result *found)
{
    dfl_front_alone *alone = DFL_NEW(work, dfl_front_alone);

    *found = *dfl_fill_search(fill, work, within, request);
    if (!dfl_fill_has_result(found) || found->n > 0 || found->stopped != DFL_STOP_NONE)
        return;
    /* the Pareto set may have a mapping that meets the requirements */
    *alone = dfl_fill_single_objectives(fill, work, request->objective, false);
    request->mode = DFL_SEARCH_FRONT;
    request->alone = alone;
    *found = *dfl_fill_search(fill, work, within, request);
}

bool dfl_fill_kinds(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                    dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    dfl_search_request request = make_request(fill, objective, DFL_SEARCH_TOP_K);
    const dfl_mapping *within = dfl_required_within(solver->arena, m, objective->rooms);
    const size_t errors = dfl_sink_errors(fill->sink);
    dfl_search_result found;
    dfl_filled one;
    double bound;
    dfl_arena *work;
    bool is_found, is_short, is_wider;

    if (!objective->native)
        return dfl_fill_refuse_figure(fill, objective, m);
    if (objective->n_terms > 1)
        return refuse_kinds(fill, "`--top` ranks kinds by one figure, and this mapping minimizes several",
                            "minimize one expression over `energy` and `latency`, or remove `--top`");
    if (dfl_system_without_rows(solver->arena, m->system) != m->system)
        return refuse_kinds(fill, "a memory of the system has `access`, and the search counts elements, not rows",
                            "remove `--top`, or leave `access` out");
    if (dfl_mapping_has_open_branches(m))
        return refuse_kinds(fill, "`--top` is for mappings without written branches", "remove `--top`, or open all lines");
    work = dfl_arena_new(solver->budget);
    request.top = solver->options->top;
    request.best = solver->best;
    search_kinds(fill, within, &request, work, &found);
    is_short = is_cut_short(fill, &found);
    bound = dfl_fill_has_result(&found) ? found.lower_bound : NAN;
    is_found = dfl_fill_has_result(&found) && found.n > 0;
    is_wider = (is_found || is_short) && solver->best == NULL && find_alone(fill, objective, m, search, 1, &found, &one) &&
               dfl_mapper_add(work, solver->names, objective, DFL_SEARCH_TOP_K, one.mapping, &found);
    is_found |= is_wider;
    if (is_wider)
        bound = bound_alone(fill, objective, &one);
    if (dfl_fill_has_result(&found))
        *stopped = found.stopped;
    else if (is_short)
        dfl_budget_stop(solver->budget, found.stopped);
    if (is_found)
        add_kinds(fill, objective, m, &found, bound, is_wider);
    dfl_arena_free(work);
    if (!is_found && fill->required.n > 0 && dfl_sink_errors(fill->sink) == errors)
        dfl_fill_report_violated(fill, &(dfl_filled){ .given = m }, within, &request, *stopped);
    return is_found;
}
