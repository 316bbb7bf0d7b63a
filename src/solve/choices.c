/* Mappings that leave open what is written in some places: every choice is searched, and the best of all is taken. */
#include "solve/solve_internal.h"

#include <math.h>

#include "support/deadline.h"

typedef struct {
    dfl_fill *fill;
    const dfl_mapping *given;
    const dfl_objective *objective;
    dfl_fill_open *search;
    double best[DFL_OBJECTIVE_TERMS]; /* INFINITY until something is found */
    bool found, bounded;
    uint32_t n, searched;      /* choices, and how many of them were gone through */
    uint32_t unsearched;       /* that no search is for */
    double *gaps;              /* by choice: its bound if that proves nothing, INFINITY = there is no doubt */
    uint32_t best_number;      /* the choice with the best */
    uint32_t legal;            /* the first choice that is more than illegal, DFL_NONE = none */
    double bound;
    uint64_t evaluated, pruned, refused;
} chooser;

static void report_many(const chooser *k)
{
    dfl_span most = { 0, 0 };
    uint32_t ways = 0;
    const dfl_solver *solver = k->fill->solver;
    dfl_diag *d = dfl_report(k->fill->sink, DFL_LIMIT_COUNT, k->given->hole_span,
                             "more than %d choices of what is written in `%s`", DFL_CHOICES_MOST,
                             dfl_sym_text(solver->names, k->given->name));

    dfl_diag_here(k->fill->sink, d, k->n < DFL_CHOICES_COUNTED ? "there are %u" : "there are more than %u", k->n);
    dfl_choices_most(solver->arena, k->given, &most, &ways);
    dfl_diag_label(k->fill->sink, d, most, "%u of this alone", ways);
    dfl_diag_help(k->fill->sink, d, "%s `...;` in the place of these lines, in the braces of each branch: open lines are "
                  "searched without trying every choice",
                  k->n / ways <= DFL_CHOICES_MOST ? "write the tensors or ranks instead of this `?`, or put" : "put");
}

/* Whether a choice is out of the question: illegal as a mapping, or nothing fits. */
static bool is_impossible(const dfl_sink *sink)
{
    return dfl_sink_last(sink) == DFL_EVAL_INFEASIBLE || dfl_code_is_illegal_mapping(dfl_sink_last(sink));
}

/* Whether it is not searched: then nothing is known of it, and others may be. */
static bool is_unsearched(const dfl_sink *sink) { return dfl_sink_last(sink) == DFL_EVAL_HOLE; }

/* Takes over what was found for a choice if it is better. */
static bool take_better(chooser *k, dfl_sink *quiet, uint32_t number, const dfl_filled *one, dfl_filled *out)
{
    const dfl_fill quietly = { .solver = k->fill->solver, .sink = quiet };
    const double bound = one->search->lower_bound;
    const dfl_result *costs;
    double terms[DFL_OBJECTIVE_TERMS];

    k->evaluated += one->search->evaluated;
    k->pruned += one->search->pruned;
    k->refused += one->search->refused;
    if (!one->search->optimal)
        k->gaps[number] = isnan(bound) ? 0 : bound;
    k->bounded &= !isnan(bound);
    k->bound = fmin(k->bound, bound);
    if (one->mapping == NULL)
        return true;
    costs = dfl_fill_costs(&quietly, one->mapping);
    if (costs == NULL || !dfl_objective_terms(k->objective, costs, terms))
        return false;
    if (!dfl_objective_less(k->objective, terms, k->best))
        return true;
    for (uint32_t i = 0; i < dfl_objective_count(k->objective); i++)
        k->best[i] = terms[i];
    k->found = true;
    k->best_number = number;
    *out = *one;
    return true;
}

/* The search for one choice with limits of its own. */
static bool search_one(const chooser *k, dfl_sink *sink, const dfl_search_limits *limits, const double *incumbent,
                       dfl_filled *one, dfl_stop *stopped)
{
    dfl_fill fill = *k->fill;
    dfl_objective o = *k->objective;

    fill.sink = sink;
    fill.limits = *limits;
    fill.certificate = false;
    fill.incumbent = incumbent;
    fill.one.items = &fill.item;
    o.context = &fill;
    return k->search(&fill, &o, one, stopped);
}

/* The same without reports, which nobody reads; false where it goes no further. */
static bool try_choice(chooser *k, uint32_t number, const dfl_search_limits *limits, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = k->fill->solver;
    dfl_sink *quiet = dfl_sink_new(solver->arena, NULL);
    dfl_filled one = { .given = dfl_choices_take(solver->arena, k->given, number) };
    bool filled, goes_on;

    dfl_sink_limit(quiet, 0);
    filled = search_one(k, quiet, limits, k->best, &one, stopped);
    goes_on = filled ? take_better(k, quiet, number, &one, out) : is_impossible(quiet) || is_unsearched(quiet);
    if (!filled && is_unsearched(quiet)) {
        k->unsearched++;
        k->bounded = false;
    }
    if (k->legal == DFL_NONE && (filled || dfl_sink_last(quiet) == DFL_EVAL_INFEASIBLE))
        k->legal = number;
    if (solver->budget->why != DFL_STOP_NONE && k->found) { /* with the best so far */
        *stopped = solver->budget->why;
        solver->budget->why = DFL_STOP_NONE;
    } else if (!goes_on && solver->budget->why == DFL_STOP_NONE) {
        (void)search_one(k, k->fill->sink, limits, NULL, &one, stopped); /* says why */
    }
    return goes_on && solver->budget->why == DFL_STOP_NONE && *stopped == DFL_STOP_NONE;
}

/* Limits are for all choices together. */
static bool try_all(chooser *k, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_search_limits *all = &k->fill->limits;
    dfl_search_limits left = *all;
    bool goes_on = true;

    k->fill->n_choices = k->n;
    k->fill->choices_start = dfl_deadline_clock();
    while (k->searched < k->n && goes_on) {
        k->fill->choice = k->searched;
        left.evaluations = dfl_evaluations_left(all->evaluations, k->evaluated);
        goes_on = try_choice(k, k->searched, &left, out, stopped);
        k->searched += goes_on;
    }
    return goes_on;
}

/* "24 choices of what is written", and how many of them were not looked at. */
static const char *space_text(const chooser *k, const char *space)
{
    dfl_arena *arena = k->fill->solver->arena;
    const char *all = dfl_arena_printf(arena, "%u choice%s of what is written", k->n, k->n == 1 ? "" : "s");

    if (k->searched < k->n)
        all = dfl_arena_printf(arena, "%s, of which %u %s gone through", all, k->searched, k->searched == 1 ? "was" : "were");
    if (k->unsearched > 0)
        all = dfl_arena_printf(arena, "%s, of which %u %s not searched", all, k->unsearched, k->unsearched == 1 ? "is" : "are");
    return dfl_arena_printf(arena, "%s; %s", all, space);
}

static const double ROUNDING = 1 + 1e-9;

/* How many choices may be better than the best that was found, and which of them has the least bound. */
static uint32_t count_gaps(const chooser *k, uint32_t *least)
{
    const bool single = dfl_objective_count(k->objective) == 1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n; i++) {
        if (i == k->best_number || k->gaps[i] == INFINITY ||
            (single && k->best[0] <= dfl_value_times(k->gaps[i], ROUNDING)))
            continue;
        if (n++ == 0 || k->gaps[i] < k->gaps[*least])
            *least = i;
    }
    return n;
}

static void add_reason(dfl_strbuf *out, const char *text)
{
    dfl_strbuf_z(out, out->len > 0 ? "; " : "");
    dfl_strbuf_z(out, text);
}

/* Why not all is proven; `own`: of the choice with the best, NULL = that is. */
static const char *unproven_text(const chooser *k, const char *own, dfl_stop stopped)
{
    const dfl_solver *solver = k->fill->solver;
    uint32_t least = 0, gaps = count_gaps(k, &least);
    dfl_strbuf out;

    dfl_strbuf_init(&out, solver->arena);
    if (own != NULL)
        add_reason(&out, own);
    if (stopped != DFL_STOP_NONE && (own == NULL || k->best_number != k->searched))
        add_reason(&out, dfl_proof_gaps_text(solver->arena, &k->fill->space, k->given, stopped, NULL,
                                             (dfl_proof_gaps){ .is_one_of_several = true }));
    if (k->unsearched > 0)
        add_reason(&out, dfl_arena_printf(solver->arena, "%u of the choices %s not searched: each of them, written in the place "
                                          "of `?`, says why", k->unsearched, k->unsearched == 1 ? "is" : "are"));
    if (gaps > 0 && stopped == DFL_STOP_NONE) {
        add_reason(&out, gaps == 1 ? "another choice may be better, "
                                     : dfl_arena_printf(solver->arena, "%u other choices may be better, most of all ", gaps));
        dfl_choices_print(&out, solver->names, k->given, dfl_choices_take(solver->arena, k->given, least));
        dfl_strbuf_z(&out, ": written in the place of `?` it says why");
    }
    return out.text;
}

/* What the searches for all choices have found together. */
static const dfl_search_summary *sum_up(const chooser *k, const dfl_search_summary *best, dfl_stop stopped)
{
    dfl_search_summary *found = DFL_NEW(k->fill->solver->arena, dfl_search_summary);
    bool least, proven;
    uint32_t other;

    *found = *best;
    found->evaluated = k->evaluated;
    found->pruned = k->pruned;
    found->refused = k->refused;
    least = k->bounded && dfl_objective_count(k->objective) == 1 && found->value <= dfl_value_times(k->bound, ROUNDING);
    proven = best->optimal && count_gaps(k, &other) == 0;
    found->optimal = (proven || least) && k->unsearched == 0 && stopped == DFL_STOP_NONE;
    found->lower_bound = !k->bounded || stopped != DFL_STOP_NONE ? NAN : fmin(k->bound, found->value);
    found->space = space_text(k, found->space);
    found->unproven = found->optimal ? NULL : unproven_text(k, best->unproven, stopped);
    return found;
}

bool dfl_fill_choices(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    chooser k = { .fill = fill, .given = out->given, .objective = objective, .search = search, .bounded = true, .bound = INFINITY,
                  .legal = DFL_NONE };

    for (uint32_t i = 0; i < DFL_OBJECTIVE_TERMS; i++)
        k.best[i] = INFINITY;
    if (!dfl_choices_check(fill->sink, solver->names, k.given))
        return false;
    k.n = dfl_choices_count(solver->arena, k.given);
    if (k.n > DFL_CHOICES_MOST) {
        report_many(&k);
        return false;
    }
    k.gaps = DFL_NEW_ARRAY(solver->arena, double, k.n);
    for (uint32_t i = 0; i < k.n; i++)
        k.gaps[i] = INFINITY;
    if (!try_all(&k, out, stopped) && (*stopped == DFL_STOP_NONE || !k.found))
        return false;
    if (!k.found) { /* says what is in the way of the first one, which keeps least */
        dfl_filled one = { .given = dfl_choices_take(solver->arena, k.given, k.legal == DFL_NONE ? 0 : k.legal) };
        return search_one(&k, fill->sink, &fill->limits, NULL, &one, stopped);
    }
    out->search = sum_up(&k, out->search, *stopped);
    out->chosen = out->given;
    out->given = k.given;
    return true;
}
