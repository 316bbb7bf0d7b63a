/* What the search finds, judged by the model. */
#include "mapper/pareto_front.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/signature.h"
#include "mapper/exact/weights.h"
#include "mapper/improve/polish.h"
#include "mapper/portfolio.h"
#include "mapper/problem/criteria.h"
#include "mapper/problem/evaluate.h"
#include "mapper/single/single.h"
#include "support/vec.h"

enum {
    SHORT = 1 << 22,           /* evaluations below which a search is repeated for more kinds, where transfers are waited for */
};

typedef DFL_VEC(dfl_front_point) points;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_objective *objective;
    points kept;
    bool exact, dropped;       /* dropped: something did not meet what is required */
} judge;

/* The terms by the model; NULL if it does not take the mapping, or what is required is not met. `found`: what the search counted,
   or NULL. */
static const double *terms_of(judge *k, const dfl_mapping *m, const dfl_map_point *found)
{
    static const double rounding = 1 + 1e-9;
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    const dfl_result *costs = dfl_mapping_costs(work, k->names, m);
    double *terms = NULL;

    if (costs)
        terms = DFL_NEW_ARRAY(k->arena, double, dfl_objective_count(k->objective));
    for (uint32_t i = 0; costs && i < dfl_objective_count(k->objective); i++) {
        bool is_room = dfl_objective_is_room(k->objective, i);
        terms[i] = is_room ? dfl_i128_double(costs->memories[k->objective->room].peak_bits)
                           : dfl_objective_term(k->objective, i, costs->joules, costs->seconds);
        if (found != NULL)
            k->exact &= terms[i] <= rounding * (is_room ? found->room
                                                        : dfl_objective_term(k->objective, i, found->joules, found->seconds));
    }
    if (costs && found != NULL) { /* what is required counts, too */
        dfl_tile_goal goal = { .max_loops = 0 };
        dfl_weights_look(k->objective, true, &goal);
        k->exact &= (!goal.by_time || costs->seconds <= rounding * found->seconds) &&
                    (!goal.by_energy || costs->joules <= rounding * found->joules);
    }
    if (costs && !dfl_objective_met(k->objective, costs, NULL)) {
        k->dropped = true;
        terms = NULL;
    }
    dfl_arena_free(work);
    return terms;
}

/* Whether all terms of `a` are at most so many times those of `b`. */
static bool undercuts(const judge *k, const dfl_front_point *a, const dfl_front_point *b, double times)
{
    for (uint32_t i = 0; i < dfl_objective_count(k->objective); i++)
        if (a->terms[i] > dfl_value_times(b->terms[i], times))
            return false;
    return true;
}

/* Adds a point in its place, without those that it undercuts, each by so many times. False if one of these undercuts it. */
static bool add(judge *k, dfl_front_point p, double times)
{
    points *all = &k->kept;
    size_t n = 0, at;

    for (size_t i = 0; i < all->n; i++)
        if (undercuts(k, &all->at[i], &p, times))
            return false;
    for (size_t i = 0; i < all->n; i++)
        if (!undercuts(k, &p, &all->at[i], times))
            all->at[n++] = all->at[i];
    all->n = n;
    DFL_PUSH(k->arena, all, p);
    for (at = n; at > 0 && dfl_objective_less(k->objective, p.terms, all->at[at - 1].terms); at--)
        all->at[at] = all->at[at - 1];
    all->at[at] = p;
    return true;
}

/* The search for one figure by itself, with what is left of the limits; NULL where it comes to no end. */
static const dfl_map_result *search_alone(judge *k, dfl_sink *sink, const dfl_mapping *mapping, const dfl_map_options *options,
                                          dfl_map_result *search)
{
    dfl_map_options left = *options;
    const dfl_map_result *r;
    bool fits = true;

    left.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, search->evaluated);
    r = dfl_mapper_run(k->arena, sink, k->names, mapping, &left, &fits);
    if (r != NULL) {
        search->evaluated += r->evaluated;
        search->pruned += r->pruned;
        search->stopped = r->stopped;
    }
    return r;
}

/* Adds what searches for one figure each find. */
static void add_alone(judge *k, const dfl_mapping *mapping, const dfl_map_options *options,
                      const dfl_front_alone *alone, dfl_map_result *search)
{
    static const double rounding = 1 + 1e-9;
    dfl_sink *quiet = dfl_sink_quiet(k->arena); /* there are mappings */
    dfl_map_options one = *options;

    one.certificate = false;
    for (uint32_t i = 0; i < alone->n && search->stopped == DFL_STOP_NONE; i++) {
        const dfl_map_result *r;
        const double *terms;
        one.objective = &alone->at[i];
        r = search_alone(k, quiet, mapping, &one, search);
        terms = r != NULL && r->mapping != NULL ? terms_of(k, r->mapping, NULL) : NULL;
        if (terms != NULL)
            (void)add(k, (dfl_front_point){ r->mapping, terms }, rounding);
    }
}

/* Whether a front is one of energy and time, which requirements of them only cut. */
static bool sees_both(const dfl_objective *o)
{
    dfl_tile_goal goal = { .max_loops = 0 };

    dfl_weights_look(o, true, &goal);
    return goal.by_energy && goal.by_time;
}

/* Adds points by boxes, which count what is waited for. */
static void add_limited(judge *k, const dfl_mapping *mapping, const dfl_map_options *options)
{
    static const double rounding = 1 + 1e-9;
    dfl_map_point found[DFL_SINGLE_FRONT];
    const uint32_t n = dfl_single_front(k->arena, k->names, mapping, options, found);

    for (uint32_t i = 0; i < n; i++) {
        const double *terms = terms_of(k, found[i].mapping, NULL);
        if (terms != NULL)
            (void)add(k, (dfl_front_point){ found[i].mapping, terms }, rounding);
    }
}

const dfl_front *dfl_pareto_front_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_map_options *options, double limit, const dfl_front_alone *alone,
                                       bool *fits)
{
    judge k = { .arena = arena, .names = names, .objective = options->objective, .exact = true };
    dfl_map_options all = *options;
    dfl_front *out = DFL_NEW(arena, dfl_front);
    dfl_map_result *search = DFL_NEW(arena, dfl_map_result);

    all.front = true;
    all.front_limit = limit;
    all.certificate = false;
    out->search = dfl_mapper_run(arena, sink, names, mapping, &all, fits);
    if (out->search == NULL)
        return NULL;
    *search = *out->search;
    out->search = search;
    for (uint32_t i = 0; i < search->n_front; i++) {
        const double *terms = terms_of(&k, search->front[i].mapping, &search->front[i]);
        if (terms != NULL)
            (void)add(&k, (dfl_front_point){ search->front[i].mapping, terms }, 1);
    }
    if (!k.exact && search->stopped == DFL_STOP_NONE && sees_both(options->objective))
        add_limited(&k, mapping, options);
    out->lossy = k.dropped && (alone == NULL || alone->other || !sees_both(options->objective));
    k.exact &= !out->lossy;
    if (alone != NULL && !(k.exact && search->optimal))
        add_alone(&k, mapping, options, alone, search);
    out->at = k.kept.at;
    out->n = (uint32_t)k.kept.n;
    out->exact = k.exact;
    return out;
}

/* Whether a body can keep an operand for several of its einsums that read it, which costs less than a keep for each. */
static bool has_common(const dfl_workload *w)
{
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].n_consumers > 1)
            return true;
    return false;
}

/* Adds a mapping in its place; of one kind the best stays. */
static void add_to_kinds(judge *k, const dfl_mapping *m, const double *terms)
{
    size_t at;

    for (at = 0; at < k->kept.n && dfl_signature_of_mapping(k->kept.at[at].mapping) != dfl_signature_of_mapping(m); at++)
        ;
    if (at == k->kept.n)
        DFL_PUSH(k->arena, &k->kept, ((dfl_front_point){ m, terms }));
    else if (!dfl_objective_less(k->objective, terms, k->kept.at[at].terms))
        return;
    for (; at > 0 && dfl_objective_less(k->objective, terms, k->kept.at[at - 1].terms); at--)
        k->kept.at[at] = k->kept.at[at - 1];
    k->kept.at[at] = (dfl_front_point){ m, terms };
}

/* Adds the best of a kind, with better amounts where the search counted less than it costs. Kinds of rows can be one when they
   are written, for what a body keeps serves all below it: then the better one counts. */
static void add_kind(judge *k, const dfl_map_point *found, const dfl_search_limits *limits)
{
    static const double rounding = 1 + 1e-9;
    bool exact = k->exact;
    const dfl_polish_options polish = { .objective = k->objective, .limits = *limits, .space.perfect = true,
                                        .same_kind = true };
    const dfl_mapping *m = found->mapping;
    const double *terms = terms_of(k, m, found), least = dfl_objective_term(k->objective, 0, found->joules, found->seconds);
    double value;

    if (terms == NULL || terms[0] > least * rounding) {
        dfl_map_point better = *found;
        better.mapping = dfl_polish(k->arena, k->names, m, &polish, &value);
        m = better.mapping;
        terms = terms_of(k, m, &better);
        exact &= terms != NULL && terms[0] <= least * rounding;
    }
    if (terms != NULL && terms[0] < least * (2 - rounding) && !has_common(m->workload)) {
        if (m->workload->n_einsums == 1)
            return;
        exact = false;
    }
    k->exact = exact;
    if (terms == NULL)
        return;
    add_to_kinds(k, m, terms);
}

/* Adds the best of all as the search for it alone finds it. */
static void add_best(judge *k, dfl_sink *sink, const dfl_mapping *mapping, const dfl_map_options *options,
                     const dfl_mapping *best, dfl_map_result *search)
{
    static const double rounding = 1 + 1e-9;
    const dfl_map_result *r = NULL;
    const double *terms;

    if (k->kept.n == 0 || search->stopped != DFL_STOP_NONE ||
        (best == NULL && search->optimal && k->exact && k->kept.at[0].terms[0] <= search->lower_bound * rounding))
        return;
    k->exact &= best == NULL; /* it may be outside of the space of the bound */
    if (best == NULL)
        r = search_alone(k, sink, mapping, options, search);
    if (r != NULL) {
        best = r->mapping;
        search->lower_bound = fmax(search->lower_bound, r->lower_bound);
    }
    terms = best != NULL ? terms_of(k, best, NULL) : NULL;
    if (terms != NULL)
        add_to_kinds(k, best, terms);
}

/* Adds the best of each kind by boxes, which count what is waited for: what costs least by far need not be the first when nothing
   is. Of several einsums it looks for more kinds than are asked for. */
static void add_waiting(judge *k, const dfl_mapping *mapping, const dfl_map_options *asked,
                        dfl_map_result *search)
{
    dfl_map_point kinds[DFL_MAP_TOP];
    dfl_map_options options = *asked;
    const dfl_map_result *r = NULL;
    uint32_t n;

    if (k->exact || search->stopped != DFL_STOP_NONE)
        return;
    n = dfl_single_kinds(k->arena, k->names, mapping, asked, kinds);
    for (uint32_t i = 0; i < n; i++)
        add_kind(k, &kinds[i], &asked->limits);
    if (n == 0 && asked->top < DFL_MAP_TOP && search->evaluated < SHORT) {
        options.top = DFL_MAP_TOP;
        r = search_alone(k, dfl_sink_quiet(k->arena), mapping, &options, search);
    }
    for (uint32_t i = 0; r != NULL && i < r->n_front; i++)
        add_kind(k, &r->front[i], &asked->limits);
    k->exact = false;
}

const dfl_front *dfl_pareto_front_kinds(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                        const dfl_map_options *options, uint32_t top, const dfl_mapping *best,
                                        bool *fits)
{
    judge k = { .arena = arena, .names = names, .objective = options->objective, .exact = true };
    dfl_map_options all = *options;
    dfl_front *out = DFL_NEW(arena, dfl_front);
    dfl_map_result *search = DFL_NEW(arena, dfl_map_result);
    bool more;

    all.certificate = false;
    all.top = top < DFL_MAP_TOP ? top : DFL_MAP_TOP;
    do {
        k.kept.n = 0;
        out->search = dfl_mapper_run(arena, sink, names, mapping, &all, fits);
        if (out->search == NULL)
            return NULL;
        for (uint32_t i = 0; i < out->search->n_front; i++)
            add_kind(&k, &out->search->front[i], &options->limits);
        more = out->search->n_front == all.top && all.top < DFL_MAP_TOP && out->search->stopped == DFL_STOP_NONE;
        all.top = all.top * 2 < DFL_MAP_TOP ? all.top * 2 : DFL_MAP_TOP;
    } while (k.kept.n < top && more);
    *search = *out->search;
    out->search = search;
    add_waiting(&k, mapping, &all, search);
    add_best(&k, sink, mapping, options, best, search);
    out->at = k.kept.at;
    out->n = k.kept.n < top ? (uint32_t)k.kept.n : top;
    out->exact = k.exact;
    return out;
}

/* Puts a mapping that is better than the best one first, in place of that of its kind. */
static bool add_first(judge *k, const dfl_mapping *m, const double *terms, double times)
{
    const uint64_t kind = dfl_signature_of_mapping(m);
    size_t n = 1;

    if (k->kept.n > 0 && dfl_value_times(terms[0], times) >= k->kept.at[0].terms[0])
        return false;
    DFL_PUSH(k->arena, &k->kept, ((dfl_front_point){ m, terms }));
    memmove(&k->kept.at[1], &k->kept.at[0], (k->kept.n - 1) * sizeof *k->kept.at);
    k->kept.at[0] = (dfl_front_point){ m, terms };
    for (size_t i = 1; i < k->kept.n; i++)
        if (dfl_signature_of_mapping(k->kept.at[i].mapping) != kind)
            k->kept.at[n++] = k->kept.at[i];
    k->kept.n = n;
    return true;
}

bool dfl_front_add(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, bool is_front,
                   const dfl_mapping *mapping, dfl_front *front)
{
    static const double rounding = 1 + 1e-9;
    judge k = { .arena = arena, .names = names, .objective = objective };
    const double *terms = terms_of(&k, mapping, NULL);
    bool is_added;

    if (terms == NULL)
        return false;
    for (uint32_t i = 0; i < front->n; i++)
        DFL_PUSH(arena, &k.kept, front->at[i]);
    is_added = is_front ? add(&k, (dfl_front_point){ mapping, terms }, rounding) : add_first(&k, mapping, terms, rounding);
    front->at = k.kept.at;
    front->n = (uint32_t)k.kept.n;
    return is_added;
}
