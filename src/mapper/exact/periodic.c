/* Periods, the names in them, and states that recur. */
#include "mapper/exact/periodic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 128,          /* einsums of a period */
    LEAST = 3,           /* times that it has to be there again */
    REGIONS = 32,        /* of a workload in which something is skipped */
};

/* Names of a period and those of the next, one to one; and orbits, names that become each other. */
typedef struct {
    uint32_t *to, *from;         /* by name, DFL_NONE = no other */
    uint32_t *listed, n_listed;  /* names that have another in `to` */
    uint32_t *line, n_line;      /* orbits, one behind the other */
    uint32_t *place, *begin, *n; /* by name: in `line`, and of its orbit; n 0 = in none */
} renaming;

/* Einsums from `first` up to `end` have those a period later that are like them. */
typedef struct {
    uint32_t first, period, end;
    renaming tensors, ranks;
} region;

/* What every state costs more behind a period than before. */
typedef struct { double joules, seconds, busy[DFL_PORTS]; } growth;

struct dfl_periods {
    dfl_arena *arena, *seen_arena;
    const dfl_workload *w;
    const dfl_join_step *steps;
    region *fresh;               /* not used yet for einsums that were skipped; NULL = none */
    bool inside;                 /* the next einsums are in it */
    uint32_t next;               /* the einsum in front of which to look again */
    uint32_t regions;            /* in which something was skipped */
    dfl_join_layer seen;         /* one period ago: copies of states and buckets */
    struct { const region *region; uint32_t base, times; } *skipped; /* by einsum; region NULL = was not */
};

/* ---- names ---- */

static void rename_none(dfl_arena *arena, renaming *r, uint32_t n)
{
    uint32_t **all[] = { &r->to, &r->from, &r->listed, &r->line, &r->place, &r->begin, &r->n };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    memset(r->to, 0xff, ((size_t)n + 1) * sizeof *r->to);
    memset(r->from, 0xff, ((size_t)n + 1) * sizeof *r->from);
    r->n_listed = r->n_line = 0;
}

/* False if one of them has another partner. */
static bool rename_pair(renaming *r, uint32_t a, uint32_t b)
{
    if (r->to[a] == DFL_NONE && r->from[b] == DFL_NONE) {
        r->to[a] = b;
        r->from[b] = a;
        r->listed[r->n_listed++] = a;
    }
    return r->to[a] == b;
}

/* Nothing is renamed any more. */
static void loosen(renaming *r)
{
    for (uint32_t i = 0; i < r->n_listed; i++) {
        uint32_t *to = &r->to[r->listed[i]];
        r->from[*to] = DFL_NONE;
        *to = DFL_NONE;
    }
    for (uint32_t i = 0; i < r->n_line; i++)
        r->n[r->line[i]] = 0;
    r->n_listed = r->n_line = 0;
}

static void add_orbit(renaming *r, uint32_t first)
{
    uint32_t begin = r->n_line, name = first;

    do {
        r->place[name] = r->n_line;
        r->line[r->n_line++] = name;
        name = r->to[name];
    } while (name != DFL_NONE && name != first);
    for (uint32_t i = begin; i < r->n_line; i++) {
        r->begin[r->line[i]] = begin;
        r->n[r->line[i]] = r->n_line - begin;
    }
}

static void find_orbits(renaming *r)
{
    for (uint32_t i = 0; i < r->n_listed; i++)
        if (r->from[r->listed[i]] == DFL_NONE)
            add_orbit(r, r->listed[i]);
    for (uint32_t i = 0; i < r->n_listed; i++) /* those left are circles */
        if (r->n[r->listed[i]] == 0)
            add_orbit(r, r->listed[i]);
}

/* The name that is in the place of another so many periods later: itself where it is not renamed; DFL_NONE = nothing is. */
static uint32_t renamed(const renaming *r, uint32_t name, uint32_t times)
{
    uint32_t n = r->n[name], at;

    if (n == 0)
        return name;
    at = r->place[name] - r->begin[name] + times;
    if (r->from[r->line[r->begin[name]]] != DFL_NONE)
        at %= n;
    return at < n ? r->line[r->begin[name] + at] : DFL_NONE;
}

/* ---- periods ---- */

static uint32_t last_reader(const dfl_periods *k, uint32_t tensor)
{
    const dfl_tensor *t = &k->w->tensors[tensor];

    return t->consumers[t->n_consumers - 1];
}

/* Whether einsum b has the rows of a, what it makes is alive for as long, and what it reads to the last is that of a. */
static bool alike(const dfl_periods *k, uint32_t a, uint32_t b)
{
    const dfl_problem *x = k->steps[a].problem, *y = k->steps[b].problem;

    if (k->steps[a].rows != k->steps[b].rows || k->steps[a].n != k->steps[b].n || x->n_operands != y->n_operands ||
        x->n_ranks != y->n_ranks)
        return false;
    for (uint32_t o = 0; o < x->n_operands; o++) {
        uint32_t s = x->operand[o].tensor, t = y->operand[o].tensor;
        if (x->operand[o].shared != y->operand[o].shared || x->operand[o].output != y->operand[o].output)
            return false;
        if (!dfl_problem_exchanged(&x->operand[o]))
            continue;
        if (x->operand[o].output && last_reader(k, s) - a != last_reader(k, t) - b)
            return false;
        if (!x->operand[o].output && (last_reader(k, s) == a) != (last_reader(k, t) == b))
            return false;
    }
    return true;
}

/* Names of einsum a become those of b. A pair too many, before one that does not go, does no harm. */
static bool bind(const dfl_periods *k, region *r, uint32_t a, uint32_t b)
{
    const dfl_problem *x = k->steps[a].problem, *y = k->steps[b].problem;
    bool good = true;

    for (uint32_t o = 0; o < x->n_operands && good; o++)
        good = rename_pair(&r->tensors, x->operand[o].tensor, y->operand[o].tensor);
    for (uint32_t i = 0; i < x->n_ranks && good; i++)
        good = rename_pair(&r->ranks, x->rank[i], y->rank[i]);
    return good;
}

/* A region that begins with einsum e. */
static bool find_region(const dfl_periods *k, region *r, uint32_t e)
{
    uint32_t n = k->w->n_einsums;

    r->first = e;
    for (r->period = 1; r->period <= MOST && e + (LEAST + 1) * r->period <= n; r->period++) {
        for (r->end = e; r->end < e + LEAST * r->period && alike(k, r->end, r->end + r->period);)
            r->end++;
        if (r->end < e + LEAST * r->period)
            continue;
        for (r->end = e; r->end + r->period < n && alike(k, r->end, r->end + r->period) &&
             bind(k, r, r->end, r->end + r->period);)
            r->end++;
        if (r->end >= e + LEAST * r->period)
            return true;
        loosen(&r->tensors);
        loosen(&r->ranks);
    }
    return false;
}

/* ---- states ---- */

static int by_size(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* By room first: that is the same in every period, where costs are sums that are rounded. */
static int by_room(const void *a, const void *b)
{
    const dfl_join_state *x = *(dfl_join_state *const *)a, *y = *(dfl_join_state *const *)b;
    int order = by_size(x->finished[0], y->finished[0], sizeof x->finished / sizeof x->finished[0][0]);

    order = order != 0 ? order : by_size(x->resident[0], y->resident[0], sizeof x->resident / sizeof x->resident[0][0]);
    order = order != 0 ? order : by_size(&x->joules, &y->joules, 1);
    order = order != 0 ? order : by_size(&x->seconds, &y->seconds, 1);
    return order != 0 ? order : (x->choice > y->choice) - (x->choice < y->choice);
}

/* The states of each bucket in an order that does not depend on how they were found, which may alternate. */
static void put_in_order(dfl_arena *scratch, dfl_join_layer *l)
{
    dfl_join_state **all = DFL_NEW_ARRAY(scratch, dfl_join_state *, l->states.n + 1);

    for (size_t b = 0; b < l->buckets.n; b++) {
        uint32_t *link = &l->buckets.at[b].first, n = 0;
        for (uint32_t i = *link; i != 0; i = l->states.at[i - 1].next)
            all[n++] = &l->states.at[i - 1];
        if (n > 0)
            qsort(all, n, sizeof *all, by_room);
        for (uint32_t i = 0; i < n; i++) {
            *link = (uint32_t)(all[i] - l->states.at) + 1;
            link = &all[i]->next;
        }
        *link = 0;
    }
}

static void remember(dfl_periods *k, const dfl_join_layer *l)
{
    dfl_arena_reset(k->seen_arena);
    k->seen = *l;
    k->seen.states.at = DFL_NEW_ARRAY(k->seen_arena, dfl_join_state, l->states.n + 1);
    k->seen.buckets.at = dfl_arena_alloc(k->seen_arena, l->buckets.n + 1, sizeof *l->buckets.at, _Alignof(dfl_join_bucket));
    if (l->states.n > 0)
        memcpy(k->seen.states.at, l->states.at, l->states.n * sizeof *l->states.at);
    if (l->buckets.n > 0)
        memcpy(k->seen.buckets.at, l->buckets.at, l->buckets.n * sizeof *l->buckets.at);
}

static bool same_way(const region *r, const dfl_join_way *a, const dfl_join_way *b)
{
    if (a->n_open != b->n_open || a->n_live != b->n_live || memcmp(a->trips, b->trips, sizeof a->trips) != 0)
        return false;
    for (uint32_t i = 0; i < a->n_open; i++)
        if (renamed(&r->ranks, a->name[i], 1) != b->name[i])
            return false;
    for (uint32_t i = 0; i < a->n_live; i++) {
        const dfl_join_alive *x = &a->live[i], *y = &b->live[i];
        if (renamed(&r->tensors, x->tensor, 1) != y->tensor || x->memory != y->memory || x->depth != y->depth ||
            x->within != y->within || x->kind != y->kind || x->since != y->since || x->owes != y->owes || x->bits != y->bits ||
            memcmp(x->dim, y->dim, sizeof x->dim) != 0 || memcmp(x->kept, y->kept, sizeof x->kept) != 0 ||
            memcmp(x->above, y->above, sizeof x->above) != 0)
            return false;
    }
    return true;
}

static growth growth_of(const dfl_join_state *a, const dfl_join_state *b)
{
    growth g = { .joules = b->joules - a->joules, .seconds = b->seconds - a->seconds };

    for (uint32_t p = 0; p < DFL_PORTS; p++)
        g.busy[p] = b->busy[p] - a->busy[p];
    return g;
}

/* Whether a number is what it is compared with, but for the rounding of sums. */
static bool is_about(double a, double b, double sum)
{
    return fabs(a - b) <= 1e-12 * sum;
}

static bool same_state(const dfl_join_state *a, const dfl_join_state *b, const growth *g)
{
    bool same = a->choice == b->choice && is_about(b->joules - a->joules, g->joules, b->joules) &&
                is_about(b->seconds - a->seconds, g->seconds, b->seconds) &&
                memcmp(a->resident, b->resident, sizeof a->resident) == 0 &&
                memcmp(a->finished, b->finished, sizeof a->finished) == 0;

    for (uint32_t p = 0; p < DFL_PORTS && same; p++)
        same = is_about(b->busy[p] - a->busy[p], g->busy[p], b->busy[p]);
    return same;
}

/* Whether the layer is the one that was seen, with the names of the next period. */
static bool recurs(const dfl_periods *k, const dfl_joiner *j, const dfl_join_layer *l, growth *g)
{
    const dfl_join_layer *old = &k->seen;
    bool some = false;

    if (old->buckets.n != l->buckets.n)
        return false;
    for (size_t i = 0; i < l->buckets.n; i++) {
        uint32_t a = old->buckets.at[i].first, b = l->buckets.at[i].first;
        if (!same_way(k->fresh, &old->buckets.at[i].way, &l->buckets.at[i].way))
            return false;
        for (; a != 0 && b != 0; a = old->states.at[a - 1].next, b = l->states.at[b - 1].next) {
            if (!some)
                *g = growth_of(&old->states.at[a - 1], &l->states.at[b - 1]);
            for (uint32_t p = 0; p < j->goal->n_ports && !some; p++) /* of which a brace lasts for the longest */
                if (!is_about(g->seconds, g->busy[p], l->states.at[b - 1].seconds))
                    return false;
            some = true;
            if (!same_state(&old->states.at[a - 1], &l->states.at[b - 1], g))
                return false;
        }
        if (a != b)
            return false;
    }
    return some;
}

typedef struct {
    const renaming *tensors;
    uint32_t times;
} periods;

static uint32_t tensor_later(const void *context, uint32_t tensor)
{
    const periods *k = context;

    return renamed(k->tensors, tensor, k->times);
}

/* The first of `most` periods behind which something cut off within the last one might not be. */
static uint32_t periods_cut_off(const dfl_periods *k, const dfl_joiner *j, uint32_t e, uint32_t most, const growth *g)
{
    const dfl_criteria zero = dfl_criteria_zero();
    uint32_t p = k->fresh->period;

    for (uint32_t t = 1; t <= most && j->goal->limit < INFINITY; t++) {
        dfl_criteria by = dfl_criteria_with(&j->goal->of, &zero, t * g->joules, t * g->seconds);
        const periods times = { &k->fresh->tensors, t };
        const dfl_later later = { tensor_later, &times };
        for (uint32_t i = 0; i < DFL_PORTS; i++)
            by.at[DFL_COST_BUSY + i] += t * g->busy[i];
        for (uint32_t i = e - p + 1; i <= e; i++)
            if (!dfl_cost_to_go_fall_by(j->bounds, i, i + t * p, &later, &by))
                return t - 1;
    }
    return most;
}

/* What is known in front of einsum e becomes what is known so many periods later; false, and nothing changes, if a name is not
   known there. */
static bool go_over(const dfl_periods *k, dfl_join_layer *l, uint32_t times, const growth *g)
{
    const region *r = k->fresh;

    for (size_t b = 0; b < l->buckets.n; b++) {
        const dfl_join_way *w = &l->buckets.at[b].way;
        for (uint32_t i = 0; i < w->n_open; i++)
            if (renamed(&r->ranks, w->name[i], times) == DFL_NONE)
                return false;
        for (uint32_t i = 0; i < w->n_live; i++)
            if (renamed(&r->tensors, w->live[i].tensor, times) == DFL_NONE)
                return false;
    }
    for (size_t b = 0; b < l->buckets.n; b++) {
        dfl_join_way *w = &l->buckets.at[b].way;
        for (uint32_t i = 0; i < w->n_open; i++)
            w->name[i] = renamed(&r->ranks, w->name[i], times);
        for (uint32_t i = 0; i < w->n_live; i++)
            w->live[i].tensor = renamed(&r->tensors, w->live[i].tensor, times);
    }
    for (size_t i = 0; i < l->states.n; i++) {
        dfl_join_state *s = &l->states.at[i];
        s->joules += times * g->joules;
        s->seconds += times * g->seconds;
        for (uint32_t p = 0; p < DFL_PORTS; p++)
            s->busy[p] += times * g->busy[p];
    }
    return true;
}

/* ---- the join ---- */

dfl_periods *dfl_periods_new(dfl_arena *arena, const dfl_workload *w, const dfl_join_step *steps)
{
    dfl_periods *k = DFL_NEW(arena, dfl_periods);

    *k = (dfl_periods){ .arena = arena, .seen_arena = dfl_arena_new(dfl_arena_budget(arena)), .w = w, .steps = steps };
    k->skipped = dfl_arena_alloc(arena, (size_t)w->n_einsums + 1, sizeof *k->skipped, _Alignof(void *));
    return k;
}

void dfl_periods_free(dfl_periods *k)
{
    dfl_arena_free(k->seen_arena);
}

/* Begins with a region at einsum e, if there is one. */
static void enter(dfl_periods *k, const dfl_join_layer *l, uint32_t e)
{
    if (k->fresh == NULL) {
        k->fresh = DFL_NEW(k->arena, region);
        rename_none(k->arena, &k->fresh->tensors, k->w->n_tensors);
        rename_none(k->arena, &k->fresh->ranks, k->w->n_ranks);
    }
    k->inside = find_region(k, k->fresh, e);
    k->next = e + (k->inside ? k->fresh->period : 1);
    if (!k->inside)
        return;
    find_orbits(&k->fresh->tensors);
    find_orbits(&k->fresh->ranks);
    remember(k, l);
}

uint32_t dfl_periods_skip(dfl_periods *k, const dfl_joiner *j, dfl_join_layer *l, uint32_t e)
{
    region *r = k->fresh;
    uint32_t times = 0, p = k->inside ? r->period : 0;
    growth g = { .joules = 0 };

    if (e < k->next || k->regions == REGIONS || j->goal->top > 0)
        return 0;
    if (k->inside)
        put_in_order(j->scratch, l);
    if (k->inside && recurs(k, j, l, &g))
        times = periods_cut_off(k, j, e, (r->end + p - e) / p, &g);
    if (times > 0 && go_over(k, l, times, &g)) {
        for (uint32_t i = 0; i < times * p; i++) {
            k->skipped[e + i].region = r;
            k->skipped[e + i].base = e - p + i % p;
            k->skipped[e + i].times = 1 + i / p;
        }
        k->fresh = NULL;
        k->inside = false;
        k->regions++;
        k->next = e + times * p;
        return times * p;
    }
    if (k->inside && e + p <= r->end) {
        remember(k, l);
        k->next = e + p;
        return 0;
    }
    if (k->inside) {
        loosen(&r->tensors);
        loosen(&r->ranks);
    }
    enter(k, l, e);
    return 0;
}

uint32_t dfl_periods_base(const dfl_periods *k, uint32_t e)
{
    return k->skipped[e].region != NULL ? k->skipped[e].base : e;
}

uint32_t dfl_periods_rank(const dfl_periods *k, uint32_t e, uint32_t rank)
{
    const region *r = k->skipped[e].region;

    return r != NULL ? renamed(&r->ranks, rank, k->skipped[e].times) : rank;
}
