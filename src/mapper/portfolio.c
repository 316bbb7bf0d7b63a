/* The searches of a request for lines, and what follows them: polishes, other kinds, extensions. */
#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/branches/branches.h"
#include "mapper/exact/feasibility.h"
#include "mapper/exact/weights.h"
#include "mapper/first/first.h"
#include "mapper/improve/neighbourhoods.h"
#include "mapper/improve/polish.h"
#include "mapper/portfolio.h"
#include "mapper/problem/criteria.h"
#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/rank_padding.h"
#include "mapper/problem/space_text.h"
#include "mapper/single/single.h"

enum {
    KINDS = 16,                  /* structures of mappings whose best ones are polished besides the best of all */
    SHORT = 1 << 22,             /* nodes below which a search is short, so that a search for structures follows */
    LEFT = 1000000,              /* evaluations in all climbs of a request, each counted once for each einsum: some seconds */
};

static const double ROUNDING = 1 + 1e-9;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *given;
    dfl_polish_options options;
    bool is_box;                 /* the search was by boxes, which count other things than the search for kinds */
    double least;                /* value of the best so far */
    dfl_map_result *out;
} improver;

/* Takes a mapping, of the workload that is given or of one with longer ranks, if it is better by the model when polished. */
static void take_better(improver *k, const dfl_mapping *found)
{
    dfl_mapping m = *found;
    double value;

    m.workload = k->given->workload;
    found = dfl_polish(k->arena, k->names, &m, &k->options, &value);
    if (value >= k->least)
        return;
    k->least = value;
    k->out->mapping = dfl_mapping_copy(k->arena, found);
}

static void add_up(improver *k, const dfl_map_result *r)
{
    k->out->evaluated += r->evaluated;
    k->out->pruned += r->pruned;
    if (k->out->stopped == DFL_STOP_NONE)
        k->out->stopped = r->stopped;
}

/* Where the search counts less than a mapping costs, because transfers do not overlap with the work, the best of another kind may
   cost less: of all that there are if nothing is waited for, so that what could be spared does not count. Only where the search
   itself was short. */
static void try_kinds(improver *k, const dfl_map_options *options)
{
    dfl_map_options several = *options;
    dfl_arena *work;
    const dfl_map_result *r;
    bool fits = true;

    if (k->out->evaluated > SHORT || k->given->workload->n_einsums > DFL_PROBLEM_WAITING ||
        dfl_mapping_has_open_branches(k->given) ||
        !dfl_mapping_all_lines_open(k->given))
        return;
    several.top = KINDS;
    several.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, k->out->evaluated);
    several.certificate = false;
    if (k->is_box && (several.limits.evaluations == 0 || several.limits.evaluations > SHORT))
        several.limits.evaluations = SHORT;
    work = dfl_arena_new(dfl_arena_budget(k->arena));
    r = dfl_branches_search(work, dfl_sink_new(work, NULL), k->names, k->given, &several, &fits);
    for (uint32_t i = 0; r != NULL && i < r->n_front; i++)
        take_better(k, r->front[i].mapping);
    if (r != NULL)
        add_up(k, r);
    if (k->is_box && k->out->stopped == DFL_STOP_EVALUATIONS && options->limits.evaluations == 0)
        k->out->stopped = DFL_STOP_NONE; /* a limit of its own, and the search by boxes has ended */
    dfl_arena_free(work);
}

/* Whether the search may stop at the best so far, whose gap is small enough; notes it. `bound` is a lower bound of all that the
   options ask for. */
static bool is_close(improver *k, double bound)
{
    if (k->out->stopped == DFL_STOP_NONE && k->least > dfl_value_times(bound, ROUNDING) &&
        dfl_gap_reached(&k->options.limits, k->least, bound))
        k->out->stopped = DFL_STOP_GAP;
    return k->out->stopped == DFL_STOP_GAP;
}

static void try_longer(improver *k, const dfl_map_options *options, uint32_t way)
{
    dfl_map_options left = *options;
    dfl_mapping *longer = dfl_rank_padding_longer(k->arena, k->given, way);
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    dfl_sink *quiet = dfl_sink_quiet(work);
    const dfl_map_result *r;
    bool fits = true;

    left.limits.gap = 0; /* the bound is none of the ranks that are given */
    left.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, k->out->evaluated);
    r = longer ? dfl_branches_search(work, quiet, k->names, longer, &left, &fits) : NULL;
    if (r) {
        take_better(k, r->mapping);
        add_up(k, r);
    }
    dfl_arena_free(work);
}

/* What goes beyond the space changes which transfers are waited for, beside what, and so begins with what is best if nothing
   waits; what the search found stays if it is better. */
static void go_beyond(improver *k, const dfl_map_options *options)
{
    dfl_map_options from = *options;
    dfl_sink *quiet = dfl_sink_quiet(k->arena);
    improver other = *k;
    dfl_map_result *out = k->out;
    bool fits = true;

    from.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, out->evaluated);
    if ((options->space.extensions & ~(uint32_t)DFL_SEARCH_ORDER) != 0 && !k->given->options.overlap_perfect)
        other.out = dfl_branches_search(k->arena, quiet, k->names, k->given, &from, &fits);
    else
        other.out = NULL;
    if (other.out != NULL && other.out->stopped == DFL_STOP_NONE) {
        other.least = dfl_mapping_value(dfl_arena_budget(k->arena), k->names, other.out->mapping, options->objective);
        take_better(&other, other.out->mapping);
        if (other.least > other.out->lower_bound)
            try_kinds(&other, &from);
        dfl_neighbourhoods_search(k->arena, k->names, k->given, &from, &k->options, other.out, &other.least);
        add_up(k, other.out);
        out->lower_bound = other.out->lower_bound;
        if (other.least < k->least)
            out->mapping = other.out->mapping;
        k->least = fmin(k->least, other.least);
    } else {
        dfl_neighbourhoods_search(k->arena, k->names, k->given, options, &k->options, out, &k->least);
    }
}

/* The first mapping that fits, if what a search has is no better when it is stopped. */
static void take_first(improver *k, uint32_t max_fused)
{
    const dfl_budget *session = dfl_arena_budget(k->arena);
    dfl_map_result *out = k->out;
    dfl_budget budget;
    dfl_deadline brief;
    const dfl_feasibility f = { .names = k->names, .max_fused = max_fused, .halt = &brief };
    const double start = dfl_budget_time(session), value = dfl_mapping_value(NULL, k->names, out->mapping, k->options.objective);
    double joules, seconds;
    dfl_mapping *first;

    if ((out->stopped == DFL_STOP_TIME || out->stopped == DFL_STOP_CANCELLED) && !isinf(value) &&
        dfl_budget_time(session) - start > DFL_GRACE_EVALUATION)
        return;
    dfl_deadline_grace(&brief, &budget, DFL_STOP_TIME, 0, NULL);
    if (out->stopped != DFL_STOP_TIME && out->stopped != DFL_STOP_CANCELLED) {
        budget.cancel = session != NULL ? session->cancel : NULL;
        budget.work = session != NULL ? session->work : NULL;
        brief.at = k->options.limits.deadline;
    }
    first = dfl_mapping_all_lines_open(k->given) ? dfl_feasibility_first(k->arena, &f, k->given, &joules, &seconds) : NULL;
    if (first == NULL || dfl_mapping_value(NULL, k->names, first, k->options.objective) >= value)
        return;
    out->mapping = first;
    out->joules = joules + dfl_system_leakage(k->given->system) * seconds;
    out->seconds = seconds;
}

/* A lower bound of the space that the options ask for, before it is searched. */
static double asked_bound(const dfl_map_result *out, const dfl_map_options *options)
{
    double bound = out->lower_bound;

    if (options->space.imperfect || options->space.extensions != 0)
        bound = fmin(bound, out->floor);
    if ((options->space.extensions & ~(uint32_t)DFL_SEARCH_ORDER) != 0)
        bound = fmin(bound, out->floor_units);
    return bound;
}

/* For a search that stopped before it left the space of tiles that divide: sets the lower bound and the description of the space
   to those of the whole space that the options ask for. */
static void widen(improver *k, const dfl_map_options *options)
{
    dfl_map_result *out = k->out;

    if (!options->space.imperfect && options->space.extensions == 0)
        return;
    out->optimal = false;
    out->lower_bound = asked_bound(out, options);
    out->space = dfl_mapper_words(k->arena, k->given,
                                  &(dfl_words){ .ragged = options->space.imperfect, .spread = options->space.any_spread,
                                                .certified = options->certificate, .beyond = options->space.extensions });
}

/* Takes what is better than the result where the search counts less than a mapping costs. */
static void improve_waits(improver *k, const dfl_map_options *options, double bound)
{
    take_better(k, k->out->mapping);
    if (!is_close(k, bound) && (k->is_box || k->least > dfl_value_times(k->out->lower_bound, ROUNDING)))
        try_kinds(k, options);
}

/* Sets the bound, the proof and the words of a result that polishing may have taken out of the space that was searched. */
static void settle(improver *k, dfl_map_options *options)
{
    dfl_map_result *out = k->out;

    if (!options->space.imperfect && options->space.extensions == 0 &&
        k->least < dfl_value_times(out->lower_bound, 1 / ROUNDING)) {
        options->space.imperfect = out->uneven = true; /* polishing has left the space */
        out->least = false;
        out->lower_bound = fmin(out->lower_bound, out->floor);
    }
    if (options->space.imperfect || options->space.extensions != 0)
        out->space = dfl_mapper_words(k->arena, k->given,
                                      &(dfl_words){ .ragged = options->space.imperfect, .spread = options->space.any_spread,
                                                    .certified = options->certificate, .beyond = options->space.extensions });
    out->optimal = k->least <= dfl_value_times(out->lower_bound, ROUNDING);
    if (k->least < dfl_value_times(out->lower_bound, 1 / ROUNDING)) { /* the mapping lies outside the space of the bound */
        out->optimal = false;
        out->lower_bound = fmin(out->floor_units, k->least);
    }
}

static dfl_map_result *run_divisors(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                    const dfl_map_options *asked, bool *fits)
{
    uint64_t left = LEFT;
    improver k = { .arena = arena, .names = names, .given = mapping,
                   .options = { .objective = asked->objective, .given = mapping, .limits = asked->limits,
                                .space = asked->space, .left = &left } };
    dfl_map_options options = *asked;
    dfl_map_result *out;
    double bound;

    out = k.out = dfl_branches_search(arena, sink, names, mapping, &options, fits);
    if (out != NULL && out->stopped != DFL_STOP_NONE && out->stopped != DFL_STOP_GAP && !options.front && options.top == 0)
        take_first(&k, options.space.max_shared_loops);
    if (out == NULL || out->stopped != DFL_STOP_NONE || options.front || options.top > 0) {
        if (out != NULL && !options.front && options.top == 0)
            widen(&k, &options);
        return out;
    }
    k.least = dfl_mapping_value(dfl_arena_budget(arena), names, out->mapping, options.objective);
    out->inside = out->optimal && k.least <= dfl_value_times(out->lower_bound, ROUNDING);
    if (out->inside && !options.space.imperfect && options.space.extensions == 0)
        return out;
    bound = asked_bound(out, &options);
    improve_waits(&k, &options, bound);
    if (options.space.imperfect) {
        for (uint32_t way = 0; way < DFL_RAGGED_WAYS && !is_close(&k, bound) && out->stopped == DFL_STOP_NONE; way++)
            try_longer(&k, &options, way);
        out->lower_bound = out->floor;
    }
    if (is_close(&k, bound))
        out->lower_bound = bound;
    else if (options.space.extensions != 0)
        go_beyond(&k, &options);
    settle(&k, &options);
    return out;
}

/* What follows a search by boxes over tiles that divide where transfers are waited for. Polishing may find
   better mappings with other tiles, also where the best of those that divide is proven, unless other tiles were ruled out. */
static void improve_divisors(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *asked,
                             dfl_map_result *out)
{
    uint64_t left = LEFT;
    improver k = { .arena = arena, .names = names, .given = mapping, .out = out, .is_box = true,
                   .options = { .objective = asked->objective, .given = mapping, .limits = asked->limits,
                                .space = asked->space, .left = &left } };
    dfl_map_options options = *asked;

    if (out->stopped != DFL_STOP_NONE ||
        (out->optimal && (asked->space.perfect || !dfl_weights_count_waits(mapping, asked->objective, asked->front))))
        return;
    k.least = out->objective;
    improve_waits(&k, &options, out->lower_bound);
    settle(&k, &options);
}

/* What follows a search by boxes over all tile sizes without a proof: loops and keeps that move nothing may shorten waits, and
   dives find few tiles of a skeleton if a limit of the boxes' own ends them. The bound of the search is one of all mappings
   (SEARCH.md, D2), so it stays; a mapping below it is an internal error. */
static void improve_any(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                        const dfl_map_options *asked, dfl_map_result *out)
{
    uint64_t left = LEFT;
    improver k = { .arena = arena, .names = names, .given = mapping, .out = out, .is_box = true,
                   .options = { .objective = asked->objective, .given = mapping, .limits = asked->limits,
                                .space = asked->space, .left = &left } };

    if (out->optimal || !dfl_mapping_all_lines_open(mapping) ||
        (out->stopped != DFL_STOP_NONE && out->stopped != DFL_STOP_TIME &&
         (out->stopped != DFL_STOP_EVALUATIONS || asked->limits.evaluations > 0)))
        return;
    k.least = out->objective;
    take_better(&k, out->mapping);
    if (k.least < dfl_value_times(out->objective, 1 / ROUNDING)) {
        out->least = false;
        out->seconds = INFINITY; /* solve compares that of the model with the bound */
        out->objective = k.least;
    }
    out->optimal = dfl_objective_check_bound(sink, mapping->span, k.least, out->lower_bound) &&
                   k.least <= dfl_value_times(out->lower_bound, ROUNDING);
}

/* Takes the mapping of another search in place of that of the search over all tile sizes, if it is better. */
static void take_other(const dfl_intern *names, const dfl_objective *objective, const dfl_map_result *other, dfl_map_result *out)
{
    const double value = other->mapping != NULL ? dfl_mapping_value(NULL, names, other->mapping, objective) : INFINITY;

    out->evaluated += other->evaluated;
    out->pruned += other->pruned;
    if (value >= dfl_value_times(out->objective, 1 / ROUNDING))
        return;
    out->mapping = other->mapping;
    out->joules = other->joules;
    out->seconds = other->seconds;
    out->objective = value;
    out->lower_bound = fmin(out->lower_bound, value);
}

/* The options of the search over all tile sizes: it leaves a part of the time to the searches that follow it. */
static dfl_map_options leave_time(const dfl_budget *budget, const dfl_map_options *asked)
{
    dfl_map_options out = *asked;
    const double now = dfl_budget_time(budget);

    if (asked->limits.deadline > 0)
        out.limits.deadline = now + (asked->limits.deadline - now) * DFL_BOX_TIME;
    return out;
}

/* The mapping of a quick search, where another search may end without a proof: all its tiles may leave pieces that are not
   full. */
static dfl_first_result find_first(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                   const dfl_map_options *options, bool any_spread)
{
    const bool is_handled = !options->front && options->top == 0 && !options->certificate && options->ceiling == 0 &&
                            dfl_first_handles(mapping, options->objective);
    dfl_first_result out = { .value = INFINITY };

    if (is_handled && !options->space.perfect && (options->space.imperfect || dfl_first_is_deep(arena, names, mapping)))
        out = dfl_first_find(arena, names, mapping, options->objective, &options->limits,
                             any_spread || options->space.any_spread, DFL_FIRST_WIDE);
    if (is_handled)
        out.lower_bound = dfl_first_bound(arena, names, mapping, options->objective);
    return out;
}

/* Raises the lower bound to that of the floor; with it, the mapping found may be proven. */
static void raise_bound(const dfl_intern *names, const dfl_objective *objective, const dfl_first_result *first,
                        dfl_map_result *out)
{
    if (out->optimal || out->mapping == NULL || first->lower_bound <= out->lower_bound)
        return;
    out->lower_bound = first->lower_bound;
    if (dfl_mapping_value(NULL, names, out->mapping, objective) <= dfl_value_times(out->lower_bound, ROUNDING)) {
        out->optimal = true;
        out->stopped = DFL_STOP_NONE;
    }
}

/* Whether the model counts no more for the mapping than the search that proved it. */
static bool is_proven(const dfl_intern *names, const dfl_objective *objective, const dfl_map_result *r)
{
    return r->optimal && dfl_mapping_value(NULL, names, r->mapping, objective) <= dfl_value_times(r->lower_bound, ROUNDING);
}

/* Of an objective of several terms, the best of the first one by boxes, if it is better than that of a search without proof. */
static void take_first_term(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                            dfl_map_result *out)
{
    const dfl_first_result none = { .value = INFINITY };
    dfl_objective one = *options->objective;
    dfl_map_options alone = *options;
    const dfl_map_result *r;
    double value;

    one.n_terms = 1;
    alone.objective = &one;
    alone.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, out->evaluated);
    if (options->objective->n_terms < 2 || out->stopped != DFL_STOP_NONE || is_proven(names, &one, out) ||
        !dfl_single_applies(mapping, &alone))
        return;
    value = dfl_mapping_value(NULL, names, out->mapping, &one);
    r = dfl_single_search(arena, names, mapping, &alone, &none);
    if (r == NULL || r->objective >= dfl_value_times(value, 1 / ROUNDING))
        return;
    out->mapping = r->mapping;
    out->joules = r->joules;
    out->seconds = r->seconds;
    out->objective = r->objective;
}

/* Takes the first mapping where it is better than that of a search without proof. */
static void take_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                       const dfl_first_result *first, dfl_map_result *out)
{
    const double value = first->mapping != NULL ? dfl_mapping_value(NULL, names, out->mapping, options->objective) : 0;

    out->evaluated += first->evaluated;
    if (is_proven(names, options->objective, out) || (out->stopped == DFL_STOP_NONE && !options->space.imperfect) ||
        dfl_value_times(first->value, ROUNDING) >= value)
        return;
    out->mapping = first->mapping;
    out->optimal = false;
    out->joules = first->joules;
    out->seconds = first->seconds;
    out->uneven = !options->space.imperfect;
    out->lower_bound = fmin(out->lower_bound, out->floor);
    if (first->value < dfl_value_times(out->lower_bound, 1 / ROUNDING))
        out->lower_bound = fmin(out->floor_units, first->value);
    out->space = dfl_mapper_words(arena, mapping, &(dfl_words){ .ragged = true, .spread = options->space.any_spread,
                                                                .beyond = options->space.extensions });
}

/* The first mapping as the result, if its gap is small enough or it took all evaluations; else NULL. */
static dfl_map_result *take_close(dfl_arena *arena, const dfl_mapping *mapping, const dfl_map_options *options,
                                  const dfl_first_result *first)
{
    const bool is_close = first->mapping != NULL && dfl_gap_reached(&options->limits, first->value, first->lower_bound);
    dfl_map_result *out;

    if (first->mapping == NULL ||
        (!is_close && (options->limits.evaluations == 0 || first->evaluated < options->limits.evaluations)))
        return NULL;
    out = DFL_NEW(arena, dfl_map_result);
    *out = (dfl_map_result){ .mapping = first->mapping, .joules = first->joules, .seconds = first->seconds,
                             .objective = first->value, .lower_bound = first->lower_bound, .floor = first->lower_bound,
                             .floor_beside = first->lower_bound, .floor_units = first->lower_bound,
                             .floor_lifted = first->lower_bound, .uneven = !options->space.imperfect,
                             .stopped = is_close ? DFL_STOP_GAP : DFL_STOP_EVALUATIONS, .evaluated = first->evaluated };
    out->space = dfl_mapper_words(arena, mapping, &(dfl_words){ .ragged = true, .spread = options->space.any_spread,
                                                                .beyond = options->space.extensions });
    return out;
}

/* Looks at all nests of a small einsum of which lists proved nothing. */
static void add_nests(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                      dfl_map_result *out)
{
    const double value = dfl_mapping_value(dfl_arena_budget(arena), names, out->mapping, options->objective);
    dfl_nests_result nests;

    if (is_proven(names, options->objective, out) || out->stopped != DFL_STOP_NONE || out->uneven || options->space.imperfect)
        return;
    nests = dfl_single_nests(arena, names, mapping, options, out->evaluated, value);
    out->evaluated += nests.evaluated;
    out->stopped = nests.stopped;
    if (nests.mapping != NULL)
        out->mapping = nests.mapping;
    if (!nests.is_complete)
        return;
    out->seconds = INFINITY; /* solve compares that of the model with the bound */
    out->objective = out->lower_bound = nests.value;
    out->optimal = out->inside = true;
}

const dfl_map_result *dfl_mapper_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                     const dfl_mapping *mapping, const dfl_map_options *asked, bool *fits)
{
    const bool is_single = dfl_single_applies(mapping, asked);
    const dfl_first_result first = find_first(arena, names, mapping, asked, is_single && asked->space.imperfect);
    dfl_map_options options = is_single ? leave_time(dfl_arena_budget(arena), asked) : *asked;
    dfl_map_result *out = take_close(arena, mapping, asked, &first);
    const dfl_map_result *other;
    dfl_sink *quiet;

    if (out != NULL)
        return out;
    out = is_single ? dfl_single_search(arena, names, mapping, &options, &first) : NULL;
    if (out == NULL) {
        out = run_divisors(arena, sink, names, mapping, asked, fits);
        if (out != NULL) {
            take_first_term(arena, names, mapping, asked, out);
            take_quick(arena, names, mapping, asked, &first, out);
            raise_bound(names, asked->objective, &first, out);
        }
        if (out != NULL && is_single)
            add_nests(arena, names, mapping, asked, out);
        return out;
    }
    if (asked->space.imperfect)
        improve_any(arena, sink, names, mapping, asked, out);
    else
        improve_divisors(arena, names, mapping, asked, out);
    raise_bound(names, asked->objective, &first, out);
    if (out->stopped != DFL_STOP_TIME && out->stopped != DFL_STOP_EVALUATIONS)
        return out;
    quiet = dfl_sink_quiet(arena);
    options.limits = asked->limits;
    options.limits.evaluations = dfl_evaluations_left(asked->limits.evaluations, out->evaluated);
    other = run_divisors(arena, quiet, names, mapping, &options, fits);
    *fits = true;
    if (other != NULL && !asked->space.imperfect && is_proven(names, asked->objective, other))
        return other;
    if (other != NULL)
        take_other(names, asked->objective, other, out);
    if (!asked->space.imperfect)
        take_quick(arena, names, mapping, asked, &first, out);
    return out;
}
