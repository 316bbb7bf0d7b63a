/* Mappings with structural choices: each choice is filled as a mapping of its own, and the best result is kept. */
#include "solve/solve_internal.h"

#include <math.h>

#include "ir/path/fan_out.h"
#include "ir/path/unit_choice.h"
#include "support/limits.h"

typedef struct {
    dfl_fill *fill;
    const dfl_mapping *given;
    const dfl_objective *objective;
    dfl_fill_open *search;
    double best[DFL_OBJECTIVE_TERMS]; /* terms of the incumbent, INFINITY before the first result */
    bool found, bounded;
    uint32_t n, searched;      /* number of choices, and number of choices processed */
    uint32_t unsearched;       /* number of choices that no search can fill */
    double *gaps;              /* for each choice: lower bound if the result is not proven, INFINITY = proven */
    uint32_t best_number;      /* index of the choice of the incumbent */
    uint32_t legal;            /* index of the first choice that is a legal mapping; DFL_NONE = none yet */
    double bound;
    uint64_t evaluated, pruned, refused;
} choice_search;

static void report_many(const dfl_fill *fill, const dfl_mapping *given, uint32_t n)
{
    dfl_span most = { 0, 0 };
    uint32_t ways = 0;
    const dfl_solver *solver = fill->solver;
    dfl_diag *d = dfl_report(fill->sink, DFL_LIMIT_COUNT, given->hole_span,
                             "more than %d structural choices in `%s`", DFL_CHOICES_MOST,
                             dfl_sym_text(solver->names, given->name));

    dfl_diag_here(fill->sink, d, n < DFL_CHOICES_COUNTED ? "%u choices" : "more than %u choices", n);
    dfl_choices_most(solver->arena, given, &most, &ways);
    dfl_diag_label(fill->sink, d, most, "%u here alone", ways);
    dfl_diag_help(fill->sink, d, "%s `...;` in the place of these lines, in the braces of each branch: open lines are "
                  "searched without trying every choice",
                  n / ways <= DFL_CHOICES_MOST ? "write the tensors or ranks instead of this `?`, or put" : "put");
}

/* The number of structural choices of a mapping; false after reporting that these are not searched, or are too many. */
static bool count_choices(const dfl_fill *fill, const dfl_mapping *given, uint32_t *n)
{
    if (!dfl_choices_check(fill->sink, fill->solver->names, given))
        return false;
    *n = dfl_choices_count(fill->solver->arena, given);
    if (*n > DFL_CHOICES_MOST)
        report_many(fill, given, *n);
    return *n <= DFL_CHOICES_MOST;
}

/* Whether the last report says that a choice is an illegal mapping, or that nothing fits. */
static bool is_impossible(const dfl_sink *sink)
{
    return dfl_sink_last(sink) == DFL_EVAL_INFEASIBLE || dfl_code_is_illegal_mapping(dfl_sink_last(sink));
}

/* Whether the last report says that no search can fill a choice. The value of this choice is unknown; the search goes on
   with the other choices. */
static bool is_unsearched(const dfl_sink *sink) { return dfl_sink_last(sink) == DFL_EVAL_HOLE; }

/* Makes the result of a choice the incumbent if the result is better than the incumbent. False if the model rejects the
   result. */
static bool take_better(choice_search *choices, dfl_sink *quiet, uint32_t number, const dfl_filled *one, dfl_filled *out)
{
    const dfl_fill quietly = { .solver = choices->fill->solver, .sink = quiet };
    const double bound = one->search->lower_bound;
    const dfl_result *costs;
    double terms[DFL_OBJECTIVE_TERMS];

    choices->evaluated += one->search->evaluated;
    choices->pruned += one->search->pruned;
    choices->refused += one->search->refused;
    if (!one->search->optimal)
        choices->gaps[number] = isnan(bound) ? 0 : bound;
    choices->bounded &= !isnan(bound);
    choices->bound = fmin(choices->bound, bound);
    if (one->mapping == NULL)
        return true;
    costs = one->costs != NULL ? one->costs : dfl_fill_costs(&quietly, one->mapping);
    if (costs == NULL || !dfl_objective_terms(choices->objective, costs, terms))
        return false;
    if (!dfl_objective_less(choices->objective, terms, choices->best))
        return true;
    for (uint32_t i = 0; i < dfl_objective_count(choices->objective); i++)
        choices->best[i] = terms[i];
    choices->found = true;
    choices->best_number = number;
    *out = *one;
    return true;
}

/* Fills one choice; `limits` apply to this choice alone. */
static bool search_one(const choice_search *choices, dfl_sink *sink, const dfl_search_limits *limits, const double *incumbent,
                       dfl_filled *one, dfl_stop *stopped)
{
    dfl_fill fill = *choices->fill;
    dfl_objective o = *choices->objective;

    fill.sink = sink;
    fill.limits = *limits;
    fill.certificate = false;
    fill.incumbent = incumbent;
    fill.one.items = &fill.item;
    o.context = &fill;
    return choices->search(&fill, &o, one, stopped);
}

/* Fills choice `number` without reports. False if the search must not go on with the next choice: after a stop, or after an
   error that concerns all choices, which is then reported. */
static bool try_choice(choice_search *choices, uint32_t number, const dfl_search_limits *limits, dfl_filled *out,
                       dfl_stop *stopped)
{
    const dfl_solver *solver = choices->fill->solver;
    dfl_sink *quiet = dfl_sink_quiet(solver->arena);
    dfl_filled one = { .given = dfl_choices_take(solver->arena, choices->given, number) };
    bool filled, goes_on;

    filled = search_one(choices, quiet, limits, choices->best, &one, stopped);
    goes_on = filled ? take_better(choices, quiet, number, &one, out) : is_impossible(quiet) || is_unsearched(quiet);
    if (!filled && is_unsearched(quiet)) {
        choices->unsearched++;
        choices->bounded = false;
    }
    if (choices->legal == DFL_NONE && (filled || dfl_sink_last(quiet) == DFL_EVAL_INFEASIBLE))
        choices->legal = number;
    if (solver->budget->why != DFL_STOP_NONE && choices->found) { /* the search ends, and the best choice so far stays */
        *stopped = solver->budget->why;
        solver->budget->why = DFL_STOP_NONE;
    } else if (!goes_on && solver->budget->why == DFL_STOP_NONE) {
        (void)search_one(choices, choices->fill->sink, limits, NULL, &one, stopped); /* repeats the search to report the error */
    }
    return goes_on && solver->budget->why == DFL_STOP_NONE && *stopped == DFL_STOP_NONE;
}

/* Fills the choices in order; the limits apply to all choices together. */
static bool try_all(choice_search *choices, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_search_limits *all = &choices->fill->limits;
    dfl_search_limits left = *all;
    bool goes_on = true;

    choices->fill->n_choices = choices->n;
    choices->fill->choices_start = dfl_budget_time(choices->fill->solver->budget);
    while (choices->searched < choices->n && goes_on) {
        choices->fill->choice = choices->searched;
        left.evaluations = dfl_evaluations_left(all->evaluations, choices->evaluated);
        goes_on = try_choice(choices, choices->searched, &left, out, stopped);
        choices->searched += goes_on;
    }
    return goes_on;
}

/* Text on the searched space: "24 structural choices", the number of choices processed, and the number of choices that no
   search can fill. */
static const char *space_text(const choice_search *choices, const char *space)
{
    dfl_arena *arena = choices->fill->solver->arena;
    const char *all = dfl_arena_printf(arena, "%u structural choice%s", choices->n, choices->n == 1 ? "" : "s");

    if (choices->searched < choices->n)
        all = dfl_arena_printf(arena, "%s, %u %s searched", all, choices->searched,
                               choices->searched == 1 ? "was" : "were");
    if (choices->unsearched > 0)
        all = dfl_arena_printf(arena, "%s, %u %s not searched", all, choices->unsearched,
                               choices->unsearched == 1 ? "is" : "are");
    return dfl_arena_printf(arena, "%s; %s", all, space);
}

/* Number of choices that may be better than the incumbent; `*least` is the index of the choice with the least lower bound. */
static uint32_t count_gaps(const choice_search *choices, uint32_t *least)
{
    const bool single = dfl_objective_count(choices->objective) == 1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < choices->n; i++) {
        if (i == choices->best_number || choices->gaps[i] == INFINITY ||
            (single && choices->best[0] <= dfl_value_times(choices->gaps[i], 1 + DFL_VALUE_TOLERANCE)))
            continue;
        if (n++ == 0 || choices->gaps[i] < choices->gaps[*least])
            *least = i;
    }
    return n;
}

static void add_reason(dfl_strbuf *out, const char *text)
{
    dfl_strbuf_z(out, out->len > 0 ? "; " : "");
    dfl_strbuf_z(out, text);
}

static const char *unsearched_text(dfl_arena *arena, uint32_t n)
{
    return dfl_arena_printf(arena, "%u of the choices %s not searched: written in place of `?`, each gives its reason", n,
                            n == 1 ? "is" : "are");
}

/* Clauses that say why the incumbent is not proven. `own` has the clauses from the search of its own choice; NULL = proven
   within that choice. */
static const char *unproven_text(const choice_search *choices, const char *own, dfl_stop stopped)
{
    const dfl_solver *solver = choices->fill->solver;
    uint32_t least = 0, gaps = count_gaps(choices, &least);
    dfl_strbuf out;

    dfl_strbuf_init(&out, solver->arena);
    if (own != NULL)
        add_reason(&out, own);
    if (stopped != DFL_STOP_NONE && (own == NULL || choices->best_number != choices->searched))
        add_reason(&out, dfl_proof_gaps_text(solver->arena, &choices->fill->space, choices->given,
                                             dfl_fill_stop(choices->fill, stopped), NULL,
                                             (dfl_proof_gaps){ .is_one_of_several = true }));
    if (choices->unsearched > 0)
        add_reason(&out, unsearched_text(solver->arena, choices->unsearched));
    if (gaps > 0 && stopped == DFL_STOP_NONE) {
        add_reason(&out, gaps == 1 ? "another choice may be better, "
                                     : dfl_arena_printf(solver->arena, "%u other choices may be better, most likely ", gaps));
        dfl_choices_print(&out, solver->names, choices->given, dfl_choices_take(solver->arena, choices->given, least));
        dfl_strbuf_z(&out, ": written in place of `?`, it gives the reason");
    }
    return out.text;
}

/* One summary for the searches of all choices. */
static const dfl_search_summary *sum_up(const choice_search *choices, const dfl_search_summary *best, dfl_stop stopped)
{
    dfl_search_summary *found = DFL_NEW(choices->fill->solver->arena, dfl_search_summary);
    bool least, proven;
    uint32_t other;

    *found = *best;
    found->evaluated = choices->evaluated;
    found->pruned = choices->pruned;
    found->refused = choices->refused;
    least = choices->bounded && dfl_objective_count(choices->objective) == 1 &&
            found->value <= dfl_value_times(choices->bound, 1 + DFL_VALUE_TOLERANCE);
    proven = best->optimal && count_gaps(choices, &other) == 0;
    found->optimal = (proven || least) && choices->unsearched == 0 && stopped == DFL_STOP_NONE;
    found->stopped = found->optimal ? DFL_STOP_NONE
                     : stopped != DFL_STOP_NONE ? dfl_fill_stop(choices->fill, stopped) : best->stopped;
    found->lower_bound = !choices->bounded || stopped != DFL_STOP_NONE ? NAN : fmin(choices->bound, found->value);
    found->space = space_text(choices, found->space);
    found->unproven = found->optimal ? NULL : unproven_text(choices, best->unproven, stopped);
    return found;
}

bool dfl_fill_choices(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    choice_search choices = { .fill = fill, .given = out->given, .objective = objective, .search = search, .bounded = true,
                              .bound = INFINITY, .legal = DFL_NONE };

    for (uint32_t i = 0; i < DFL_OBJECTIVE_TERMS; i++)
        choices.best[i] = INFINITY;
    if (!count_choices(fill, choices.given, &choices.n))
        return false;
    choices.gaps = DFL_NEW_ARRAY(solver->arena, double, choices.n);
    for (uint32_t i = 0; i < choices.n; i++)
        choices.gaps[i] = INFINITY;
    if (!try_all(&choices, out, stopped) && (*stopped == DFL_STOP_NONE || !choices.found))
        return false;
    if (!choices.found) { /* reports why the first legal choice, or choice 0, cannot be filled */
        const uint32_t first = choices.legal == DFL_NONE ? 0 : choices.legal;
        dfl_filled one = { .given = dfl_choices_take(solver->arena, choices.given, first) };
        return search_one(&choices, fill->sink, &fill->limits, NULL, &one, stopped);
    }
    out->search = sum_up(&choices, out->search, *stopped);
    out->chosen = out->given;
    out->given = choices.given;
    return true;
}

/* ---- Pareto sets ---- */

/* The search for the Pareto set of all choices. */
typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    const dfl_mapping *given;
    uint32_t n, searched, unsearched;  /* number of choices; of those looked at; of these, those that no search can fill */
    uint32_t legal;                    /* index of the first choice that is a legal mapping; DFL_NONE = none yet */
    dfl_search_result all;             /* the set so far */
    dfl_search_summary summary;        /* of all searches; `objective` is NULL before the first result */
    DFL_VEC(dfl_filled) of;            /* the points of all choices, with the choice of each */
} front_search;

/* Searches the sizes of one choice. NULL after reporting. */
static const dfl_search_result *search_front(const front_search *fronts, uint32_t number, dfl_sink *sink, const dfl_mapping *one,
                                             dfl_search_summary *summary, dfl_stop *stopped)
{
    dfl_fill fill = *fronts->fill;
    dfl_objective objective = *fronts->objective;

    fill.sink = sink;
    fill.choice = number;
    fill.limits.evaluations = dfl_evaluations_left(fill.limits.evaluations, fronts->summary.evaluated);
    fill.one.items = &fill.item;
    objective.context = &fill;
    if (!dfl_mapping_check_axes(sink, fill.solver->names, one) || !dfl_mapping_check_units(sink, fill.solver->names, one))
        return NULL;
    return dfl_fill_search_sizes(&fill, &objective, DFL_SEARCH_FRONT, one, summary, stopped);
}

/* Adds the result of a choice to the summary of all. */
static void add_summary(front_search *fronts, const dfl_search_summary *one)
{
    dfl_search_summary *all = &fronts->summary;
    const dfl_search_summary before = *all;

    if (before.objective == NULL) {
        *all = *one;
        return;
    }
    all->evaluated += one->evaluated;
    all->pruned += one->pruned;
    all->refused += one->refused;
    all->optimal &= one->optimal;
    all->stopped = one->stopped;
    if (before.unproven == NULL)
        all->unproven = one->unproven;
}

/* Adds the points of choice `number` to the set. False if the search must not go on: after a stop, or after an error that
   concerns all choices, which is then reported. */
static bool add_choice(front_search *fronts, uint32_t number, dfl_stop *stopped)
{
    const dfl_solver *solver = fronts->fill->solver;
    const dfl_mapping *one = dfl_choices_take(solver->arena, fronts->given, number);
    dfl_sink *quiet = dfl_sink_quiet(solver->arena);
    dfl_search_summary summary;
    const dfl_search_result *found = search_front(fronts, number, quiet, one, &summary, stopped);

    if (fronts->legal == DFL_NONE && (found != NULL || dfl_sink_last(quiet) == DFL_EVAL_INFEASIBLE))
        fronts->legal = number;
    if (found != NULL) {
        add_summary(fronts, &summary);
        for (uint32_t i = 0; i < found->n; i++)
            DFL_PUSH(solver->arena, &fronts->of, ((dfl_filled){ .mapping = found->at[i].mapping, .chosen = one }));
        dfl_mapper_join_fronts(solver->arena, fronts->objective, found, &fronts->all);
        return *stopped == DFL_STOP_NONE;
    }
    if (solver->budget->why != DFL_STOP_NONE && fronts->all.n > 0) { /* the search ends, and the set so far stays */
        *stopped = solver->budget->why;
        solver->budget->why = DFL_STOP_NONE;
        return false;
    }
    fronts->unsearched += is_unsearched(quiet);
    if (is_impossible(quiet) || is_unsearched(quiet))
        return true;
    if (solver->budget->why == DFL_STOP_NONE)
        (void)search_front(fronts, number, fronts->fill->sink, one, &summary, stopped); /* again, to report the error */
    return false;
}

/* Adds the mappings of the set, and why it may be incomplete. */
static void add_front(front_search *fronts, dfl_stop stopped)
{
    const dfl_solver *solver = fronts->fill->solver;
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
    const choice_search words = { .fill = fronts->fill, .n = fronts->n, .searched = fronts->searched,
                                  .unsearched = fronts->unsearched };
    uint32_t next = 1;

    *summary = fronts->summary;
    summary->value = fronts->all.at[0].terms[0];
    summary->objective = dfl_arena_printf(solver->arena, "pareto %s", fronts->given->front_text);
    summary->is_of_front = true;
    summary->space = dfl_arena_printf(solver->arena, "a Pareto set of %u; %s", fronts->all.n, space_text(&words, summary->space));
    summary->optimal &= stopped == DFL_STOP_NONE && fronts->unsearched == 0;
    summary->lower_bound = summary->optimal ? summary->value : NAN; /* the points come in the order of the first term */
    if (stopped != DFL_STOP_NONE)
        summary->stopped = dfl_fill_stop(fronts->fill, stopped);
    if (!summary->optimal && summary->unproven == NULL)
        summary->unproven = stopped != DFL_STOP_NONE
            ? dfl_proof_gaps_text(solver->arena, &fronts->fill->space, fronts->given, dfl_fill_stop(fronts->fill, stopped), NULL,
                                  (dfl_proof_gaps){ .is_one_of_several = true })
            : unsearched_text(solver->arena, fronts->unsearched);
    for (uint32_t i = 0; i < fronts->all.n; i++) {
        size_t k = 0;

        while (fronts->of.at[k].mapping != fronts->all.at[i].mapping)
            k++;
        dfl_fill_add(solver, fronts->given, fronts->all.at[i].mapping, summary, &next);
        solver->filled->at[solver->filled->n - 1].chosen = fronts->of.at[k].chosen;
    }
}

bool dfl_fill_front_choices(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *given, dfl_stop *stopped)
{
    front_search fronts = { .fill = fill, .objective = objective, .given = given, .legal = DFL_NONE };
    dfl_search_summary summary;
    bool goes_on = true;

    if (!count_choices(fill, given, &fronts.n))
        return false;
    fill->limits.gap = 0; /* `--gap` is that of one mapping */
    fill->n_choices = fronts.n;
    fill->choices_start = dfl_budget_time(fill->solver->budget);
    while (fronts.searched < fronts.n && goes_on) {
        goes_on = add_choice(&fronts, fronts.searched, stopped);
        fronts.searched += goes_on;
    }
    if (fronts.all.n > 0 && (goes_on || *stopped != DFL_STOP_NONE)) {
        add_front(&fronts, *stopped);
        return true;
    }
    if (goes_on) { /* reports why the first legal choice, or choice 0, cannot be filled */
        const uint32_t first = fronts.legal == DFL_NONE ? 0 : fronts.legal;
        (void)search_front(&fronts, first, fill->sink, dfl_choices_take(fill->solver->arena, given, first), &summary, stopped);
    }
    return false;
}
