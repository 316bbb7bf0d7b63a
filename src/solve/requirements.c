/* The requirements of a mapping: searches for other mappings if the best one violates a requirement, and the report if no
   mapping found meets them. */
#include "solve/solve_internal.h"

#include <math.h>

#include "mapper/conflict/conflict.h"
#include "mapper/problem/evaluate.h"
#include "model/model.h"
#include "report/check/check.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Whether all paths of an expression start with `name`; true for NULL, which has no paths. */
static bool names_only(const dfl_val *v, dfl_sym name)
{
    if (v == NULL)
        return true;
    if (v->n_path > 0)
        return v->path[0] == name;
    for (uint32_t i = 0; i < v->n_args; i++)
        if (!names_only(v->args[i], name))
            return false;
    return true;
}

void dfl_fill_find_requirements(dfl_fill *fill)
{
    const dfl_program *p = fill->solver->program;
    dfl_sym name = fill->item.mapping->name;

    for (uint32_t i = 0; i < p->n_checks; i++) {
        const dfl_check *c = &p->checks[i];

        if (c->kind == DFL_CHECK_REQUIRE &&
            (c->scope == name || (names_only(c->expr, name) && names_only(c->exactly, name) && names_only(c->of, name)))) {
            DFL_PUSH(fill->solver->arena, &fill->required, c);
            DFL_PUSH(fill->solver->arena, &fill->required_at, c->span);
            DFL_PUSH(fill->solver->arena, &fill->asked, dfl_required_read(fill->solver->names, fill->item.mapping, c));
            fill->has_requirement |= fill->asked.at[fill->asked.n - 1].kind != DFL_REQUIRED_ROOM;
        }
    }
}

/* Whether a figure of an expression is called `name`. */
static bool has_figure(const dfl_val *v, dfl_sym name)
{
    if (v == NULL)
        return false;
    if (v->n_path > 0)
        return v->path[v->n_path - 1] == name;
    for (uint32_t i = 0; i < v->n_args; i++)
        if (has_figure(v->args[i], name))
            return true;
    return false;
}

const dfl_mapping *dfl_fill_ask_bandwidth(const dfl_fill *fill, const dfl_mapping *m)
{
    static const char NAME[] = "bandwidth_required";
    const dfl_sym name = dfl_intern_find(fill->solver->names, NAME, sizeof NAME - 1);
    dfl_mapping *out;

    for (size_t i = 0; i < fill->required.n; i++) {
        const dfl_check *c = fill->required.at[i];
        if (!has_figure(c->expr, name) && !has_figure(c->exactly, name) && !has_figure(c->of, name))
            continue;
        out = DFL_NEW(fill->solver->arena, dfl_mapping);
        *out = *m;
        out->asks_bandwidth = true;
        return out;
    }
    return m;
}

dfl_mapping *dfl_fill_copy(const dfl_solver *solver, const dfl_mapping *found, const dfl_mapping *given)
{
    dfl_mapping *out = dfl_mapping_copy(solver->arena, found);

    out->system = given->system;
    return out;
}

const dfl_result *dfl_fill_costs(const dfl_fill *fill, const dfl_mapping *m)
{
    dfl_arena *after = fill->solver->after;
    const dfl_paths *paths = dfl_paths_resolve(after, fill->sink, fill->solver->names, m);
    dfl_model *model = paths ? dfl_model_prepare(after, fill->sink, fill->solver->names, paths) : NULL;
    const dfl_result *costs = model ? dfl_model_run(model, after) : NULL;

    if (costs)
        dfl_model_require_bandwidths(model, after);
    return costs;
}

const dfl_result *dfl_fill_costs_until(const dfl_fill *fill, const dfl_mapping *m, uint64_t steps, double deadline)
{
    dfl_budget *session = fill->solver->budget, *after = dfl_arena_budget(fill->solver->after);
    dfl_arena *reports = dfl_arena_new(session);
    dfl_fill quietly = *fill;
    const dfl_result *costs;

    quietly.sink = dfl_sink_quiet(reports);
    after->steps_used = 0;
    after->steps_limit = steps;
    if (dfl_budget_ok(session))
        after->cancel = session->cancel;
    after->deadline = deadline;
    costs = dfl_fill_costs(&quietly, m);
    after->steps_limit = 0;
    after->cancel = NULL;
    after->deadline = 0;
    after->why = DFL_STOP_NONE;
    dfl_arena_free(reports);
    return costs;
}

const dfl_result *dfl_fill_deciding_costs(const dfl_fill *fill, dfl_filled *out)
{
    const bool is_timed = fill->limits.deadline > 0 && fill->solver->budget->work == NULL;

    if (out->costs == NULL)
        out->costs = is_timed ? dfl_fill_costs_until(fill, out->mapping, 0, fmax(fill->limits.deadline, fill->judged_until))
                              : dfl_fill_costs(fill, out->mapping);
    return out->costs;
}

double dfl_fill_value(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m)
{
    dfl_budget *session = fill->solver->budget, budget = dfl_budget_fresh(session);
    const double now = dfl_budget_time(session);
    const double whole = fill->judged_until > 0 ? fill->judged_until : fill->limits.deadline;
    double value;

    if (whole <= 0 && (budget.steps_limit == 0 || budget.steps_limit > DFL_JUDGE_STEPS))
        budget.steps_limit = DFL_JUDGE_STEPS;
    if (whole > 0)
        budget.deadline = now + fmax(whole - now, DFL_GRACE_LEAST_SECONDS) / 2;
    value = dfl_mapping_value(&budget, fill->solver->names, m, objective);
    (void)dfl_budget_add_steps(session, budget.steps_used);
    return value;
}

/* ---- searches for one figure each ---- */

/* The objective `o` with one expression over energy and latency in place of its terms; NULL = energy * latency. */
static dfl_objective single_objective(const dfl_objective *o, const dfl_val *const *term)
{
    dfl_objective out = *o;

    out.terms = term;
    out.n_terms = term != NULL ? 1 : 0;
    out.native = true;
    out.room = DFL_NONE;
    return out;
}

/* A single objective without requirements: the caller checks the requirements on the mapping found. */
static dfl_objective unrestricted_objective(const dfl_objective *o, const dfl_val *const *term)
{
    dfl_objective out = single_objective(o, term);

    out.n_required = 0;
    return out;
}

dfl_front_alone dfl_fill_single_objectives(const dfl_fill *fill, dfl_arena *arena, const dfl_objective *o, bool terms)
{
    dfl_objective *all = DFL_NEW_ARRAY(arena, dfl_objective, (size_t)o->n_terms + fill->asked.n + 2);
    uint32_t n = 0, figures = 0;
    bool product = o->free, other = false;

    for (uint32_t i = 0; i < o->n_terms && terms; i++)
        if (!dfl_objective_is_room(o, i)) {
            all[n] = single_objective(o, &o->terms[i]);
            product |= dfl_objective_is_product(&all[n++]);
        }
    if (n > 1 && !product)
        all[n++] = single_objective(o, NULL);
    for (size_t i = 0; i < fill->asked.n; i++) {
        other |= fill->asked.at[i].kind == DFL_REQUIRED_OTHER;
        if (fill->asked.at[i].kind == DFL_REQUIRED_FIGURE) {
            all[n++] = unrestricted_objective(o, fill->asked.at[i].figure);
            figures++;
        }
    }
    if (figures > 1 && !o->free)
        all[n++] = unrestricted_objective(o, NULL);
    return (dfl_front_alone){ all, n, other };
}

/* ---- the best of a front ---- */

/* Whether the terms `a` are lexicographically less than the terms `b`; terms within DFL_VALUE_TOLERANCE are equal. */
static bool is_before(const dfl_objective *o, const double *a, const double *b)
{
    for (uint32_t i = 0; i < dfl_objective_count(o); i++)
        if (fabs(a[i] - b[i]) > DFL_VALUE_TOLERANCE * fabs(b[i]))
            return a[i] < b[i];
    return false;
}

bool dfl_fill_choose(dfl_fill *fill, const dfl_mapping *within, const dfl_search_request *request, const dfl_result *best,
                     dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_arena *work = dfl_arena_new(fill->solver->budget);
    dfl_sink *quiet = dfl_sink_quiet(work); /* drops reports: a search without a better mapping is no error */
    const dfl_objective *objective = request->objective;
    dfl_front_alone alone = dfl_fill_single_objectives(fill, work, objective, false);
    dfl_search_request front = *request;
    double terms[DFL_OBJECTIVE_TERMS];
    const dfl_search_result *found;
    bool is_ended, is_found;

    if (best != NULL)
        alone.n = 0;
    front.mode = DFL_SEARCH_FRONT;
    front.front_limit =
        best != NULL ? (1 + DFL_VALUE_TOLERANCE) * dfl_objective_value(objective, best->joules, best->seconds) : 0;
    front.alone = &alone;
    front.limits.evaluations = dfl_evaluations_left(request->limits.evaluations, summary->evaluated);
    found = dfl_mapper_search(work, quiet, fill->solver->names, within, &front);
    is_ended = found->status == DFL_SEARCH_OPTIMAL || found->status == DFL_SEARCH_NOT_PROVEN;
    is_found = is_ended && found->n > 0;
    summary->optimal &= is_found;
    if (is_ended)
        *stopped = found->stopped;
    if (is_found) {
        if (best == NULL || !dfl_objective_terms(objective, best, terms) || is_before(objective, found->at[0].terms, terms))
            dfl_filled_set(out, dfl_fill_copy(fill->solver, found->at[0].mapping, out->given), NULL);
        summary->evaluated += found->evaluated;
        summary->pruned += found->pruned;
        summary->optimal &= front.front_limit > 0 && found->status == DFL_SEARCH_OPTIMAL;
    }
    dfl_arena_free(work);
    return is_found;
}

/* ---- the report of violated requirements ---- */

/* The change of a violated requirement that would let a mapping meet it. */
typedef enum { CHANGE_NONE, CHANGE_UP, CHANGE_DOWN, CHANGE_OTHER } change;

/* The direction in which the bound of a requirement must move to relax the requirement. */
static change change_of(const dfl_check *c)
{
    const dfl_val *e = c->expr;
    const bool less = e->kind == DFL_VAL_LT || e->kind == DFL_VAL_LE, more = e->kind == DFL_VAL_GT || e->kind == DFL_VAL_GE;

    if (c->exactly != NULL || c->within != NULL || (!less && !more))
        return CHANGE_OTHER;
    if (e->args[1]->kind == DFL_VAL_QUANTITY)
        return less ? CHANGE_UP : CHANGE_DOWN;
    if (e->args[0]->kind == DFL_VAL_QUANTITY)
        return less ? CHANGE_DOWN : CHANGE_UP;
    return CHANGE_OTHER;
}

static const char *change_text(change c)
{
    return c == CHANGE_UP ? "raise the bound" : c == CHANGE_DOWN ? "lower the bound" : "change the requirement";
}

/* Text on a violated requirement: "264ns was found, the lower bound is 196ns", or for a figure that no search minimizes
   "0.4 >= 0.99 is false for the best mapping found". NULL if the best mapping meets the requirement. */
static const char *violation_text(const dfl_fill *fill, const dfl_check *check, const dfl_result *costs,
                                  const dfl_requirement_known *known)
{
    dfl_arena *arena = fill->solver->arena;
    dfl_result_item item = fill->item;
    dfl_results one = fill->one; /* the item of a stage, which copies the state, is another than that of `fill->one` */
    const char *text;

    item.result = costs;
    one.items = &item;
    if (costs != NULL && !dfl_check_is_violated(&one, check))
        return NULL;
    text = costs != NULL ? dfl_check_violation(&one, check) : NULL;
    if (known->found != NULL)
        text = dfl_arena_printf(arena, "%s was found", known->found);
    else if (costs != NULL)
        text = text == NULL ? "the best mapping found does not meet this"
                            : dfl_arena_printf(arena, "%s for the best mapping found", text);
    if (known->bound == NULL)
        return text;
    return dfl_arena_printf(arena, "%s%sthe lower bound is %s", text != NULL ? text : "", text != NULL ? ", " : "", known->bound);
}

void dfl_fill_report_violated(dfl_fill *fill, const dfl_filled *out, const dfl_mapping *within, const dfl_search_request *request,
                              dfl_stop stopped)
{
    const dfl_solver *solver = fill->solver;
    const dfl_result *costs = out->costs != NULL ? out->costs : out->mapping != NULL ? dfl_fill_costs(fill, out->mapping) : NULL;
    dfl_requirement_known *known = DFL_NEW_ARRAY(solver->arena, dfl_requirement_known, fill->required.n + 1);
    const char *instead = NULL, *way;
    change all = CHANGE_NONE;
    dfl_diag *d;

    if (stopped == DFL_STOP_NONE &&
        dfl_conflict_requirements(fill->sink, solver->names, within, request, fill->asked.at, solver->budget, known))
        return;
    d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, out->given->hole_span,
                   "the search found no mapping that meets the requirements of `%s`",
                   dfl_sym_text(solver->names, out->given->name));
    dfl_diag_here(fill->sink, d, stopped != DFL_STOP_NONE ? "the search was stopped"
                                                       : "the search could not decide whether one exists");
    for (size_t i = 0; i < fill->required.n; i++) {
        const change one = change_of(fill->required.at[i]);
        const char *text = violation_text(fill, fill->required.at[i], costs, &known[i]);
        if (text != NULL)
            dfl_diag_label(fill->sink, d, fill->required_at.at[i], "%s", text);
        else if (costs != NULL)
            continue;
        instead = all == CHANGE_NONE ? known[i].found : NULL;
        all = all == CHANGE_NONE || all == one ? one : CHANGE_OTHER;
    }
    way = instead != NULL ? dfl_arena_printf(solver->arena, "allow %s", instead) : change_text(all);
    if (stopped != DFL_STOP_NONE)
        dfl_diag_help(fill->sink, d, "raise the limit of the search, or %s", way);
    else
        dfl_diag_help(fill->sink, d, "%s, or write some of the lines with `?` for tile sizes: then `require` "
                      "restricts the search", way);
}
