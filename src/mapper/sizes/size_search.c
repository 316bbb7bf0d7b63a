/* Depth first through the amounts of loops. */
#include "mapper/sizes/size_search.h"

#include <math.h>
#include <string.h>

#include "ir/path/fan_out.h"
#include "mapper/problem/factors.h"
#include "mapper/sizes/size_bounds.h"
#include "mapper/sizes/size_front.h"
#include "model/model.h"
#include "support/deadline.h"
#include "support/vec.h"

enum { MOST_SLOTS = 256, LOOK_AT_CLOCK = 256 };
/* A search may take so many times the steps of everything else. */
enum { STEPS_MORE = 8 };

/* Where a line stands on the way to an einsum that it is bound to. */
typedef struct { uint32_t einsum, step; } use;

/* A loop whose amount is open. */
typedef struct {
    dfl_line *line;
    use *uses;
    uint32_t n_uses;
    int64_t least, most;   /* tiles that go with the fixed loops below; `most` 0 = any */
    DFL_VEC(int64_t) union_of; /* scratch: amounts for several extents */
} slot;

typedef struct {
    dfl_arena *arena;          /* of the result, and of what lives as long as the search */
    dfl_arena *scratch, *plan;
    dfl_budget budget;         /* of the two */
    dfl_budget *session;
    dfl_sink *sink, *quiet;
    const dfl_intern *names;
    const dfl_mapping *given;
    const dfl_search_request *options;
    const dfl_objective *objective;
    dfl_size_front *front;     /* the Pareto set; NULL = only the best is wanted */
    dfl_mapping *mapping;      /* of which lines are changed, on memories without a limit */
    dfl_paths *paths;
    dfl_model *model;
    dfl_factor_set *lattice;
    dfl_size_bounds bounds;
    slot *slots;
    uint32_t n_slots;
    uint32_t *decided;         /* per einsum, scratch */
    bool asks;                 /* whether there is any, not for the best */
    uint32_t measured;         /* asks: memory of which the least room is wanted, whatever its size; DFL_NONE */
    const bool *waived;        /* asks: requirements that do not count */
    uint64_t most_looks;       /* asks: choices to look at */
    bool found;
    double best[DFL_OBJECTIVE_TERMS], joules, seconds;
    dfl_i128 least;            /* bits of the measured memory ... */
    dfl_span least_at;         /* ... and the line at which they are live */
    int64_t *amounts;          /* of the best */
    int64_t *unknown;          /* of the first choice that the model refuses, else of the first that is not legal */
    uint32_t deepest;          /* slot for which no amount went with the other loops, the innermost of them */
    uint64_t evaluated, pruned, refused, illegal, looks;
    bool out_of_evaluations, failed;
    dfl_stop stopped;
} search;

/* ---- the loops ---- */

static const slot *slot_of(const search *s, const dfl_line *line)
{
    for (uint32_t k = 0; k < s->n_slots; k++)
        if (s->slots[k].line == line)
            return &s->slots[k];
    return NULL;
}

/* What the loops below, on one way, ask of the tile of a slot. */
static void limit_tile(search *s, slot *mine, const use *u)
{
    const dfl_path *p = &s->paths->paths[u->einsum];
    uint32_t rank = p->steps[u->step].rank;
    int64_t parts = 1;

    if ((p->has_exchange && p->exchange.restricts) || rank == s->mapping->workload->einsums[u->einsum].over_rank)
        return;
    for (uint32_t i = u->step + 1; i < p->n_steps; i++) {
        const dfl_path_step *below = &p->steps[i];

        if (below->line->kind == DFL_LINE_KEEP || below->rank != rank)
            continue;
        if (slot_of(s, below->line) != NULL)
            return;
        if (below->line->by == DFL_BY_SIZE) {
            if (below->bind == DFL_BIND_DIRECT && below->line->amount > mine->least)
                mine->least = below->line->amount;
            return;
        }
        if (__builtin_mul_overflow(parts, below->line->amount, &parts))
            return;
    }
    mine->most = mine->most == 0 || parts < mine->most ? parts : mine->most;
}

static void find_uses(search *s, slot *mine)
{
    const dfl_workload *w = s->mapping->workload;

    mine->uses = DFL_NEW_ARRAY(s->arena, use, w->n_einsums);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < s->paths->paths[e].n_steps; i++)
            if (s->paths->paths[e].steps[i].line == mine->line && s->paths->paths[e].steps[i].rank != DFL_NONE)
                mine->uses[mine->n_uses++] = (use){ e, i };
    for (uint32_t i = 0; i < mine->n_uses; i++)
        limit_tile(s, mine, &mine->uses[i]);
}

/* The open loops in the order of the text; until an amount is chosen they have one iteration or tiles of one. */
static bool find_slots(search *s)
{
    DFL_VEC(slot) slots = { 0 };

    for (uint32_t b = 0; b < s->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < s->mapping->bodies[b]->n_lines; i++) {
            dfl_line *line = &s->mapping->bodies[b]->lines[i];
            if (line->kind == DFL_LINE_KEEP || line->by != DFL_BY_HOLE)
                continue;
            line->by = line->hole->by;
            line->amount = 1;
            DFL_PUSH(s->arena, &slots, ((slot){ .line = line, .least = 1 }));
        }
    s->slots = slots.at;
    s->n_slots = (uint32_t)slots.n;
    s->amounts = DFL_NEW_ARRAY(s->arena, int64_t, s->n_slots);
    s->unknown = DFL_NEW_ARRAY(s->arena, int64_t, s->n_slots);
    if (s->n_slots <= MOST_SLOTS)
        return true;
    dfl_report(s->sink, DFL_LIMIT_COUNT, s->given->hole_span, "one mapping has more than %d open loops", MOST_SLOTS);
    return false;
}

static void set_amounts(search *s, const int64_t *amounts)
{
    for (uint32_t k = 0; k < s->n_slots; k++)
        s->slots[k].line->amount = amounts[k];
}

static void save_amounts(const search *s, int64_t *amounts)
{
    for (uint32_t k = 0; k < s->n_slots; k++)
        amounts[k] = s->slots[k].line->amount;
}

static int64_t nominal_at(const search *s, const use *u)
{
    return s->paths->paths[u->einsum].steps[u->step].nominal;
}

/* What may be tried for a slot whose loops above have sizes; not yet whether it goes with the other loops. */
static dfl_amounts amounts_for(search *s, slot *mine)
{
    const dfl_hole *hole = mine->line->hole;
    int64_t first = mine->n_uses > 0 ? nominal_at(s, &mine->uses[0])
                                     : s->mapping->workload->ranks[mine->line->rank].extent;
    bool alike = true;

    if (hole->choices != NULL)
        return (dfl_amounts){ hole->choices, hole->n_choices };
    for (uint32_t i = 1; i < mine->n_uses; i++)
        alike &= nominal_at(s, &mine->uses[i]) == first;
    if (alike)
        return dfl_factor_set_amounts(s->lattice, first);
    mine->union_of.n = 0;
    for (uint32_t i = 0; i < mine->n_uses; i++) {
        dfl_amounts more = dfl_factor_set_amounts(s->lattice, nominal_at(s, &mine->uses[i]));
        for (uint32_t a = 0; a < more.n; a++) {
            size_t at = mine->union_of.n;
            while (at > 0 && mine->union_of.at[at - 1] > more.at[a])
                at--;
            if (at > 0 && mine->union_of.at[at - 1] == more.at[a])
                continue;
            DFL_PUSH(s->arena, &mine->union_of, 0);
            memmove(&mine->union_of.at[at + 1], &mine->union_of.at[at], (mine->union_of.n - 1 - at) * sizeof(int64_t));
            mine->union_of.at[at] = more.at[a];
        }
    }
    return (dfl_amounts){ mine->union_of.at, (uint32_t)mine->union_of.n };
}

/* Whether the parts that the loop makes for one einsum fit on its axis beside those of the other loops. */
static bool fits_axis(const search *s, const slot *mine, const use *u, int64_t parts)
{
    const dfl_path *p = &s->paths->paths[u->einsum];
    uint32_t axis = mine->line->axis;
    dfl_i128 product = parts;

    for (uint32_t i = 0; i < p->n_steps && product <= s->mapping->system->axes[axis].size; i++) {
        const dfl_path_step *step = &p->steps[i];

        if (step->line->kind != DFL_LINE_SPATIAL || step->line->axis != axis || step->rank == DFL_NONE || i == u->step)
            continue;
        if (i < u->step)
            product *= dfl_path_parts(step);
        else if (slot_of(s, step->line) == NULL && step->line->by == DFL_BY_PARTS)
            product *= step->line->amount;
    }
    return product <= s->mapping->system->axes[axis].size;
}

/* Whether the loops around and below can go with an amount. */
static bool goes(const search *s, const slot *mine, int64_t amount)
{
    bool by_parts = mine->line->by == DFL_BY_PARTS;

    for (uint32_t i = 0; i < mine->n_uses; i++) {
        const use *u = &mine->uses[i];
        int64_t nominal = nominal_at(s, u), tile = by_parts ? dfl_ceil_div(nominal, amount) : amount;

        if (amount > nominal && (by_parts || s->paths->paths[u->einsum].steps[u->step].bind == DFL_BIND_DIRECT))
            return false;
        tile = tile > nominal ? nominal : tile;
        if (tile < mine->least || (mine->most > 0 && tile > mine->most))
            return false;
        int64_t parts = dfl_ceil_div(nominal, tile);
        if (mine->line->kind == DFL_LINE_SPATIAL && !fits_axis(s, mine, u, by_parts && amount > parts ? amount : parts))
            return false;
    }
    return true;
}

/* ---- the walk ---- */

/* Steps of each way that have their sizes when the slots before number `k` are chosen. */
static void find_decided(search *s, uint32_t k)
{
    for (uint32_t e = 0; e < s->mapping->workload->n_einsums; e++)
        s->decided[e] = s->paths->paths[e].n_steps;
    for (; k < s->n_slots; k++)
        for (uint32_t i = 0; i < s->slots[k].n_uses; i++) {
            const use *u = &s->slots[k].uses[i];
            s->decided[u->einsum] = u->step < s->decided[u->einsum] ? u->step : s->decided[u->einsum];
        }
}

/* Whether there is something that others have to be better than. */
static bool has_best(const search *s) { return !s->asks && (s->found || s->options->incumbent != NULL); }

/* Whether choices with these terms, or with larger ones, are of no use beside those that are known. */
static bool is_beaten(const search *s, const double *terms)
{
    if (s->front != NULL)
        return dfl_size_front_excludes(s->front, terms);
    return has_best(s) && !dfl_objective_less(s->objective, terms, s->best);
}

/* Lower bounds of the terms of all choices below the present one, whose bounds of the room are known. False if a term is over
   other figures than energy, latency and the peak of one memory. */
static bool find_floors(search *s, double *terms)
{
    const uint32_t room = s->objective->room;
    double seconds;

    if (!s->objective->native && room == DFL_NONE)
        return false;
    seconds = dfl_size_bounds_seconds(&s->bounds, s->decided);
    for (uint32_t i = 0; i < dfl_objective_count(s->objective); i++)
        terms[i] = dfl_objective_is_room(s->objective, i) ? dfl_i128_double(s->bounds.room[room])
                                                          : dfl_objective_term(s->objective, i, s->bounds.joules, seconds);
    return true;
}

/* Whether nothing below the slots before number `k` can be of use. */
static bool is_hopeless(search *s, uint32_t k)
{
    double terms[DFL_OBJECTIVE_TERMS];

    find_decided(s, k);
    if (!dfl_size_bounds_room(&s->bounds, s->decided))
        return true;
    for (uint32_t m = 0; m < s->given->system->n_memories; m++) {
        int64_t size = s->given->system->memories[m].size_bits;
        if (m == s->measured ? s->found && s->bounds.room[m] >= s->least : size >= 0 && s->bounds.room[m] > size)
            return true;
    }
    return has_best(s) && find_floors(s, terms) && is_beaten(s, terms);
}

/* A lower bound of all amounts; it overwrites `decided`. */
static double root_bound(search *s)
{
    find_decided(s, 0);
    return s->objective->native ? dfl_objective_term(s->objective, 0, s->bounds.joules,
                                                     dfl_size_bounds_seconds(&s->bounds, s->decided))
                                : NAN;
}

static bool is_late(search *s)
{
    return s->options->limits.deadline > 0 && ++s->looks % LOOK_AT_CLOCK == 0 &&
           dfl_budget_time(s->session) >= s->options->limits.deadline;
}

/* Whether the search goes on. */
static bool goes_on(search *s)
{
    if (s->stopped != DFL_STOP_NONE || s->out_of_evaluations || s->failed ||
        (s->asks && s->found && s->measured == DFL_NONE))
        return false;
    if (s->budget.why != DFL_STOP_NONE)
        s->stopped = s->budget.why;
    else if (is_late(s))
        s->stopped = DFL_STOP_TIME;
    else if (s->asks ? s->evaluated + s->pruned >= s->most_looks : s->evaluated >= s->options->limits.evaluations)
        s->out_of_evaluations = true;
    else
        return true;
    return false;
}

/* The costs of the present amounts, or NULL: not legal, or not evaluated. */
static const dfl_result *costs(search *s)
{
    const dfl_result *r = NULL;

    if (s->model == NULL) {
        dfl_arena_reset(s->plan);
        s->model = dfl_model_prepare(s->plan, s->quiet, s->names, s->paths);
    }
    if (s->model != NULL)
        r = dfl_model_run(s->model, s->scratch);
    s->evaluated++;
    dfl_progress_add(s->asks ? NULL : s->options->limits.progress, 1);
    if (r != NULL || s->budget.why != DFL_STOP_NONE)
        return r;
    if (dfl_sink_last(s->quiet) == DFL_MAP_NEEDED_AFTER_RELEASE) {
        s->pruned++;
        return NULL;
    }
    if (s->refused++ == 0)
        save_amounts(s, s->unknown);
    return NULL;
}

static bool fits(const search *s, const dfl_result *r)
{
    const dfl_system *system = s->given->system;

    for (uint32_t m = 0; m < system->n_memories; m++)
        if (m != s->measured && system->memories[m].size_bits >= 0 &&
            r->memories[m].peak_bits > system->memories[m].size_bits)
            return false;
    return true;
}

/* Makes the present choice the best one. */
static void take_best(search *s, const dfl_result *r, const double *terms)
{
    memcpy(s->best, terms, dfl_objective_count(s->objective) * sizeof *terms);
    if (s->options->limits.progress != NULL)
        s->options->limits.progress->now.best = s->best[0];
    s->joules = r->joules;
    s->seconds = r->seconds;
    save_amounts(s, s->amounts);
    if (s->options->limits.gap > 0 && dfl_gap_reached(&s->options->limits, s->best[0], root_bound(s)))
        s->stopped = DFL_STOP_GAP;
}

/* Compares the present choice with those that are known. */
static void judge(search *s, const dfl_result *r)
{
    double terms[DFL_OBJECTIVE_TERMS];

    if (!dfl_objective_terms(s->objective, r, terms)) {
        s->failed = true;
        return;
    }
    if (is_beaten(s, terms))
        return;
    s->found = true;
    if (s->front == NULL) {
        take_best(s, r, terms);
        return;
    }
    save_amounts(s, s->amounts);
    dfl_size_front_add(s->front, terms, s->amounts);
}

static void evaluate(search *s)
{
    const dfl_result *r = costs(s);

    if (r == NULL || !fits(s, r) || !dfl_objective_met(s->objective, r, s->waived))
        return;
    if (!s->asks) {
        judge(s, r);
        return;
    }
    if (s->measured != DFL_NONE) {
        if (s->found && r->memories[s->measured].peak_bits >= s->least)
            return;
        s->least = r->memories[s->measured].peak_bits;
        s->least_at = r->memories[s->measured].peak_at;
    }
    s->found = true;
    save_amounts(s, s->amounts);
}

static void walk(search *s, uint32_t k)
{
    slot *mine = &s->slots[k];
    dfl_amounts all = amounts_for(s, mine);
    bool any = false;

    for (uint32_t i = 0; i < all.n && goes_on(s); i++) {
        if (!goes(s, mine, all.at[i])) {
            s->pruned++;
            continue;
        }
        any = true;
        mine->line->amount = all.at[i];
        dfl_arena_reset(s->scratch);
        bool legal = dfl_paths_resize(s->scratch, s->quiet, s->names, s->paths) || k + 1 < s->n_slots;
        if (!legal && s->illegal++ == 0 && s->refused == 0)
            save_amounts(s, s->unknown);
        if (!legal || is_hopeless(s, k + 1)) {
            s->pruned++;
            continue;
        }
        if (k + 1 == s->n_slots)
            evaluate(s);
        else
            walk(s, k + 1);
    }
    mine->line->amount = 1;
    if (!any && k > s->deepest)
        s->deepest = k;
}

static void run(search *s)
{
    for (uint32_t k = 0; k < s->n_slots; k++)
        s->slots[k].line->amount = 1;
    dfl_arena_reset(s->scratch);
    if (dfl_paths_resize(s->scratch, s->quiet, s->names, s->paths) && s->n_slots == 0)
        evaluate(s);
    if (s->n_slots > 0)
        walk(s, 0);
}

/* ---- before and after ---- */

static bool extents_fit(search *s)
{
    const dfl_workload *w = s->mapping->workload;

    for (uint32_t k = 0; k < s->n_slots; k++) {
        const dfl_line *line = s->slots[k].line;
        if (line->hole->choices != NULL || w->ranks[line->rank].extent <= DFL_LATTICE_MOST)
            continue;
        dfl_report(s->sink, DFL_LIMIT_COUNT, line->amount_span, "rank `%s` has more than 2^40 elements to choose from",
                   dfl_sym_text(s->names, w->ranks[line->rank].name));
        return false;
    }
    return true;
}

static void open_search(search *s, dfl_arena *arena)
{
    s->arena = arena;
    s->budget = dfl_budget_fresh(s->session);
    s->budget.steps_limit = s->session->steps_limit < UINT64_MAX / STEPS_MORE ? s->session->steps_limit * STEPS_MORE : 0;
    s->scratch = dfl_arena_new(&s->budget);
    s->plan = dfl_arena_new(&s->budget);
    s->quiet = dfl_sink_quiet(arena);
    s->mapping = dfl_mapping_copy(arena, s->given);
    s->mapping->system = dfl_system_endless(arena, s->given->system, false);
    s->lattice = dfl_factor_set_new(arena, s->options->space.imperfect);
}

static void close_search(search *s)
{
    dfl_arena_free(s->plan);
    dfl_arena_free(s->scratch);
}

/* Finds the loops and what surrounds them; false after reporting. */
static bool bind(search *s)
{
    if (!find_slots(s))
        return false;
    s->paths = dfl_paths_bind(s->arena, s->sink, s->names, s->mapping);
    if (s->paths == NULL || !extents_fit(s))
        return false;
    for (uint32_t k = 0; k < s->n_slots; k++)
        find_uses(s, &s->slots[k]);
    if (s->front != NULL)
        *s->front = (dfl_size_front){ .arena = s->arena, .objective = s->objective, .n_amounts = s->n_slots };
    s->decided = DFL_NEW_ARRAY(s->arena, uint32_t, s->mapping->workload->n_einsums);
    dfl_size_bounds_make(s->arena, s->names, s->paths, s->given->system, &s->bounds);
    return true;
}

static bool stopped_early(const search *s) { return s->out_of_evaluations || s->stopped != DFL_STOP_NONE; }

/* ---- nothing fits ---- */

dfl_answer dfl_size_search_ask(const dfl_size_search_question *question, const dfl_mapping *m, const bool *waived,
                               uint32_t measured,
                               int64_t *bits, dfl_span *at)
{
    search s = { .session = question->session, .names = question->names, .given = m, .options = question->request,
                 .objective = question->request->objective, .asks = true, .measured = measured, .waived = waived,
                 .most_looks = *question->looks };
    dfl_answer out = DFL_ANSWER_UNKNOWN;

    open_search(&s, dfl_arena_new(s.session));
    s.sink = s.quiet;
    if (bind(&s)) {
        run(&s);
        *question->looks -= s.evaluated + s.pruned < *question->looks ? s.evaluated + s.pruned : *question->looks;
        if (!stopped_early(&s) || (s.found && measured == DFL_NONE))
            out = s.found ? DFL_ANSWER_YES : s.refused > 0 ? DFL_ANSWER_UNKNOWN : DFL_ANSWER_NO;
        if (out == DFL_ANSWER_YES && measured != DFL_NONE) {
            *bits = s.least < INT64_MAX ? (int64_t)s.least : INT64_MAX;
            *at = s.least_at;
        }
    }
    close_search(&s);
    dfl_arena_free(s.arena);
    return out;
}

/* What is known when no filling fits. */
static dfl_size_search_conflict conflict_of(search *s)
{
    dfl_size_search_conflict out = { .fits = false, .refused = s->refused, .illegal = s->illegal, .paths = s->paths };

    if (s->refused > 0 || s->illegal > 0)
        set_amounts(s, s->unknown);
    if (s->n_slots > 0)
        out.line = s->slots[s->deepest].line;
    return out;
}

/* ---- all of it ---- */

/* A copy of the mapping with these amounts, on the real system. */
static dfl_mapping *copy_filled(search *s, const int64_t *amounts)
{
    dfl_mapping *out;

    set_amounts(s, amounts);
    out = dfl_mapping_copy(s->arena, s->mapping);
    out->system = s->given->system;
    out->has_holes = false;
    return out;
}

/* Copies the Pareto set to the result. A complete set has the least of each term, so of the first one. */
static void list_front(search *s, dfl_size_search_result *out)
{
    const dfl_size_point *points = s->front->points.at;
    dfl_front_point *list;
    double least = INFINITY;

    out->n_front = (uint32_t)s->front->points.n;
    list = DFL_NEW_ARRAY(s->arena, dfl_front_point, out->n_front);
    for (uint32_t i = 0; i < out->n_front; i++) {
        list[i] = (dfl_front_point){ copy_filled(s, points[i].amounts), points[i].terms };
        least = fmin(least, points[i].terms[0]);
    }
    out->front = list;
    out->lower_bound = out->optimal ? least : NAN;
}

static dfl_size_search_result *result_of(search *s)
{
    dfl_size_search_result *out = DFL_NEW(s->arena, dfl_size_search_result);

    *out = (dfl_size_search_result){ .joules = s->joules, .seconds = s->seconds, .objective = s->best[0], .lower_bound = NAN,
                                     .stopped = s->stopped, .evaluated = s->evaluated, .pruned = s->pruned,
                                     .refused = s->refused };
    out->optimal = s->stopped == DFL_STOP_NONE && !s->out_of_evaluations && s->refused == 0;
    out->lower_bound = out->optimal ? out->objective : root_bound(s);
    out->space = "nothing else is open";
    if (s->n_slots > 0)
        out->space = dfl_arena_printf(s->arena, "tile sizes of %u loop%s, %s", s->n_slots, s->n_slots == 1 ? "" : "s",
                                      s->options->space.imperfect ? "imperfect" : "perfect");
    if (s->front != NULL)
        list_front(s, out);
    else if (s->found)
        out->mapping = copy_filled(s, s->amounts);
    return out;
}

static dfl_size_search_result *search_all(search *s, dfl_size_search_conflict *nothing)
{
    if (!bind(s))
        return NULL;
    if (s->options->limits.progress != NULL)
        s->options->limits.progress->now.phase = "search";
    for (uint32_t i = 0; s->options->incumbent != NULL && i < dfl_objective_count(s->objective); i++)
        s->best[i] = s->options->incumbent[i];
    run(s);
    if (s->failed)
        return NULL;
    if (has_best(s))
        return result_of(s);
    if (!stopped_early(s)) {
        *nothing = conflict_of(s);
    } else {
        dfl_budget_stop(s->session, s->out_of_evaluations ? DFL_STOP_EVALUATIONS : s->stopped);
        (void)dfl_report_stop(s->sink, s->session);
    }
    return NULL;
}

const dfl_size_search_result *dfl_size_search_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                                  const dfl_mapping *mapping,
                                                  const dfl_search_request *options, dfl_size_search_conflict *nothing)
{
    dfl_budget *session = dfl_arena_budget(arena), none = { 0 };
    search s = { .session = session != NULL ? session : &none, .sink = sink, .names = names, .given = mapping,
                 .options = options, .objective = options->objective, .measured = DFL_NONE };
    const dfl_size_search_result *out;
    dfl_size_front front;

    if (options->mode == DFL_SEARCH_FRONT)
        s.front = &front;
    open_search(&s, arena);
    *nothing = (dfl_size_search_conflict){ .fits = true };
    out = search_all(&s, nothing);
    close_search(&s);
    return out;
}
