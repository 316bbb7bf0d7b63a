/*
 * The best plan over chips among the amounts that its lines leave open. Every combination of amounts is a plan. A class of plans
 * is left out whole if it leaves chips without work, or if what its chips hold for sure exceeds their memory. The others are
 * evaluated in the order of their lower bounds, until the next bound exceeds the best value: then the best plan is proven. A
 * plan that may be legal, but is not evaluated (E0609), may be better: with one of them the best plan is not proven.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "solve/certificate.h"
#include "solve/plan_ranking.h"
#include "solve/plan_space.h"
#include "solve/solve_internal.h"
#include "support/json_write.h"
#include "support/limits.h"
#include "support/vec.h"

enum {
    FIRST = 8,    /* candidates that are tried after a stop, some milliseconds each */
    COMMON = 512, /* divisions and passes whose exchanges are kept, some 50 kB each */
};

/* A plan that may be better than the best ones. */
typedef struct {
    double floor;                      /* lower bound of the first term of the objective */
    double seconds;                    /* lower bound of the latency */
    uint64_t number;                   /* of the combination: the amounts as digits, the last hole as the lowest one */
} plan_candidate;

typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    const dfl_mapping *given;
    const dfl_mapping *divided_by;     /* `given` with the present decisions that divide */
    dfl_plan_division *division;
    dfl_plan_space space;
    DFL_VEC(plan_candidate) candidates;
    dfl_plan_ranking ranking;
    dfl_arena *work;                   /* of one plan; reset before each */
    dfl_arena *common_arena;           /* of `common`; reset for each division */
    dfl_plan_common *common;           /* what the lower bounds of a division share */
    uint64_t divided;                  /* combinations that give work to all chips */
    uint64_t evaluated, refused, pruned;
    uint64_t unevaluated;              /* of `refused`: plans that are legal for all that is known, as after E0609 */
    double unevaluated_floor;          /* lower bound of the first term for all of them; INFINITY = there is none */
    uint64_t first_unevaluated;        /* the combination that was the first of them */
    uint64_t first_illegal;            /* the first combination that was refused after an evaluation; UINT64_MAX = none was */
    uint64_t exceeding;                /* of `divided`: plans that exceed a memory by their lower bound */
    double nearest_fill;               /* least share of its size that a memory of them holds; INFINITY = there is none */
    uint64_t nearest;                  /* the combination with this share, or the smallest pass of its division */
    dfl_stop stopped;
    dfl_strbuf text;                   /* JSON of the divisions, for a certificate */
    dfl_json_writer *json;             /* NULL = no certificate is asked for */
} plan_search;

/* ---- one plan ---- */

/* Counts plans that are refused with a code; the present amounts are those of one of them, and `floor` is a bound of all. */
static void count_refused(plan_search *s, uint64_t plans, dfl_code code, double floor)
{
    s->refused += plans;
    if (dfl_code_is_illegal_mapping(code)) {
        if (s->first_illegal == UINT64_MAX)
            s->first_illegal = dfl_plan_space_number(&s->space);
        return;
    }
    if (s->unevaluated == 0)
        s->first_unevaluated = dfl_plan_space_number(&s->space);
    s->unevaluated += plans;
    s->unevaluated_floor = fmin(s->unevaluated_floor, floor);
}

/* The report about the first plan that is not evaluated, in the arena of the solver; NULL = there is none. */
static const char *why_unevaluated(plan_search *s)
{
    dfl_arena *arena = s->fill->solver->arena;
    dfl_sink *sink = dfl_sink_new(arena, s->fill->solver->sources);

    if (s->unevaluated == 0)
        return NULL;
    dfl_plan_space_set(&s->space, s->first_unevaluated);
    if (dfl_plan_evaluate(arena, sink, s->fill->solver->names, dfl_plan_space_make(arena, &s->space), s->fill->solver->memo) ==
            NULL && dfl_sink_count(sink) > 0)
        return dfl_sink_at(sink, 0)->message;
    return "a limit of the evaluation";
}

/* Evaluates the plan of a candidate in the arena `work`. A plan whose evaluation is stopped counts as not evaluated: its figures
   are incomplete. False after a report: the objective has no value. */
static bool try_plan(plan_search *s, dfl_arena *work, plan_candidate candidate)
{
    dfl_sink *quiet;
    const dfl_result *result;
    double terms[DFL_OBJECTIVE_TERMS];
    bool is_fine = true;

    dfl_arena_reset(work);
    quiet = dfl_sink_new(work, s->fill->solver->sources);
    dfl_sink_limit(quiet, 0);
    dfl_plan_space_set(&s->space, candidate.number);
    result = dfl_plan_evaluate(work, quiet, s->fill->solver->names, dfl_plan_space_make(work, &s->space), s->fill->solver->memo);
    if (dfl_arena_budget(work) != NULL && !dfl_budget_ok(dfl_arena_budget(work)))
        return true;
    s->evaluated++;
    if (result == NULL)
        count_refused(s, 1, dfl_sink_last(quiet), candidate.floor);
    else if (!isfinite(result->seconds) || !dfl_objective_met(s->objective, result, NULL))
        s->refused++;
    else if ((is_fine = dfl_objective_terms(s->objective, result, terms)))
        dfl_plan_ranking_add(&s->ranking, terms, candidate.number);
    return is_fine;
}

/* Sets `stopped` if a limit ends the search. */
static bool is_over(plan_search *s)
{
    const dfl_search_limits *limits = &s->fill->limits;
    dfl_budget *budget = s->fill->solver->budget;

    if (limits->evaluations > 0 && s->evaluated >= limits->evaluations)
        s->stopped = DFL_STOP_EVALUATIONS;
    else if (limits->deadline > 0 && dfl_budget_time(budget) > limits->deadline)
        s->stopped = DFL_STOP_TIME;
    else if (!dfl_budget_ok(budget))
        s->stopped = budget->why;
    return s->stopped != DFL_STOP_NONE;
}

/* ---- classes ---- */

static bool is_temporal(const plan_search *s, uint32_t hole) { return s->space.holes[hole].kind == DFL_OPEN_TEMPORAL; }

/* The lower bound of the first term of the objective from one of the latency; -INFINITY = none is known. */
static double floor_of_value(const plan_search *s, double seconds)
{
    if (!s->objective->native)
        return -INFINITY;
    return dfl_objective_value(s->objective, dfl_system_leakage(s->given->system) * seconds, seconds);
}

/* The lower bounds of the plan with the present amounts, or of its class of `plans` plans. Counts them if they are refused. */
static dfl_plan_floor find_floor(plan_search *s, bool is_class, uint64_t plans)
{
    const dfl_plan_key key = dfl_plan_space_key(&s->space);
    dfl_sink *quiet;
    dfl_plan_floor out;
    dfl_arena *kept;

    dfl_arena_reset(s->work);
    quiet = dfl_sink_new(s->work, s->fill->solver->sources);
    dfl_sink_limit(quiet, 0);
    kept = dfl_plan_common_arena(s->common, key, is_class);
    out = dfl_plan_floor_find(s->work, quiet, s->fill->solver->names,
                              dfl_plan_space_make(kept != NULL ? kept : s->work, &s->space), s->common, key, is_class);
    if (!out.runs)
        count_refused(s, plans, dfl_sink_last(quiet), -INFINITY);
    return out;
}

/* Sets the amounts of temporal lines to those of the smallest pass: the fewest values, or the most parts. */
static void set_smallest_pass(plan_search *s)
{
    for (uint32_t h = 0; h < s->space.n_holes; h++)
        if (is_temporal(s, h))
            s->space.holes[h].at = s->space.holes[h].by == DFL_BY_PARTS ? s->space.holes[h].n - 1 : 0;
}

/* Writes a division for the certificate: the split homes, the divided ranks and the amounts of spatial lines, what cuts all its
   plans, and the least latency. */
static void write_division(plan_search *s, const char *cut, double least)
{
    if (s->json == NULL)
        return;
    dfl_json_object(s->json);
    dfl_json_key(s->json, "amounts");
    dfl_json_array(s->json);
    for (uint32_t h = 0; h < s->space.n_holes; h++)
        if (s->space.holes[h].kind <= DFL_OPEN_SPATIAL)
            dfl_json_int(s->json, s->space.holes[h].amounts[s->space.holes[h].at]);
    dfl_json_end_array(s->json);
    if (!isfinite(least)) {
        dfl_json_key(s->json, "cut");
        dfl_json_string(s->json, cut);
    }
    dfl_json_key(s->json, "least");
    if (isfinite(least))
        dfl_json_double(s->json, least);
    else
        dfl_json_null(s->json);
    dfl_json_end_object(s->json);
}

/* Counts plans that exceed a memory; the present amounts are those of one of them. */
static void count_exceeding(plan_search *s, uint64_t plans, double fill)
{
    s->pruned += plans;
    s->exceeding += plans;
    if (fill >= s->nearest_fill)
        return;
    s->nearest_fill = fill;
    s->nearest = dfl_plan_space_number(&s->space);
}

/* Adds the plans of a division with the present decisions that may run; `plans` = their number. Lowers `*least` to their lower
   bounds of the latency. False after a report. */
static bool add_class(plan_search *s, uint64_t plans, double *least, const char **cut)
{
    dfl_plan_floor floor;

    set_smallest_pass(s);
    floor = find_floor(s, true, plans);
    if (!floor.runs || !floor.fits) {
        if (floor.runs)
            count_exceeding(s, plans, floor.fill);
        *cut = *cut == NULL ? floor.runs ? "memory" : "refused" : "memory or refused";
        return true;
    }
    *cut = "memory or refused";
    dfl_plan_space_reset(&s->space, DFL_OPEN_TEMPORAL);
    do {
        floor = find_floor(s, false, 1);
        *least = floor.runs && floor.fits ? fmin(*least, floor.seconds) : *least;
        if (!floor.runs)
            continue;
        if (!floor.fits)
            count_exceeding(s, 1, floor.fill);
        else if (s->candidates.n == DFL_PLAN_CANDIDATES)
            return dfl_plan_space_report_many(s->fill->sink, s->given, "plans that may run", DFL_PLAN_CANDIDATES);
        else
            DFL_PUSH(s->fill->solver->arena, &s->candidates,
                     ((plan_candidate){ floor_of_value(s, floor.seconds), floor.seconds, dfl_plan_space_number(&s->space) }));
    } while (!is_over(s) && dfl_plan_space_next(&s->space, DFL_OPEN_TEMPORAL));
    return true;
}

/* Adds the plans of a division that may run, with each combination of the decisions. False after a report. */
static bool add_division(plan_search *s, uint64_t plans)
{
    const uint64_t per_class = plans / dfl_plan_space_count(&s->space, DFL_OPEN_OTHER);
    const char *cut = NULL;
    double least = INFINITY;

    s->divided += plans;
    dfl_arena_reset(s->common_arena);
    s->common = dfl_plan_common_new(s->common_arena, s->fill->solver->memo);
    dfl_plan_space_reset(&s->space, DFL_OPEN_OTHER);
    do {
        if (!add_class(s, per_class, &least, &cut))
            return false;
    } while (!is_over(s) && dfl_plan_space_next(&s->space, DFL_OPEN_OTHER));
    write_division(s, cut, least);
    return true;
}

/* Puts all lines of the written loop that starts with spatial line `line`, with the amount of `with`. */
static bool put_loop(plan_search *s, uint32_t line, const dfl_line *with)
{
    const dfl_body *root = s->divided_by->root;
    const uint32_t end = dfl_line_end(root, line);

    for (; line < end; line++) {
        dfl_line one = root->lines[line];

        one.by = with->by;
        one.amount = with->amount;
        if (!dfl_plan_division_put(s->division, line, &one))
            return false;
    }
    return true;
}

/* Puts the spatial lines from `line` on, with all their amounts; `plans` = combinations of the holes of these lines and of those
   behind them. False after a report. */
static bool put_lines(plan_search *s, uint32_t line, uint32_t hole, uint64_t plans)
{
    const dfl_body *root = s->divided_by->root;
    dfl_line with;

    for (; line < root->n_lines && root->lines[line].kind != DFL_LINE_SPATIAL; line++)
        hole += hole < s->space.n_holes && s->space.holes[hole].line == line;
    if (line == root->n_lines) {
        if (dfl_plan_division_is_full(s->division))
            return add_division(s, plans);
        s->pruned += plans;
        return true;
    }
    with = root->lines[line];
    if (hole == s->space.n_holes || s->space.holes[hole].line != line) {
        if (put_loop(s, line, &with))
            return put_lines(s, dfl_line_end(root, line), hole, plans);
        s->pruned += plans;
        return true;
    }
    plans /= s->space.holes[hole].n;
    for (uint32_t i = 0; i < s->space.holes[hole].n && !is_over(s); i++) {
        s->space.holes[hole].at = i;
        with.by = s->space.holes[hole].by;
        with.amount = s->space.holes[hole].amounts[i];
        if (!put_loop(s, line, &with))
            s->pruned += plans;
        else if (!put_lines(s, dfl_line_end(root, line), hole + 1, plans))
            return false;
    }
    return true;
}

static int compare_candidates(const void *left, const void *right)
{
    const plan_candidate *a = left, *b = right;

    if (a->floor != b->floor)
        return a->floor < b->floor ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Raises the lower bounds of a candidate to those of its step with all exchanges, messages and waits, which takes less than an
   evaluation: layouts and exchanges are those of the plans with the same division and passes. */
static void sharpen(plan_search *s, plan_candidate *candidate)
{
    dfl_sink *quiet;
    double seconds;

    if (!s->objective->native)
        return;
    if (dfl_plan_common_size(s->common) >= COMMON) {
        dfl_arena_reset(s->common_arena);
        s->common = dfl_plan_common_new(s->common_arena, s->fill->solver->memo);
    }
    dfl_arena_reset(s->work);
    quiet = dfl_sink_new(s->work, s->fill->solver->sources);
    dfl_sink_limit(quiet, 0);
    dfl_plan_space_set(&s->space, candidate->number);
    seconds = dfl_plan_floor_sharpen(s->work, quiet, s->fill->solver->names, dfl_plan_space_make(s->work, &s->space), s->common,
                                     dfl_plan_space_key(&s->space));
    if (!(seconds > candidate->seconds)) /* also after a limit */
        return;
    candidate->seconds = seconds;
    candidate->floor = floor_of_value(s, seconds);
}

/* Whether a candidate cannot be among the plans that are listed, by lower bounds of the terms. */
static bool is_excluded(const plan_search *s, const plan_candidate *candidate)
{
    const double joules = dfl_system_leakage(s->given->system) * candidate->seconds;
    double floors[DFL_OBJECTIVE_TERMS];

    for (uint32_t i = 0; i < dfl_objective_count(s->objective); i++)
        floors[i] = s->objective->native ? dfl_objective_term(s->objective, i, joules, candidate->seconds) : -INFINITY;
    return dfl_plan_ranking_excludes(&s->ranking, floors);
}

/* Evaluates the candidates, those with the least bounds first. A bound above the worst of the best plans ends the search; a
   Pareto set leaves out each plan whose bounds are no better than a plan of the set. False after a report. */
static bool try_candidates(plan_search *s)
{
    dfl_arena_reset(s->common_arena);
    s->common = dfl_plan_common_new(s->common_arena, s->fill->solver->memo);
    if (s->candidates.n > 0)
        qsort(s->candidates.at, s->candidates.n, sizeof *s->candidates.at, compare_candidates);
    for (size_t i = 0; i < s->candidates.n; i++) {
        if (is_excluded(s, &s->candidates.at[i])) {
            s->pruned += s->ranking.is_front ? 1 : s->candidates.n - i;
            if (!s->ranking.is_front)
                return true;
            continue;
        }
        if (is_over(s))
            return true;
        if (s->ranking.plans.n > 0) /* else nothing is excluded */
            sharpen(s, &s->candidates.at[i]);
        if (is_excluded(s, &s->candidates.at[i]))
            s->pruned++;
        else if (!try_plan(s, s->work, s->candidates.at[i]))
            return false;
    }
    if (!dfl_budget_ok(s->fill->solver->budget)) /* in the evaluation of the last one */
        s->stopped = s->fill->solver->budget->why;
    return true;
}

/* Evaluates the first candidates, until one runs, in an arena that nothing stops, if a limit ended the search before any was
   evaluated. False after a report. */
static bool try_first(plan_search *s)
{
    dfl_arena *work;
    bool is_fine = true;

    if (s->ranking.plans.n > 0 || s->stopped == DFL_STOP_NONE || s->stopped == DFL_STOP_MEMORY)
        return true;
    work = dfl_arena_new(dfl_arena_budget(s->fill->solver->after));
    for (size_t i = 0; i < s->candidates.n && i < FIRST && s->ranking.plans.n == 0 && is_fine; i++)
        is_fine = try_plan(s, work, s->candidates.at[i]);
    dfl_arena_free(work);
    return is_fine;
}

/* ---- the result ---- */

/* The lower bound of the first term over all plans; NAN = none is known. */
static double find_bound(const plan_search *s)
{
    const double least = fmin(s->ranking.plans.at[0].terms[0], s->unevaluated_floor);

    return s->stopped == DFL_STOP_NONE && isfinite(least) ? least : NAN;
}

/* The summary of the search, for the plan at place `i` of the list. */
static const dfl_search_summary *summarize_plan(plan_search *s, uint32_t i)
{
    const dfl_solver *solver = s->fill->solver;
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);

    *summary = dfl_fill_start_summary(s->fill, s->objective);
    summary->value = s->ranking.plans.at[i].terms[0];
    summary->optimal = s->stopped == DFL_STOP_NONE && s->unevaluated == 0;
    summary->lower_bound = find_bound(s);
    summary->evaluated = s->evaluated;
    summary->pruned = s->pruned;
    summary->refused = s->refused;
    summary->space = solver->options->imperfect ? DFL_PLAN_SPACE_IMPERFECT : DFL_PLAN_SPACE;
    summary->stopped = dfl_fill_stop(s->fill, s->stopped);
    if (!summary->optimal)
        summary->unproven = dfl_proof_gaps_plans(solver->arena, s->stopped != DFL_STOP_NONE, s->unevaluated, why_unevaluated(s));
    if (s->ranking.is_front) {
        summary->objective = dfl_arena_printf(solver->arena, "pareto %s", s->given->front_text);
        summary->is_of_front = true;
        summary->space = dfl_arena_printf(solver->arena, "a Pareto set of %zu; %s", s->ranking.plans.n, summary->space);
    } else if (s->ranking.most > 1) {
        summary->top_position = i + 1;
        summary->top_value = s->ranking.plans.at[0].terms[0];
    }
    return summary;
}

/* Adds to a report what is wrong with combination `number`, which `what` describes. */
static void note_plan(plan_search *s, dfl_diag *d, const char *what, uint64_t number)
{
    dfl_fill *fill = s->fill;
    dfl_arena *arena = fill->solver->arena;
    dfl_sink *sink = dfl_sink_new(arena, fill->solver->sources);
    const dfl_intern *names = fill->solver->names;
    dfl_strbuf amounts;

    dfl_plan_space_set(&s->space, number);
    dfl_strbuf_init(&amounts, arena);
    for (uint32_t h = 0; h < s->space.n_holes; h++) {
        const char *text = dfl_plan_space_text(arena, names, &s->space, h);

        dfl_strbuf_printf(&amounts, "%s%s", *text != 0 && amounts.len > 0 ? ", " : "", text);
    }
    if (dfl_plan_evaluate(arena, sink, names, dfl_plan_space_make(arena, &s->space), s->fill->solver->memo) == NULL &&
        dfl_sink_count(sink) > 0)
        dfl_diag_note(fill->sink, d, "%s%s%s: %s", amounts.len > 0 ? what : "this plan", amounts.len > 0 ? ", " : "",
                      amounts.text, dfl_sink_at(sink, 0)->message);
}

/* Adds to a report which plan exceeds its memories least, and by how much, and why another one does not run. */
static void note_nearest(plan_search *s, dfl_diag *d)
{
    const dfl_fill *fill = s->fill;
    const uint64_t others = s->divided - s->exceeding - s->unevaluated;

    if (s->stopped != DFL_STOP_NONE)
        dfl_diag_note(fill->sink, d, "%llu of them exceed a memory whatever their exchanges need, and not all others were "
                      "tried", (unsigned long long)s->exceeding);
    else if (others == 0 && s->unevaluated == 0)
        dfl_diag_note(fill->sink, d, "all of them exceed a memory, whatever their exchanges need");
    else
        dfl_diag_note(fill->sink, d, "%llu of them exceed a memory whatever their exchanges need, and %llu do not run for other "
                      "reasons", (unsigned long long)s->exceeding, (unsigned long long)others);
    note_plan(s, d, "the one that needs least by its lower bound", s->nearest);
    if (s->first_illegal != UINT64_MAX && others > 0)
        note_plan(s, d, "the first of the others", s->first_illegal);
}

/* Adds to a report why no combination gives work to all chips: a written number of parts that does not divide its axis, or an
   axis without a line. */
static void help_undivided(const plan_search *s, dfl_diag *d)
{
    const dfl_mapping *m = s->given;
    const dfl_intern *names = s->fill->solver->names;
    const uint32_t bare = dfl_plan_undivided_axis(m);

    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];

        if (line->kind == DFL_LINE_SPATIAL && line->by == DFL_BY_PARTS && m->system->axes[line->axis].size % line->amount != 0) {
            dfl_diag_help(s->fill->sink, d, "`%s/%lld` on `%s`: %lld does not divide the %lld instances of the axis; "
                          "write a number that does",
                          dfl_sym_text(names, dfl_line_rank_name(m->workload, line)), (long long)line->amount,
                          dfl_sym_text(names, m->system->axes[line->axis].name), (long long)line->amount,
                          (long long)m->system->axes[line->axis].size);
            return;
        }
    }
    if (bare != DFL_NONE)
        dfl_diag_help(s->fill->sink, d, "no line divides a rank on `%s`, which has %lld instances: write `spatial r/? on %s;` "
                      "for a rank r, since `...` adds no lines over chips",
                      dfl_sym_text(names, m->system->axes[bare].name), (long long)m->system->axes[bare].size,
                      dfl_sym_text(names, m->system->axes[bare].name));
    else
        dfl_diag_help(s->fill->sink, d, "on each axis, the parts of its lines multiply to its instances: list other amounts");
}

/* Reports that no combination is a plan that can be run, or that none was found within the limits. */
static void report_none(plan_search *s)
{
    dfl_fill *fill = s->fill;
    const bool is_whole = s->stopped == DFL_STOP_NONE;
    dfl_diag *d = dfl_report(fill->sink, is_whole ? DFL_EVAL_INFEASIBLE : DFL_EVAL_HOLE_KIND, s->given->span,
                             is_whole && s->divided == 0 ? "no combination of the open amounts gives work to all chips"
                             : is_whole ? "none of the %llu plans with work for all chips can be run"
                                        : "no plan that runs was found among the first %llu plans with work for all chips",
                             (unsigned long long)s->divided);

    if (s->stopped != DFL_STOP_NONE)
        dfl_diag_help(fill->sink, d, "allow more time or more evaluations: not all combinations were tried");
    if (s->unevaluated > 0)
        dfl_diag_note(fill->sink, d, "%llu of them may run and are not evaluated, the first because of: %s",
                      (unsigned long long)s->unevaluated, why_unevaluated(s));
    if (s->exceeding > 0)
        note_nearest(s, d);
    if (s->stopped == DFL_STOP_NONE && s->exceeding == s->divided && s->divided > 0)
        dfl_diag_help(fill->sink, d, "divide weights, moments or layers further, `recompute` activations, or state a larger "
                      "memory");
    else if (s->stopped == DFL_STOP_NONE && s->divided == 0)
        help_undivided(s, d);
    else if (s->stopped == DFL_STOP_NONE)
        dfl_diag_help(fill->sink, d, "write the amounts of one plan to learn what it lacks");
}

/* Starts and ends the JSON of the divisions. */
static void open_json(plan_search *s, dfl_json_writer *json)
{
    if (!s->fill->certificate || s->ranking.is_front || !s->objective->native || s->fill->required.n > 0)
        return;
    s->json = json;
    dfl_strbuf_init(&s->text, s->fill->solver->arena);
    dfl_json_start(json, &s->text, 1);
    dfl_json_object(json);
    dfl_json_key(json, "by");
    dfl_json_string(json, DFL_CERTIFICATE_BY_PLANS);
    dfl_json_key(json, "combinations");
    dfl_json_int(json, (int64_t)s->space.combinations);
    dfl_json_key(json, "divisions");
    dfl_json_array(json);
}

/* Adds the certificate of the best plan, which came last to the filled ones. */
static void add_certificate(plan_search *s)
{
    const dfl_solver *solver = s->fill->solver;
    dfl_filled *filled = &solver->filled->at[solver->filled->n - 1];
    const dfl_result *costs;

    if (s->json == NULL || s->ranking.plans.n == 0 || isnan(find_bound(s)))
        return;
    dfl_json_end_array(s->json);
    dfl_json_end_object(s->json);
    costs = dfl_plan_evaluate(solver->arena, s->fill->sink, solver->names, filled->mapping, solver->memo);
    if (costs != NULL)
        dfl_certificate_add_plan(solver, filled, s->objective, s->text.text, costs);
}

/* Walks over the divisions with each combination of split homes and divided ranks. False after a report. */
static bool find_divisions(plan_search *s)
{
    const uint64_t plans = s->space.combinations / dfl_plan_space_count(&s->space, DFL_OPEN_DIVIDING);
    bool is_fine = true;

    do {
        dfl_arena *work = dfl_arena_new(s->fill->solver->budget);

        s->divided_by = dfl_plan_space_make(work, &s->space);
        s->division = dfl_plan_division_new(work, s->fill->sink, s->fill->solver->names, s->divided_by);
        if (s->division != NULL) {
            is_fine = put_lines(s, 0, s->space.n_dividing, plans);
        } else { /* a line inside of a chip, or too many lines */
            s->divided += plans;
            s->refused += plans;
            s->unevaluated += plans;
        }
        dfl_arena_free(work);
    } while (is_fine && !is_over(s) && dfl_plan_space_next(&s->space, DFL_OPEN_DIVIDING));
    return is_fine;
}

/* Finds the best plans. False after a report. */
static bool search_plans(plan_search *s, dfl_json_writer *json)
{
    if (!dfl_plan_space_find(s->fill->solver->arena, s->fill->sink, s->given, s->fill->solver->options->imperfect, &s->space))
        return false;
    open_json(s, json);
    return find_divisions(s) && try_candidates(s) && try_first(s);
}

bool dfl_fill_plan(dfl_fill *fill, const dfl_objective *objective, dfl_stop *stopped)
{
    dfl_arena *arena = fill->solver->arena;
    const dfl_mapping *given = fill->item.mapping;
    dfl_json_writer json;
    plan_search s = { .fill = fill, .objective = objective, .given = given, .stopped = DFL_STOP_NONE,
                      .nearest_fill = INFINITY, .unevaluated_floor = INFINITY, .first_illegal = UINT64_MAX,
                      .ranking = { .arena = arena, .objective = objective, .is_front = given->n_front > 0,
                                   .most = fill->solver->options->top > 0 ? fill->solver->options->top : 1 } };
    uint32_t next = s.ranking.is_front ? 1 : 0;
    bool is_fine;

    s.work = dfl_arena_new(fill->solver->budget);
    s.common_arena = dfl_arena_new(fill->solver->budget);
    is_fine = search_plans(&s, &json);
    dfl_arena_free(s.common_arena);
    dfl_arena_free(s.work);
    if (!is_fine)
        return false;
    *stopped = s.stopped;
    if (s.ranking.plans.n == 0) {
        report_none(&s);
        return false;
    }
    for (uint32_t i = 0; i < s.ranking.plans.n; i++) {
        const dfl_search_summary *summary = summarize_plan(&s, i);

        dfl_plan_space_set(&s.space, s.ranking.plans.at[i].number);
        dfl_fill_add(fill->solver, s.given, dfl_plan_space_make(arena, &s.space), summary, &next);
    }
    add_certificate(&s);
    return true;
}
