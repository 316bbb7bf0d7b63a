/* The best of every part of a tree, added up, for every choice of amounts above. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/branches/part_boxes.h"
#include "mapper/branches/rebuild.h"
#include "mapper/exact/weights.h"
#include "mapper/problem/factors.h"
#include "mapper/problem/space_text.h"
#include "mapper/skeleton/fixed_lines.h"
#include "support/vec.h"

/* What is known of a part, or of several: mappings that no other undercuts, by time. */
typedef struct {
    double joules, seconds;
    uint32_t before, at;           /* point of the parts before, and of this one */
} point;
typedef DFL_VEC(point) points;

/* What counts for each part by itself. */
typedef enum { BY_ENERGY, BY_TIME, BY_BOTH } measure;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink, *quiet;
    const dfl_intern *names;
    const dfl_map_options *options;
    const dfl_mapping *m;
    double deadline;
    measure by;
    dfl_objective energy, latency;
    dfl_map_result *out;
    dfl_branches best;             /* the tree of the mapping in `out`, */
    const dfl_mapping **found;     /* and the mappings of its parts */
    double bound, floor;           /* of the choices so far; for tiles that do not divide, too */
    size_t errors;                 /* reported before */
    dfl_stop stopped;
    bool exact;
} searcher;

/* ---- objectives ---- */

static dfl_objective energy_alone(dfl_arena *arena)
{
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sym *path = DFL_NEW(arena, dfl_sym);
    dfl_val *v = DFL_NEW(arena, dfl_val);
    const dfl_val **terms = DFL_NEW_ARRAY(arena, const dfl_val *, 1);

    *path = dfl_intern_z(names, "energy");
    *v = (dfl_val){ .kind = DFL_VAL_PATH, .path = path, .n_path = 1 };
    terms[0] = v;
    return (dfl_objective){ .names = names, .terms = terms, .n_terms = 1, .native = true, .room = DFL_NONE, .text = "energy" };
}

/* What the parts are to be good in. */
static measure measure_of(const dfl_map_options *options)
{
    dfl_tile_goal goal = { .max_loops = 0 };

    dfl_weights_look(options->objective, options->front, &goal);
    return options->front || (goal.by_energy && goal.by_time) ? BY_BOTH : goal.by_time ? BY_TIME : BY_ENERGY;
}

/* ---- points ---- */

static int by_time(const void *a, const void *b)
{
    const point *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    if (x->joules != y->joules)
        return x->joules < y->joules ? -1 : 1;
    return x->before != y->before ? (x->before < y->before ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* Leaves those that no other undercuts. */
static void thin_out(points *p)
{
    size_t n = 0;

    if (p->n > 0)
        qsort(p->at, p->n, sizeof *p->at, by_time);
    for (size_t i = 0; i < p->n; i++)
        if (n == 0 || p->at[i].joules < p->at[n - 1].joules)
            p->at[n++] = p->at[i];
    p->n = n;
}

static points add_points(dfl_arena *arena, const points *a, const points *b)
{
    points out = { .n = 0 };

    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            DFL_PUSH(arena, &out, ((point){ a->at[i].joules + b->at[k].joules, a->at[i].seconds + b->at[k].seconds,
                                            (uint32_t)i, (uint32_t)k }));
    thin_out(&out);
    return out;
}

/* ---- parts ---- */

typedef struct {
    points points;                 /* `at` is the number of the mapping */
    const dfl_map_point *found;
    double joules, seconds;        /* at least */
    double floor_joules, floor_seconds; /* the same for tiles that do not divide, as far as it is known */
    bool exact;                    /* nothing undercuts the points */
} solution;

static const dfl_map_result *search_part(searcher *k, const dfl_branch_part *part, const dfl_objective *o, bool front, bool *fits)
{
    dfl_map_options options = { .objective = o, .limits = k->options->limits, .front = front,
                                .space = { .any_spread = k->options->space.any_spread,
                                           .max_shared_loops = k->options->space.max_shared_loops } };
    const dfl_map_result *r;

    options.limits.gap = 0; /* which is of all parts together */
    options.limits.evaluations = dfl_evaluations_left(k->options->limits.evaluations, k->out->evaluated);
    r = dfl_mapper_alone(k->arena, k->sink, k->names, part->problem, &options, fits);
    if (r == NULL && *fits && dfl_sink_errors(k->sink) == k->errors)
        k->stopped = dfl_arena_budget(k->arena) ? dfl_arena_budget(k->arena)->why : DFL_STOP_TIME;
    if (r != NULL) {
        k->out->evaluated += r->evaluated;
        k->out->pruned += r->pruned;
        k->stopped = k->stopped == DFL_STOP_NONE ? r->stopped : k->stopped;
    }
    return r;
}

/* What the part costs at least, each measure by itself; what the search for both does not tell. */
static bool find_least(searcher *k, const dfl_branch_part *part, solution *out)
{
    bool fits = true;
    const dfl_map_result *e = k->by != BY_TIME ? search_part(k, part, &k->energy, false, &fits) : NULL;
    const dfl_map_result *t = k->by != BY_ENERGY ? search_part(k, part, &k->latency, false, &fits) : NULL;

    out->joules = e != NULL ? e->lower_bound * part->times : 0;
    out->seconds = t != NULL ? t->lower_bound * part->times : 0;
    return (e != NULL || k->by == BY_TIME) && (t != NULL || k->by == BY_ENERGY);
}

/* False if there is nothing. */
static bool solve(searcher *k, const dfl_branch_part *part, solution *out, bool *fits)
{
    const bool both = k->by == BY_BOTH;
    const dfl_map_result *r = search_part(k, part, k->by == BY_TIME ? &k->latency : &k->energy, both, fits);
    dfl_map_point *one = DFL_NEW(k->arena, dfl_map_point);

    if (r == NULL || r->mapping == NULL)
        return false;
    *one = (dfl_map_point){ .mapping = r->mapping, .joules = r->joules, .seconds = r->seconds };
    out->exact = r->optimal && r->stopped == DFL_STOP_NONE;
    out->found = both ? r->front : one;
    for (uint32_t i = 0; i < (both ? r->n_front : 1); i++)
        DFL_PUSH(k->arena, &out->points, ((point){ out->found[i].joules * part->times,
                                                     out->found[i].seconds * part->times, 0, i }));
    thin_out(&out->points);
    out->joules = k->by == BY_ENERGY ? r->lower_bound * part->times : 0;
    out->seconds = k->by == BY_TIME ? r->lower_bound * part->times : 0;
    out->floor_joules = k->by != BY_TIME ? r->floor * part->times : 0;
    out->floor_seconds = k->by == BY_TIME ? r->floor * part->times : 0;
    return !both || out->exact || find_least(k, part, out);
}

/* ---- a tree ---- */

static double value_of(const searcher *k, double joules, double seconds)
{
    return dfl_objective_value(k->options->objective, joules, seconds);
}

/* A mapping of the tree, and those of its parts. */
static dfl_map_point take(searcher *k, const dfl_branches *tree, const solution *parts, const points *sums, uint32_t at,
                          const dfl_mapping **found)
{
    const point *last = &sums[tree->n].at[at];
    dfl_map_point out = { .joules = last->joules, .seconds = last->seconds };

    for (uint32_t p = tree->n; p-- > 0;) {
        const point *x = &sums[p + 1].at[at];
        found[p] = parts[p].found[parts[p].points.at[x->at].at].mapping;
        at = x->before;
    }
    out.mapping = dfl_branches_put(k->arena, tree, found);
    return out;
}

/* A front more: points of several choices are told apart by those that compare them. */
static void add_front(searcher *k, const dfl_branches *tree, const solution *parts, const points *sums)
{
    const points *all = &sums[tree->n];
    dfl_map_result *out = k->out;
    dfl_map_point *front = DFL_NEW_ARRAY(k->arena, dfl_map_point, out->n_front + all->n);
    const dfl_mapping **found = DFL_NEW_ARRAY(k->arena, const dfl_mapping *, (size_t)tree->n + 1);

    if (out->n_front > 0)
        memcpy(front, out->front, out->n_front * sizeof *front);
    for (size_t i = 0; i < all->n; i++)
        front[out->n_front + i] = take(k, tree, parts, sums, (uint32_t)i, found);
    out->front = front;
    out->n_front += (uint32_t)all->n;
}

/* The best of a tree, if it is better than what there is. */
static void combine(searcher *k, const dfl_branches *tree, const solution *parts)
{
    points *sums = DFL_NEW_ARRAY(k->arena, points, (size_t)tree->n + 1);
    double joules = tree->joules, seconds = tree->seconds, least = INFINITY;
    double floor_joules = joules, floor_seconds = seconds;
    bool exact = true;
    uint32_t best = 0;

    DFL_PUSH(k->arena, &sums[0], ((point){ .joules = tree->joules, .seconds = tree->seconds }));
    for (uint32_t p = 0; p < tree->n; p++) {
        sums[p + 1] = add_points(k->arena, &sums[p], &parts[p].points);
        joules += parts[p].joules;
        seconds += parts[p].seconds;
        floor_joules += parts[p].floor_joules;
        floor_seconds += parts[p].floor_seconds;
        exact &= parts[p].exact;
    }
    for (uint32_t i = 0; i < sums[tree->n].n; i++) {
        double value = value_of(k, sums[tree->n].at[i].joules, sums[tree->n].at[i].seconds);
        if (value < least) {
            least = value;
            best = i;
        }
    }
    k->exact &= exact;
    k->floor = fmin(k->floor, value_of(k, floor_joules, floor_seconds));
    k->bound = fmin(k->bound, exact && k->by == BY_BOTH ? least : value_of(k, joules, seconds)); /* B54 */
    if (k->options->front)
        add_front(k, tree, parts, sums);
    if (k->out->mapping == NULL || least < k->out->objective) {
        const dfl_mapping **found = DFL_NEW_ARRAY(k->arena, const dfl_mapping *, (size_t)tree->n + 1);
        dfl_map_point p = take(k, tree, parts, sums, best, found);
        k->best = *tree;
        k->found = found;
        k->out->mapping = p.mapping;
        k->out->joules = p.joules;
        k->out->seconds = p.seconds;
        k->out->objective = least;
    }
}

/* One choice of amounts above the branches; false after reporting. */
static bool search_tree(searcher *k, const dfl_mapping *m, bool only)
{
    dfl_branches tree;
    dfl_branches_state state = dfl_branches_make(k->arena, only ? k->sink : k->quiet, k->names, m, &tree);
    if (state == DFL_TREE_REFUSED && !only)
        state = dfl_branches_make(k->arena, k->sink, k->names, m, &tree);
    solution *parts = DFL_NEW_ARRAY(k->arena, solution, (size_t)tree.n + 1);
    bool fits = true;

    if (state == DFL_TREE_FULL || (state == DFL_TREE_ILLEGAL && !only))
        return true;
    if (state == DFL_TREE_ILLEGAL || state == DFL_TREE_REFUSED)
        return false;
    for (uint32_t p = 0; p < tree.n; p++)
        if (!solve(k, &tree.parts[p], &parts[p], &fits)) {
            if (k->stopped != DFL_STOP_NONE)
                k->bound = value_of(k, 0, 0); /* nothing is known of this choice */
            return dfl_sink_errors(k->sink) == k->errors;
        }
    combine(k, &tree, parts);
    return true;
}

/* ---- amounts above branches ---- */

typedef struct {
    dfl_line *line;
    dfl_amounts amounts;
} choice;
typedef DFL_VEC(choice) choices;

static uint64_t find_choices(dfl_arena *arena, dfl_mapping *m, choices *out)
{
    uint64_t all = 1;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines && m->bodies[b]->kind != DFL_BODY_LEAF; i++) {
            choice c = { .line = &m->bodies[b]->lines[i] };
            if (c.line->kind == DFL_LINE_KEEP || c.line->by != DFL_BY_HOLE)
                continue;
            c.amounts = c.line->hole->choices ? (dfl_amounts){ c.line->hole->choices, c.line->hole->n_choices }
                                              : dfl_divisors(arena, m->workload->ranks[c.line->rank].extent);
            all = all * c.amounts.n > DFL_TREE_CHOICES ? DFL_TREE_CHOICES + 1 : all * c.amounts.n;
            DFL_PUSH(arena, out, c);
        }
    return all;
}

/* Number `number` of all choices, the last line changing fastest. */
static void choose(const choices *all, uint64_t number)
{
    for (size_t i = all->n; i-- > 0;) {
        const choice *c = &all->at[i];
        c->line->by = c->line->hole->by;
        c->line->amount = c->amounts.at[number % c->amounts.n];
        number /= c->amounts.n;
    }
}

bool dfl_branches_choices(const dfl_mapping *m, uint64_t most)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    choices all = { .n = 0 };
    uint64_t n = find_choices(arena, dfl_mapping_copy(arena, m), &all);

    dfl_arena_free(arena);
    return n <= most;
}

dfl_map_result *dfl_branches_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                                    const dfl_map_options *options, bool *fits)
{
    searcher k = { .arena = arena, .sink = sink, .quiet = dfl_sink_quiet(arena), .names = names, .options = options, .m = m,
                   .by = measure_of(options), .energy = energy_alone(arena),
                   .latency = { .names = names, .free = true, .native = true, .room = DFL_NONE, .text = "latency" },
                   .out = DFL_NEW(arena, dfl_map_result), .bound = INFINITY, .floor = INFINITY,
                   .errors = dfl_sink_errors(sink), .exact = true };
    choices all = { .n = 0 };
    uint64_t n;

    if (!dfl_mapping_has_open_branches(m))
        return dfl_mapper_alone(arena, sink, names, m, options, fits);
    n = find_choices(arena, dfl_mapping_copy(arena, m), &all);
    for (uint64_t i = 0; i < n && !(options->any && k.out->mapping != NULL); i++) {
        if (k.stopped != DFL_STOP_NONE) {
            k.bound = value_of(&k, 0, 0);
            break;
        }
        dfl_mapping *filled = dfl_mapping_copy(arena, m);
        choices own = { .n = 0 };
        (void)find_choices(arena, filled, &own);
        choose(&own, i);
        if (!search_tree(&k, filled, n == 1))
            return NULL;
    }
    *fits = k.out->mapping != NULL || k.stopped != DFL_STOP_NONE;
    if (k.out->mapping == NULL) {
        dfl_budget_stop(dfl_arena_budget(arena), k.stopped);
        return NULL;
    }
    k.out->stopped = k.stopped;
    k.out->lower_bound = k.bound;
    k.out->floor_units = value_of(&k, 0, 0);
    k.out->floor = k.out->floor_beside = k.out->floor_lifted = n > 1 ? value_of(&k, 0, 0) : k.floor;
    k.out->optimal = k.exact && k.stopped == DFL_STOP_NONE;
    k.out->space = dfl_mapper_words(arena, m, &(dfl_words){ .spread = options->space.any_spread });
    if (k.stopped == DFL_STOP_NONE && !options->front && options->top == 0 && !options->any &&
        dfl_weights_count_waits(m, options->objective, false))
        dfl_part_boxes_improve(arena, names, &k.best, k.found, options, k.out);
    return k.out;
}
