/* The whole search: least costs of the classes, rows within a limit, the join, and again with a larger limit. */
#include "mapper/exact/exact.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/exact/certificate.h"
#include "mapper/exact/einsum_classes.h"
#include "mapper/exact/feasibility.h"
#include "mapper/exact/pass_through.h"
#include "mapper/exact/primal.h"
#include "mapper/exact/reconstruct.h"
#include "mapper/exact/reservations.h"
#include "mapper/exact/weights.h"
#include "mapper/exact/workers.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/space_text.h"

_Static_assert((int)DFL_MAP_SHARED_LOOPS == (int)DFL_ROW_LOOPS && (int)DFL_MAP_KEEPS == (int)DFL_PROBLEM_CLAIMED &&
               (int)DFL_MAP_TOP == (int)DFL_TOP,
               "the limits that are told are those in force");

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *m;
    const dfl_map_options *options;
    dfl_einsum_classes classes;
    dfl_pass_through *through; /* NULL = no einsum stands between others */
    dfl_tile_goal goal;
    double capacity[DFL_ROW_TRACKS];
    dfl_cost_to_go *bounds;
    dfl_workers crew;
    dfl_stop stopped;
    double known;              /* value of the einsums one by one; INFINITY = not known, or lost by rounding */
    bool full;                 /* the join has lost states */
} mapper;

static double objective_value(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

/* ---- what there is ---- */

/* Sets the tracks; false if the tensors that are always resident do not fit, or after reporting. */
static bool find_tracks(mapper *k, dfl_sink *sink, bool *reported)
{
    uint32_t more = DFL_NONE, counted = k->options->front ? k->options->objective->room : DFL_NONE;
    bool fits = dfl_reservations_find(k->arena, &k->classes, &k->goal, k->capacity, counted, &more);

    *reported = fits && more != DFL_NONE;
    if (*reported)
        dfl_reservations_report(sink, k->m, more);
    return fits && !*reported;
}

/* ---- the search ---- */

/* False if some einsum fits in no way. */
static bool find_bounds(mapper *k)
{
    dfl_einsum_classes *all = &k->classes;

    k->bounds = dfl_einsum_classes_cost_to_go(k->arena, all);
    for (size_t i = 0; i < all->at.n; i++) {
        dfl_einsum_class *c = &all->at.at[i];
        c->others = DFL_NEW_ARRAY(k->arena, dfl_criteria, c->patterns.n + 1);
        for (uint32_t p = 0; p < c->patterns.n; p++)
            c->others[p] = dfl_criteria_none();
    }
    for (uint32_t e = 0; e < all->n; e++) {
        dfl_einsum_class *c = &all->at.at[all->of[e]];
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            dfl_criteria others = dfl_cost_to_go_others(k->bounds, e, p);
            dfl_criteria_lower(&c->others[p], &others);
        }
    }
    return dfl_cost_to_go_all(k->bounds).at[DFL_COST_SECONDS] < INFINITY;
}

/* Rows of all classes, wave by wave: those of later ones know what the earlier ones offer. False if some class has none. */
static bool search_classes(mapper *k)
{
    dfl_einsum_classes *all = &k->classes;
    uint32_t *wave = DFL_NEW_ARRAY(k->arena, uint32_t, all->at.n + 1), n;

    all->plain = k->options->certificate; /* which does not tell what partners cost */
    k->goal.wanted = dfl_einsum_classes_wanted;
    k->goal.loop_wanted = dfl_einsum_classes_loop_wanted;
    dfl_einsum_classes_restart(all);
    for (uint32_t number = 0; (n = dfl_einsum_classes_wave(all, number, wave)) > 0; number++) {
        if (!dfl_workers_rows(&k->crew, wave, n)) {
            k->stopped = k->crew.stopped;
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            dfl_einsum_classes_offer(k->arena, all, &k->goal.of, wave[i]);
            if (all->at.at[wave[i]].n_list == 0)
                return false;
        }
    }
    return true;
}

static void take(mapper *k, const dfl_join_result *r, dfl_map_result *out)
{
    out->mapping = dfl_reconstruct(k->arena, k->m, dfl_einsum_classes_chosen(k->arena, &k->classes, r->rows), r);
    out->joules = r->joules;
    out->seconds = r->seconds;
    out->objective = r->value;
}

static double value_of(const mapper *k, double joules, double seconds)
{
    return dfl_objective_value(k->options->objective, joules + k->goal.of.leakage * seconds, seconds);
}

/* What no mapping can be below by the bounds of the templates alone: see dfl_weights_templates. */
static double template_bound(const mapper *k, bool beside, bool roomy)
{
    const dfl_criteria all = dfl_weights_templates(&k->classes, beside, roomy);

    return value_of(k, all.at[DFL_COST_JOULES], all.at[DFL_COST_SECONDS]);
}

/* The same by the units, of a search that was stopped before there were templates. */
static double unit_bound(const mapper *k, bool beside)
{
    const dfl_criteria all = dfl_weights_units(&k->classes, beside);

    return value_of(k, all.at[DFL_COST_JOULES], all.at[DFL_COST_SECONDS]);
}

/* Where keeps of several einsums may stand above their branch. */
static double lifted_bound(const mapper *k)
{
    const dfl_criteria all = dfl_weights_lifted(&k->classes);

    return value_of(k, all.at[DFL_COST_JOULES], all.at[DFL_COST_SECONDS]);
}

/* Some mapping that fits, of a search that was stopped before it had any. */
static bool take_first(mapper *k, dfl_map_result *out)
{
    dfl_budget budget;
    dfl_deadline patient;
    const dfl_feasibility f = { .names = k->names, .max_fused = k->options->space.max_shared_loops, .halt = &patient };

    if (!dfl_mapping_all_lines_open(k->m) || k->options->front || k->options->top > 0)
        return false;
    dfl_deadline_grace(&patient, &budget, k->stopped, k->options->limits.deadline, dfl_arena_budget(k->arena));
    out->mapping = dfl_feasibility_first(k->arena, &f, k->m, &out->joules, &out->seconds);
    out->joules += k->goal.of.leakage * out->seconds;
    out->objective = dfl_objective_value(k->options->objective, out->joules, out->seconds);
    if (k->bounds == NULL || dfl_einsum_classes_windows(&k->classes))
        out->lower_bound = unit_bound(k, false);
    return out->mapping != NULL;
}

/* The lower bound that the rows of a certificate prove. They do not tell which operands a row keeps above shared loops, so rows
   go together that no mapping has side by side, and can be worth less than the best mapping. */
static double bound_by_rows(mapper *k, double found, dfl_deadline *halt)
{
    const dfl_join_step *steps = dfl_einsum_classes_steps(k->arena, &k->classes);
    dfl_tile_goal goal = k->goal;
    const dfl_join_result *r;
    uint32_t n = 0;
    bool full = false;

    goal.any_keeps = true;
    goal.between = NULL;
    goal.halt = halt;
    r = dfl_join(k->arena, k->m->workload, steps, &goal, k->bounds, k->capacity, false, 0, &n, &full);
    return r != NULL && n > 0 ? fmin(r->value, found) : found;
}

static void certify(mapper *k, bool rows, dfl_map_result *out)
{
    const dfl_criteria all = rows ? dfl_cost_to_go_all(k->bounds) : dfl_criteria_zero();
    dfl_deadline halt = { .budget = dfl_arena_budget(k->arena), .at = k->options->limits.deadline };
    double proven = out->lower_bound;
    dfl_strbuf text;

    dfl_pass_through_append(k->arena, k->through, &k->classes);
    if (rows)
        proven = bound_by_rows(k, proven, &halt);
    dfl_strbuf_init(&text, k->arena);
    dfl_certificate_write(&text, k->names, &k->classes, &k->goal, rows ? &all : NULL, proven, &halt);
    if (k->stopped == DFL_STOP_NONE)
        k->stopped = halt.why;
    if (halt.why != DFL_STOP_NONE)
        return;
    out->certificate = text.text;
    out->certified = rows ? proven : template_bound(k, false, false);
}

static const dfl_map_point *take_front(mapper *k, const dfl_join_result *r, uint32_t n)
{
    dfl_map_point *front = DFL_NEW_ARRAY(k->arena, dfl_map_point, n);

    for (uint32_t i = 0; i < n; i++) {
        front[i].mapping = dfl_reconstruct(k->arena, k->m, dfl_einsum_classes_chosen(k->arena, &k->classes, r[i].rows), &r[i]);
        front[i].joules = r[i].joules;
        front[i].seconds = r[i].seconds;
        if (k->goal.room > 0)
            front[i].room = r[i].room + dfl_reservations_settled(k->arena, &k->classes, k->goal.track[k->goal.room - 1]);
    }
    return front;
}

static dfl_primal rescue_of(mapper *k)
{
    return (dfl_primal){ .arena = k->arena, .classes = &k->classes, .goal = &k->goal, .bounds = k->bounds,
                         .capacity = k->capacity, .deadline = k->options->limits.deadline };
}

/* Whether nothing can be better than what is found, and nothing else is asked for. */
static bool is_least(const mapper *k, const dfl_join_result *r, const dfl_map_result *out)
{
    return r->value <= dfl_value_times(out->lower_bound, DFL_VALUE_EQUAL) && !k->options->front && k->options->top == 0;
}

/* The best mapping of a value within the limit, or of each kind; false if there are none, or fewer than wanted. Where there is
   nothing else, and no larger limit to come, einsums between others are looked at all the same. */
static bool search_within(mapper *k, double limit, bool last, dfl_map_result *out)
{
    const dfl_join_result *r = NULL;
    uint32_t n = 0;
    bool full = false;
    dfl_primal rescue = rescue_of(k);

    k->goal.limit = limit;
    if (search_classes(k)) {
        const dfl_join_step *steps = dfl_einsum_classes_steps(k->arena, &k->classes);
        r = dfl_primal_join(&rescue, steps, k->options->front, out->lower_bound, &n, &full, &k->stopped);
        rescue.evaluations = dfl_evaluations_left(k->options->limits.evaluations, k->crew.evaluated);
        if (!full && k->stopped == DFL_STOP_NONE && k->through != NULL && (r != NULL ? !is_least(k, r, out) : last))
            r = dfl_pass_through_join(k->through, &rescue, steps, r, k->options, out->lower_bound, &n, &full, &k->stopped);
    }
    if (r && (k->options->front || k->options->top > 0))
        out->front = take_front(k, r, n);
    if (r) {
        take(k, r, out);
        out->n_front = n;
        full |= k->stopped != DFL_STOP_NONE;
        out->lower_bound = full ? out->lower_bound : r->value;
        out->lost = full && k->stopped == DFL_STOP_NONE;
        out->optimal = !full || (k->stopped == DFL_STOP_NONE && is_least(k, r, out));
        if (k->options->certificate && !k->goal.alone && !full && !dfl_einsum_classes_windows(&k->classes) &&
            dfl_mapping_all_lines_open(k->m))
            certify(k, true, out);
    }
    k->full |= full;
    dfl_primal_end(&rescue);
    dfl_pass_through_end(k->through, &k->crew.evaluated, &k->crew.pruned);
    dfl_workers_forget(&k->crew);
    return r != NULL && (n >= k->options->top || limit == INFINITY || k->stopped != DFL_STOP_NONE);
}

/* What there is when the search is stopped; false if there is nothing. */
static bool take_rescued(mapper *k, dfl_map_result *out)
{
    dfl_primal rescue = rescue_of(k);
    const dfl_join_result *r;

    dfl_primal_start(&rescue, k->stopped);
    r = k->bounds != NULL ? dfl_primal_any(&rescue, out->lower_bound)
                          : dfl_primal_unfused(k->arena, &k->classes, &k->goal, k->capacity);
    if (r != NULL)
        take(k, r, out);
    if (r != NULL && (k->options->front || k->options->top > 0)) {
        out->front = take_front(k, r, 1);
        out->n_front = 1;
    }
    dfl_primal_end(&rescue);
    return r != NULL;
}

/* What listeners hear from now on. */
static void begin(const mapper *k, const char *phase, double bound)
{
    dfl_progress_meter *t = k->options->limits.progress;
    const dfl_join_result *r;

    if (t == NULL || t->show == NULL)
        return;
    t->now.phase = phase;
    t->now.bound = dfl_einsum_classes_windows(&k->classes) ? fmin(bound, template_bound(k, false, true)) : bound;
    r = k->classes.at.n > 0 ? dfl_primal_unfused(k->arena, &k->classes, &k->goal, k->capacity) : NULL;
    if (r != NULL && !(t->now.best <= r->value))
        t->now.best = r->value;
}

/* Limits on the value, times the least: that itself, but for rounding, since often some mapping costs no more; then from a little
   above it to none, each about 2.5 times as far from it as the one before. */
static const double STEPS[] = { 1 + 1e-9, 1.0016, 1.004, 1.01, 1.025, 1.0625, 1.16, 1.4, 2, 3.5, 10, INFINITY };

/* The value of what is known to fit, each einsum by itself, if nothing above that is wanted; else INFINITY. */
static double known_apart(mapper *k)
{
    const dfl_join_result *r = NULL;

    if (!k->options->front && k->options->top == 0 && !k->options->certificate)
        r = dfl_primal_unfused(k->arena, &k->classes, &k->goal, k->capacity);
    return r != NULL ? r->value : INFINITY;
}

/* A lower bound of the space that the request asks for, which may be wider than that of this search. */
static double asked_bound(const mapper *k, const dfl_map_result *out)
{
    const dfl_search_space *space = &k->options->space;
    double bound = out->lower_bound;

    if (space->imperfect || space->extensions != 0 || dfl_einsum_classes_windows(&k->classes))
        bound = fmin(bound, template_bound(k, false, true));
    if ((space->extensions & ~(uint32_t)DFL_SEARCH_ORDER) != 0)
        bound = fmin(bound, unit_bound(k, true));
    return bound;
}

/* Stops the search if what it found costs so little more than the lower bound, by the model, that this is enough. */
static bool stop_if_close(mapper *k, const dfl_map_result *out)
{
    const dfl_search_limits *limits = &k->options->limits;
    double bound, value;

    if (limits->gap <= 0 || k->options->front || k->options->top > 0 || k->stopped != DFL_STOP_NONE)
        return false;
    bound = asked_bound(k, out);
    if (!dfl_gap_reached(limits, out->objective, bound))
        return false;
    value = dfl_mapping_value(dfl_arena_budget(k->arena), k->names, out->mapping, k->options->objective);
    if (!dfl_gap_reached(limits, value, bound) || value <= dfl_value_times(bound, DFL_VALUE_EQUAL)) /* which is the least */
        return false;
    k->stopped = DFL_STOP_GAP;
    return true;
}

/* Takes the einsums by themselves if that is close enough to the lower bound. */
static bool take_close(mapper *k, dfl_map_result *out)
{
    dfl_map_result some = *out;
    const dfl_join_result *r;

    if (k->options->limits.gap <= 0 || k->options->front || k->options->top > 0 || k->options->certificate || k->goal.alone ||
        k->goal.beside)
        return false;
    r = dfl_primal_unfused(k->arena, &k->classes, &k->goal, k->capacity);
    if (r == NULL || !dfl_gap_reached(&k->options->limits, r->value, asked_bound(k, out)))
        return false;
    take(k, r, &some);
    if (!stop_if_close(k, &some))
        return false;
    *out = some;
    return true;
}

/* False if some einsum fits in no way, or the search stopped. What cannot be part of anything as good as what is known does not
   count. */
static bool find_lower_bound(mapper *k, dfl_map_result *out)
{
    double ceiling = INFINITY;
    bool more = true, fits = true;
    dfl_criteria all;

    begin(k, "bounds", out->lower_bound);
    k->goal.wanted = NULL;
    k->goal.loop_wanted = NULL;
    for (uint32_t round = 0; more && fits; round++) {
        more = dfl_workers_least(&k->crew, round, ceiling);
        if (k->stopped == DFL_STOP_NONE)
            k->stopped = k->crew.stopped;
        fits = find_bounds(k);
        all = fits ? dfl_cost_to_go_all(k->bounds) : dfl_criteria_zero();
        out->lower_bound = fits ? dfl_goal_least(&k->goal.of, &all) : out->lower_bound;
        if (fits && k->stopped == DFL_STOP_NONE && take_close(k, out))
            return false;
        ceiling = fmin(ceiling, dfl_value_times(known_apart(k), DFL_VALUE_EQUAL));
    }
    return fits && k->stopped == DFL_STOP_NONE;
}

/* Goes through the limits from the lower bound on, and no further than to what is known; faster where one has looked at no more
   than the one before. False if there is nothing, or the search stopped. */
static bool search_limits(mapper *k, dfl_map_result *out)
{
    const size_t last = sizeof STEPS / sizeof *STEPS - 1;
    double least = out->lower_bound, ceiling = k->options->ceiling > 0 ? k->options->ceiling : INFINITY, limit = 0;
    uint64_t looked = 0;
    size_t stride = 1;
    bool found = false;

    k->known = known_apart(k);
    for (size_t i = 0; !found && k->stopped == DFL_STOP_NONE && limit < ceiling; i = i + stride < last ? i + stride : last) {
        uint64_t before = k->crew.evaluated;
        limit = fmin(dfl_value_times(least, STEPS[i]), ceiling);
        if (k->options->top == 0)
            limit = fmin(limit, dfl_value_times(k->known, DFL_VALUE_EQUAL));
        begin(k, "search", out->lower_bound);
        found = search_within(k, limit, limit >= ceiling, out);
        if (!found && k->stopped == DFL_STOP_NONE && !k->full && limit < INFINITY && out->mapping == NULL && !k->through)
            out->lower_bound = fmax(fmin(limit, k->known), out->lower_bound); /* nothing is below it */
        if (limit == INFINITY || (!found && take_close(k, out)))
            break;
        if (!found && limit >= k->known)
            k->known = INFINITY; /* lost by rounding */
        stride = k->crew.evaluated - before == looked ? stride * 2 : 1;
        looked = k->crew.evaluated - before;
    }
    return found;
}

/* Whether the search counts less time for what it found than it takes, though nothing waits. */
static bool counts_less(const mapper *k, const dfl_map_result *out)
{
    dfl_mapping perfect = *out->mapping;

    perfect.options.overlap_perfect = true;
    return k->goal.by_time && k->classes.n > 1 && k->stopped == DFL_STOP_NONE &&
           dfl_mapping_value(dfl_arena_budget(k->arena), k->names, &perfect, k->options->objective) >
               dfl_value_times(out->objective, 1 + 1e-9);
}

/* Where a port is busy with transfers above shared loops for longer than the einsums take below them, the time is that of the
   port, which rows are not chosen for. Then those are looked at that no other undercuts in this, too. */
static void search_beside(mapper *k, dfl_map_result *out)
{
    const dfl_map_options *all = k->options;
    dfl_map_options within = *all;
    dfl_map_result other = *out;
    double value;

    if (!counts_less(k, out))
        return;
    value = dfl_mapping_value(dfl_arena_budget(k->arena), k->names, out->mapping, all->objective);
    within.ceiling = all->ceiling > 0 ? fmin(all->ceiling, value) : value;
    other.mapping = NULL;
    k->options = &within;
    k->goal.beside = true;
    search_limits(k, &other);
    k->goal.beside = false;
    k->options = all;
    if (other.mapping == NULL) {
        out->lower_bound = fmax(out->lower_bound, other.lower_bound);
        return;
    }
    out->lower_bound = other.lower_bound;
    if (dfl_mapping_value(dfl_arena_budget(k->arena), k->names, other.mapping, all->objective) <= value)
        *out = other;
}

/* Where transfers above shared loops can overlap with several einsums, the bound leaves them out. A mapping that comes close
   to it by the model is all there is to know; else the one is tried that is best when they overlap with one einsum only. */
static void search_again(mapper *k, const dfl_intern *names, dfl_map_result *out)
{
    dfl_map_result other = *out;
    double value = dfl_mapping_value(dfl_arena_budget(k->arena), names, out->mapping, k->options->objective);

    if (!k->goal.by_time || k->stopped != DFL_STOP_NONE || value <= dfl_value_times(out->lower_bound, 1 + 1e-9))
        return;
    k->goal.alone = true;
    if (find_lower_bound(k, &other) && search_limits(k, &other) &&
        dfl_mapping_value(dfl_arena_budget(k->arena), names, other.mapping, k->options->objective) < value) {
        other.lower_bound = out->lower_bound;
        *out = other;
    }
}

/* Takes something else that was found if it is better by the model. */
static void try_one(mapper *k, const dfl_intern *names, const dfl_join_result *r, double *least, dfl_map_result *out)
{
    dfl_map_result other = *out;
    double value;

    const bool is_late = k->stopped == DFL_STOP_TIME || k->stopped == DFL_STOP_CANCELLED;

    if (r == NULL || (is_late && r->value >= *least)) /* which the model seldom makes less */
        return;
    take(k, r, &other);
    value = dfl_mapping_value(NULL, names, other.mapping, k->options->objective);
    if (value < *least) {
        *least = value;
        *out = other;
    }
}

/* Where transfers may wait that overlap in the search, or the search was stopped: the einsums by themselves, and what is found at
   a glance. */
static void try_others(mapper *k, const dfl_intern *names, bool glance, dfl_map_result *out)
{
    const bool waits = k->goal.by_time && !k->m->options.overlap_perfect, whole = k->stopped == DFL_STOP_NONE;
    const double bound = out->lower_bound;
    dfl_primal rescue = rescue_of(k);
    double least;

    if ((!waits && whole) || k->options->front || k->options->top > 0)
        return;
    least = dfl_mapping_value(NULL, names, out->mapping, k->options->objective);
    if (least <= dfl_value_times(out->lower_bound, DFL_VALUE_EQUAL))
        return;
    try_one(k, names, dfl_primal_unfused(k->arena, &k->classes, &k->goal, k->capacity), &least, out);
    if (k->bounds == NULL || !glance)
        return;
    dfl_primal_start(&rescue, DFL_STOP_TIME);
    if (k->stopped != DFL_STOP_TIME && k->stopped != DFL_STOP_CANCELLED)
        rescue.halt.at = rescue.deadline;
    try_one(k, names, dfl_primal_any(&rescue, bound), &least, out);
    dfl_primal_end(&rescue);
}

/* Fronts with times that can overlap and with those that cannot (see search_again), one behind the other: each holds points that
   the other lacks. */
static bool search_front(mapper *k, dfl_map_result *out)
{
    double limit = k->options->front_limit > 0 ? k->options->front_limit : INFINITY;
    dfl_map_result alone = *out;
    dfl_map_point *both;

    if (!search_within(k, limit, true, out))
        return false;
    if (!k->goal.by_time)
        return true;
    k->goal.alone = true;
    if (!find_lower_bound(k, &alone) || !search_within(k, limit, true, &alone))
        return k->stopped == DFL_STOP_NONE;
    both = DFL_NEW_ARRAY(k->arena, dfl_map_point, out->n_front + alone.n_front);
    memcpy(both, out->front, out->n_front * sizeof *both);
    memcpy(both + out->n_front, alone.front, alone.n_front * sizeof *both);
    out->front = both;
    out->n_front += alone.n_front;
    return true;
}

static bool run(mapper *k, const dfl_intern *names, dfl_map_result *out)
{
    bool known;

    out->lower_bound = template_bound(k, false, false);
    if (k->options->ceiling > 0 && out->lower_bound > k->options->ceiling)
        return true;
    if (find_lower_bound(k, out)) {
        bool found = k->options->front ? search_front(k, out) : search_limits(k, out);
        if (found && !stop_if_close(k, out) && !k->options->front && k->options->top == 0) {
            search_beside(k, out);
            search_again(k, names, out);
        }
        if (k->stopped == DFL_STOP_GAP)
            return true;
        if (found)
            try_others(k, names, true, out);
        if (found || (k->options->ceiling > 0 && k->stopped == DFL_STOP_NONE))
            return true;
    }
    if (k->stopped == DFL_STOP_GAP)
        return true;
    known = out->mapping != NULL;
    if (k->stopped == DFL_STOP_NONE || (!known && !take_rescued(k, out)))
        return false;
    try_others(k, names, known, out);
    return true;
}

/* The limits of a search that is limited by work: threads do not share its clock, and so the rows that they find are limited by
   evaluations, which are dealt out before. */
static dfl_search_limits count_work(const dfl_budget *budget, const dfl_search_limits *asked)
{
    dfl_search_limits out = *asked;
    const double left = fmax(0, asked->deadline - dfl_budget_time(budget));
    const uint64_t most = 1 + (uint64_t)(left * DFL_WORK_SECOND / DFL_WORK_ROW);

    if (asked->deadline > 0 && budget != NULL && budget->work != NULL && (out.evaluations == 0 || out.evaluations > most))
        out.evaluations = most;
    return out;
}

dfl_map_result *dfl_mapper_alone(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                 const dfl_map_options *asked, bool *fits)
{
    const dfl_budget *session = dfl_arena_budget(arena);
    const bool is_counted = session != NULL && session->work != NULL;
    dfl_map_options within = *asked, *options = &within;
    mapper k = { .arena = arena, .names = names, .m = mapping, .options = options };
    dfl_map_result *out = DFL_NEW(arena, dfl_map_result);
    dfl_arena *scratch = dfl_arena_new(dfl_arena_budget(arena));
    bool found, possible, reported = false;

    within.limits = count_work(session, &asked->limits);
    k.goal = (dfl_tile_goal){ .of = { .value = objective_value, .objective = options->objective,
                                      .product = dfl_objective_is_product(options->objective) },
                              .max_loops = options->space.max_shared_loops, .top = options->top };
    k.goal.of.leakage = dfl_system_leakage(mapping->system);
    dfl_weights_look(options->objective, options->front, &k.goal);
    const dfl_problem_limits limits = { .plain = options->certificate, .spread = options->space.any_spread,
                                        .overlapped = true,
                                        .common_loops = !k.goal.by_time,
                                        .counted = options->front ? options->objective->room + 1 : 0 };
    possible = !dfl_feasibility_homeless(names, mapping);
    found = possible && dfl_einsum_classes_make_within(arena, scratch, sink, names, mapping, &limits, &options->limits,
                                                       &k.classes,
                                                       &k.stopped);
    dfl_arena_free(scratch);
    if (found) {
        k.crew = (dfl_workers){ .arena = arena, .classes = &k.classes, .goal = &k.goal, .progress = options->limits.progress,
                                .threads = options->limits.threads, .deadline = is_counted ? 0 : options->limits.deadline,
                                .limit = options->limits.evaluations };
        k.through = dfl_pass_through_make(arena, &k.classes);
        dfl_weights_choose(arena, &k.classes, options->objective, options->certificate, &k.goal);
        found = find_tracks(&k, sink, &reported) && run(&k, names, out);
        possible = found || reported;
        dfl_workers_end(&k.crew);
    }
    if (k.stopped == DFL_STOP_EVALUATIONS && within.limits.evaluations != asked->limits.evaluations)
        k.stopped = DFL_STOP_TIME;
    *fits = possible || k.stopped != DFL_STOP_NONE;
    if (!found && (k.stopped == DFL_STOP_NONE || !take_first(&k, out))) {
        dfl_budget_stop(dfl_arena_budget(arena), k.stopped);
        return NULL;
    }
    if (found && dfl_einsum_classes_windows(&k.classes)) {
        out->optimal = false;
        out->windows = true;
        out->lower_bound = template_bound(&k, false, true);
    }
    out->floor = found ? template_bound(&k, false, true) : unit_bound(&k, false);
    out->floor_beside = found ? template_bound(&k, true, true) : unit_bound(&k, true);
    out->floor_units = unit_bound(&k, true);
    out->floor_lifted = found ? lifted_bound(&k) : out->floor_beside;
    if (found && options->certificate && !out->certificate && dfl_mapping_all_lines_open(mapping))
        certify(&k, false, out);
    out->evaluated = k.crew.evaluated;
    out->pruned = k.crew.pruned;
    out->stopped = k.stopped;
    out->space = dfl_mapper_words(arena, mapping, &(dfl_words){ .spread = options->space.any_spread,
                                                                .certified = options->certificate });
    return out;
}
