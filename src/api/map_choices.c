/* Mappings that leave open what is written in some places: every choice is searched, and the best of all is taken. */
#include "api/session.h"

#include <math.h>

#include "mapper/choices.h"
#include "mapper/cost.h"
#include "mapper/halt.h"
#include "model/model.h"

typedef struct {
    dfl_session *s;
    const dfl_mapping *given;
    const dfl_objective *objective;
    const dfl_choice_search *search;
    double best[DFL_OBJECTIVE_TERMS]; /* INFINITY until something is found */
    bool found, optimal, bounded;
    uint32_t unsearched;       /* choices */
    uint32_t legal;            /* the first choice that is more than illegal, DFL_NONE = none */
    double bound;
    uint64_t evaluated, pruned, refused;
} chooser;

static void report_many(const chooser *k, uint32_t n)
{
    dfl_span most = { 0, 0 };
    uint32_t ways = 0;
    dfl_diag *d = dfl_report(k->s->sink, DFL_LIMIT_COUNT, k->given->hole_span, "more than %d choices of what is written in `%s`",
                             DFL_CHOICES_MOST, dfl_sym_text(k->s->names, k->given->name));

    dfl_diag_here(k->s->sink, d, n < DFL_CHOICES_COUNTED ? "there are %u" : "there are more than %u", n);
    dfl_choices_most(k->s->arena, k->given, &most, &ways);
    dfl_diag_label(k->s->sink, d, most, "%u of this alone", ways);
    dfl_diag_help(k->s->sink, d, "write %s`...;` in the place of these lines, of branches in the braces of each: lines that are "
                  "open are searched without trying every choice",
                  n / ways <= DFL_CHOICES_MOST ? "the tensors or ranks instead of this `?`, or " : "");
}

/* Whether a choice is out of the question: illegal as a mapping, or nothing fits. */
static bool is_impossible(const dfl_sink *sink)
{
    return dfl_sink_last(sink) == DFL_EVAL_INFEASIBLE || dfl_code_is_illegal_mapping(dfl_sink_last(sink));
}

/* Whether it is not searched: then nothing is known of it, and others may be. */
static bool is_unsearched(const dfl_sink *sink) { return dfl_sink_last(sink) == DFL_EVAL_HOLE; }

/* Takes over what was found for a choice if it is better. */
static bool take_better(chooser *k, const dfl_filled *one, dfl_filled *out)
{
    dfl_session *s = k->s;
    const dfl_paths *paths;
    const dfl_result *costs;
    double terms[DFL_OBJECTIVE_TERMS];

    k->evaluated += one->search->evaluated;
    k->pruned += one->search->pruned;
    k->refused += one->search->refused;
    k->optimal &= one->search->optimal;
    k->bounded &= !isnan(one->search->lower_bound);
    k->bound = fmin(k->bound, one->search->lower_bound);
    if (one->mapping == NULL)
        return true;
    paths = dfl_paths_resolve(dfl_session_after(s), s->sink, s->names, one->mapping);
    costs = paths != NULL ? dfl_model_eval(dfl_session_after(s), s->sink, s->names, paths) : NULL;
    if (costs == NULL || !dfl_objective_terms(k->objective, costs, terms))
        return false;
    if (!dfl_objective_less(k->objective, terms, k->best))
        return true;
    for (uint32_t i = 0; i < dfl_objective_count(k->objective); i++)
        k->best[i] = terms[i];
    k->found = true;
    *out = *one;
    return true;
}

/* The search for one choice, whose reports nobody reads; false where it goes no further. */
static bool try_choice(chooser *k, uint32_t number, dfl_filled *out, dfl_stop *stopped)
{
    dfl_session *s = k->s;
    dfl_sink *loud = s->sink, *quiet = dfl_sink_new(s->arena, NULL);
    dfl_filled one = { .given = dfl_choices_take(s->arena, k->given, number) };
    bool filled, goes_on;

    dfl_sink_limit(quiet, 0);
    s->sink = quiet;
    filled = k->search->fill(k->search->context, k->best, &one, stopped);
    goes_on = filled ? take_better(k, &one, out) : is_impossible(quiet) || is_unsearched(quiet);
    if (!filled && is_unsearched(quiet)) {
        k->unsearched++;
        k->bounded = false;
    }
    if (k->legal == DFL_NONE && (filled || dfl_sink_last(quiet) == DFL_EVAL_INFEASIBLE))
        k->legal = number;
    s->sink = loud;
    if (s->budget.why != DFL_STOP_NONE && k->found) { /* with the best so far */
        *stopped = s->budget.why;
        s->budget.why = DFL_STOP_NONE;
    } else if (!goes_on && s->budget.why == DFL_STOP_NONE) {
        (void)k->search->fill(k->search->context, NULL, &one, stopped); /* says why */
    }
    return goes_on && s->budget.why == DFL_STOP_NONE && *stopped == DFL_STOP_NONE;
}

/* Limits are for all choices together. */
static bool try_all(chooser *k, uint32_t n, dfl_filled *out, dfl_stop *stopped)
{
    dfl_session *s = k->s;
    const dfl_search_options options = s->search;
    const double start = dfl_halt_clock();
    bool goes_on = true;

    s->search.certificate = 0;
    for (uint32_t i = 0; i < n && goes_on; i++) {
        if (options.seconds > 0)
            s->search.seconds = fmax(options.seconds - (dfl_halt_clock() - start), 1e-3);
        s->search.evaluations = dfl_map_left(options.evaluations, k->evaluated);
        goes_on = try_choice(k, i, out, stopped);
    }
    s->search = options;
    return goes_on;
}

bool dfl_session_choose(dfl_session *s, const dfl_objective *objective, const dfl_choice_search *search, dfl_filled *out,
                        dfl_stop *stopped)
{
    chooser k = { .s = s, .given = out->given, .objective = objective, .search = search, .optimal = true, .bounded = true,
                  .bound = INFINITY, .legal = DFL_NONE };
    static const double rounding = 1 + 1e-9;
    dfl_search_found *found;
    bool least;
    uint32_t n;

    for (uint32_t i = 0; i < DFL_OBJECTIVE_TERMS; i++)
        k.best[i] = INFINITY;
    if (!dfl_choices_check(s->sink, s->names, k.given))
        return false;
    n = dfl_choices_count(s->arena, k.given);
    if (n > DFL_CHOICES_MOST) {
        report_many(&k, n);
        return false;
    }
    if (!try_all(&k, n, out, stopped) && (*stopped == DFL_STOP_NONE || !k.found))
        return false;
    if (!k.found) { /* says what is in the way of the first one, which keeps least */
        dfl_filled one = { .given = dfl_choices_take(s->arena, k.given, k.legal == DFL_NONE ? 0 : k.legal) };
        return search->fill(search->context, NULL, &one, stopped);
    }
    found = DFL_NEW(s->arena, dfl_search_found);
    *found = *out->search;
    found->evaluated = k.evaluated;
    found->pruned = k.pruned;
    found->refused = k.refused;
    least = k.bounded && dfl_objective_count(objective) == 1 && found->value <= dfl_value_times(k.bound, rounding);
    found->optimal = (k.optimal || least) && k.unsearched == 0 && *stopped == DFL_STOP_NONE;
    found->lower_bound = !k.bounded || *stopped != DFL_STOP_NONE ? NAN : fmin(k.bound, found->value);
    found->space = k.unsearched == 0
                       ? dfl_arena_printf(s->arena, "%u choice%s of what is written; %s", n, n == 1 ? "" : "s", found->space)
                       : dfl_arena_printf(s->arena, "%u choices of what is written, of %u; the others are not searched; %s",
                                          n - k.unsearched, n, found->space);
    if (found->optimal)
        found->unproven = NULL;
    else if (found->unproven == NULL)
        found->unproven = k.unsearched > 0
                              ? "some of the choices are not searched: each of them, written in the place of `?`, says why"
                              : "another choice is not proven: written in the place of `?` it says why";
    out->search = found;
    out->chosen = out->given;
    out->given = k.given;
    return true;
}
