/*
 * The best plan over chips among the amounts that its lines leave open. Every combination of amounts is a plan; those that leave
 * chips without work, or whose parts pass an axis, are left out. The others are evaluated, so the best of them is proven.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "solve/solve_internal.h"
#include "support/limits.h"

/* An open amount and what it may be. */
typedef struct {
    uint32_t line;                     /* of the root */
    dfl_by by;
    int64_t *amounts; uint32_t n;      /* ascending */
    uint32_t at;                       /* index of the present amount */
} open_amount;

/* A plan that was evaluated. */
typedef struct {
    double *terms;                     /* of the objective */
    uint32_t *amounts;                 /* [hole]: index of its amount */
} ranked_plan;

typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    const dfl_mapping *given;
    open_amount *holes; uint32_t n_holes;
    ranked_plan *best; uint32_t n_best, most; /* the best plans, best first */
    uint64_t evaluated, refused, pruned;
} plan_search;

/* ---- what is open ---- */

/* The divisors of `of` that are at most `most`, ascending. */
static void list_divisors(dfl_arena *arena, int64_t of, int64_t most, open_amount *out)
{
    uint32_t n = 0;

    for (int64_t d = 1; d <= of / d; d++)
        n += of % d == 0 ? 2 : 0;
    out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0 && d <= most)
            out->amounts[out->n++] = d;
    for (int64_t d = (int64_t)sqrt((double)of) + 1; d > 0; d--)
        if (of % d == 0 && of / d > d && of / d > (out->n > 0 ? out->amounts[out->n - 1] : 0) && of / d <= most)
            out->amounts[out->n++] = of / d;
}

/* The amounts of a hole: as the file lists them, else divisors: of the axis for parts of a spatial line, else of the rank. */
static void list_amounts(const plan_search *s, const dfl_line *line, open_amount *out)
{
    dfl_arena *arena = s->fill->solver->arena;
    const dfl_mapping *m = s->given;
    int64_t extent = m->workload->ranks[line->rank].extent;

    out->by = line->hole->by;
    if (line->hole->choices != NULL) {
        out->n = line->hole->n_choices;
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, out->n);
        memcpy(out->amounts, line->hole->choices, out->n * sizeof *out->amounts);
        return;
    }
    if (line->kind == DFL_LINE_SPATIAL && out->by == DFL_BY_PARTS)
        list_divisors(arena, m->system->axes[line->axis].size, extent, out);
    else
        list_divisors(arena, extent, extent, out);
}

/* Collects the holes. False after a report: there are more than DFL_PLAN_COMBINATIONS combinations. */
static bool find_holes(plan_search *s)
{
    const dfl_body *root = s->given->root;
    double combinations = 1;

    s->holes = DFL_NEW_ARRAY(s->fill->solver->arena, open_amount, root->n_lines);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        if (root->lines[i].kind == DFL_LINE_KEEP || root->lines[i].by != DFL_BY_HOLE)
            continue;
        s->holes[s->n_holes].line = i;
        list_amounts(s, &root->lines[i], &s->holes[s->n_holes]);
        combinations *= s->holes[s->n_holes++].n;
    }
    if (combinations <= DFL_PLAN_COMBINATIONS)
        return true;
    dfl_diag *d = dfl_report(s->fill->sink, DFL_LIMIT_COUNT, s->given->span,
                             "the open amounts of this plan have %.3g combinations, and %d are tried", combinations,
                             DFL_PLAN_COMBINATIONS);
    dfl_diag_help(s->fill->sink, d, "list the amounts to try, as in `layer/? in {4, 8, 16}`, or write some of them");
    return false;
}

/* ---- one plan ---- */

/* The plan with the present amounts, in `arena`. */
static dfl_mapping *make_plan(dfl_arena *arena, const plan_search *s)
{
    dfl_mapping *m = dfl_mapping_copy(arena, s->given);

    for (uint32_t h = 0; h < s->n_holes; h++) {
        dfl_line *line = &m->root->lines[s->holes[h].line];
        line->by = s->holes[h].by;
        line->amount = s->holes[h].amounts[s->holes[h].at];
    }
    return m;
}

/* Puts an evaluated plan among the best ones. Equal plans stay in the order of their amounts. */
static void rank_plan(plan_search *s, const double *terms)
{
    const uint32_t n_terms = dfl_objective_count(s->objective);
    uint32_t at = s->n_best;
    ranked_plan last;

    while (at > 0 && dfl_objective_less(s->objective, terms, s->best[at - 1].terms))
        at--;
    if (at == s->most)
        return;
    last = s->best[s->n_best < s->most ? s->n_best : s->most - 1];
    for (uint32_t i = s->n_best < s->most ? s->n_best : s->most - 1; i > at; i--)
        s->best[i] = s->best[i - 1];
    memcpy(last.terms, terms, n_terms * sizeof *terms);
    for (uint32_t h = 0; h < s->n_holes; h++)
        last.amounts[h] = s->holes[h].at;
    s->best[at] = last;
    s->n_best += s->n_best < s->most;
}

/* Evaluates the plan with the present amounts. False after a report: the objective has no value. */
static bool try_plan(plan_search *s)
{
    dfl_arena *work = dfl_arena_new(s->fill->solver->budget);
    dfl_sink *quiet = dfl_sink_new(work, s->fill->solver->sources);
    const dfl_mapping *m = make_plan(work, s);
    const dfl_result *result = NULL;
    double terms[DFL_OBJECTIVE_TERMS];
    bool is_fine = true;

    dfl_sink_limit(quiet, 0);
    if (!dfl_plan_uses_all(work, quiet, s->fill->solver->names, m)) {
        s->pruned++;
    } else {
        result = dfl_plan_evaluate(work, quiet, s->fill->solver->names, m);
        s->evaluated++;
        if (result == NULL || !isfinite(result->seconds) || !dfl_objective_met(s->objective, result, NULL))
            s->refused++;
        else if ((is_fine = dfl_objective_terms(s->objective, result, terms)))
            rank_plan(s, terms);
    }
    dfl_arena_free(work);
    return is_fine;
}

/* The next combination of amounts; false behind the last. */
static bool next_amounts(plan_search *s)
{
    for (uint32_t h = s->n_holes; h-- > 0;) {
        if (++s->holes[h].at < s->holes[h].n)
            return true;
        s->holes[h].at = 0;
    }
    return false;
}

/* ---- all plans ---- */

static bool is_over(const plan_search *s, dfl_stop *stopped)
{
    const dfl_search_limits *limits = &s->fill->limits;
    dfl_budget *budget = s->fill->solver->budget;

    if (limits->evaluations > 0 && s->evaluated >= limits->evaluations)
        *stopped = DFL_STOP_EVALUATIONS;
    else if (limits->deadline > 0 && dfl_budget_time(budget) > limits->deadline)
        *stopped = DFL_STOP_TIME;
    else if (!dfl_budget_ok(budget))
        *stopped = budget->why;
    return *stopped != DFL_STOP_NONE;
}

/* The summary of the search, for the plan at place `i` of the best. */
static const dfl_search_summary *summarize_plan(const plan_search *s, uint32_t i, dfl_stop stopped)
{
    const dfl_solver *solver = s->fill->solver;
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);

    *summary = dfl_fill_start_summary(s->fill, s->objective);
    summary->value = s->best[i].terms[0];
    summary->optimal = stopped == DFL_STOP_NONE;
    summary->lower_bound = stopped == DFL_STOP_NONE ? s->best[0].terms[0] : NAN;
    summary->evaluated = s->evaluated;
    summary->pruned = s->pruned;
    summary->refused = s->refused;
    summary->space = "every combination of the open amounts that gives work to all chips, evaluated one by one; open amounts are "
                     "those that the file lists, else divisors of the axis or of the rank";
    summary->stopped = dfl_fill_stop(s->fill, stopped);
    if (!summary->optimal)
        summary->unproven = "not all combinations were tried";
    if (s->most > 1) {
        summary->top_position = i + 1;
        summary->top_value = s->best[0].terms[0];
    }
    return summary;
}

/* Reports that no combination is a plan that can be run. */
static void report_none(plan_search *s)
{
    dfl_fill *fill = s->fill;
    dfl_diag *d = dfl_report(fill->sink, DFL_EVAL_INFEASIBLE, s->given->span,
                             "none of the %llu plans with work for all chips can be run", (unsigned long long)s->evaluated);

    if (s->evaluated == 0)
        dfl_diag_help(fill->sink, d, "no combination of the open amounts multiplies to the instances of every axis");
    else
        dfl_diag_help(fill->sink, d, "write the amounts of one plan to learn what it lacks");
}

bool dfl_fill_plan(dfl_fill *fill, const dfl_objective *objective, dfl_stop *stopped)
{
    dfl_arena *arena = fill->solver->arena;
    uint32_t next = 0;
    plan_search s = { .fill = fill, .objective = objective, .given = fill->item.mapping,
                      .most = fill->solver->options->top > 0 ? fill->solver->options->top : 1 };

    if (!find_holes(&s))
        return false;
    *stopped = DFL_STOP_NONE;
    s.best = DFL_NEW_ARRAY(arena, ranked_plan, s.most);
    for (uint32_t i = 0; i < s.most; i++) {
        s.best[i].terms = DFL_NEW_ARRAY(arena, double, dfl_objective_count(objective));
        s.best[i].amounts = DFL_NEW_ARRAY(arena, uint32_t, (size_t)s.n_holes + 1);
    }
    do
        if (!try_plan(&s))
            return false;
    while (!is_over(&s, stopped) && next_amounts(&s));
    if (s.n_best == 0) {
        report_none(&s);
        return false;
    }
    for (uint32_t i = 0; i < s.n_best; i++) {
        const dfl_search_summary *summary = summarize_plan(&s, i, *stopped);

        for (uint32_t h = 0; h < s.n_holes; h++)
            s.holes[h].at = s.best[i].amounts[h];
        dfl_fill_add(fill->solver, s.given, make_plan(arena, &s), summary, &next);
    }
    return true;
}
