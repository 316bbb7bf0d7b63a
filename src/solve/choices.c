/* Mappings with structural choices: each choice is filled as a mapping of its own, and the best result is kept. */
#include "solve/solve_internal.h"

#include <math.h>

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

static void report_many(const choice_search *choices)
{
    dfl_span most = { 0, 0 };
    uint32_t ways = 0;
    const dfl_solver *solver = choices->fill->solver;
    dfl_diag *d = dfl_report(choices->fill->sink, DFL_LIMIT_COUNT, choices->given->hole_span,
                             "more than %d structural choices in `%s`", DFL_CHOICES_MOST,
                             dfl_sym_text(solver->names, choices->given->name));

    dfl_diag_here(choices->fill->sink, d, choices->n < DFL_CHOICES_COUNTED ? "%u choices" : "more than %u choices",
                  choices->n);
    dfl_choices_most(solver->arena, choices->given, &most, &ways);
    dfl_diag_label(choices->fill->sink, d, most, "%u here alone", ways);
    dfl_diag_help(choices->fill->sink, d, "%s `...;` in the place of these lines, in the braces of each branch: open lines are "
                  "searched without trying every choice",
                  choices->n / ways <= DFL_CHOICES_MOST ? "write the tensors or ranks instead of this `?`, or put" : "put");
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
        add_reason(&out, dfl_arena_printf(solver->arena, "%u of the choices %s not searched: written in place of `?`, each gives "
                                          "its reason", choices->unsearched, choices->unsearched == 1 ? "is" : "are"));
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
    if (!dfl_choices_check(fill->sink, solver->names, choices.given))
        return false;
    choices.n = dfl_choices_count(solver->arena, choices.given);
    if (choices.n > DFL_CHOICES_MOST) {
        report_many(&choices);
        return false;
    }
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
