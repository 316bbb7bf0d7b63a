/* The whole search: classes of einsums, their least costs, rows within a limit, the join, and again with a larger limit. */
#include "mapper/mapper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/emit.h"
#include "mapper/filter.h"
#include "support/vec.h"

typedef struct {
    const dfl_job *job;
    const dfl_tiling_template *form;
    double joules, seconds;            /* at least */
    uint32_t at;                       /* in the order they were made */
    uint32_t pattern;                  /* of the class */
} candidate;

enum { GLANCE = 256 };

/* Einsums that are the same but for names. */
typedef struct {
    uint32_t first;                    /* einsum */
    DFL_VEC(candidate) candidates;     /* templates on all units */
    DFL_VEC(dfl_pattern) patterns;
    dfl_least *others;                 /* by pattern: everything else, at least */
    dfl_rows *rows;
    const dfl_row *const *list;
    uint32_t n_list;
    bool searched;                     /* with the present limit */
    dfl_offers offers[DFL_JOB_OPERANDS]; /* of its rows */
} einsum_class;

/* The operand of another class that an operand is exchanged with. */
typedef struct { const einsum_class *by; uint32_t operand; } partner;

/* Classes next to those of a class that have been searched, by operand; none where one has not. */
struct dfl_way_filter {
    DFL_VEC(partner) next[DFL_JOB_OPERANDS];
};

typedef struct {
    dfl_arena *arena, *scratch;
    const dfl_mapping *m;
    const dfl_map_options *options;
    uint32_t n;                        /* einsums */
    DFL_VEC(dfl_job *) *jobs;          /* per einsum: one for every unit that can run it */
    uint32_t *class_of;
    DFL_VEC(einsum_class) classes;
    uint32_t *order;                   /* of classes: many templates first, the others then know what those offer */
    dfl_tile_goal goal;
    double capacity[DFL_ROW_TRACKS];
    dfl_bounds *bounds;
    uint64_t evaluated, pruned;
} mapper;

static double objective_value(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

static double joules_only(const void *objective, double joules, double seconds)
{
    (void)objective;
    (void)seconds;
    return joules;
}

static double seconds_only(const void *objective, double joules, double seconds)
{
    (void)objective;
    (void)joules;
    return seconds;
}

static bool make_jobs(mapper *k, dfl_sink *sink, const dfl_intern *names)
{
    const dfl_system *s = k->m->system;
    dfl_job_limits limits = { .any_spatial = k->options->any_spatial };
    bool possible = true;

    k->jobs = dfl_arena_alloc(k->arena, (size_t)k->n + 1, sizeof *k->jobs, _Alignof(void *));
    for (uint32_t e = 0; e < k->n; e++) {
        bool reported = false;
        for (uint32_t u = 0; u < s->n_computes; u++) {
            dfl_job *job = DFL_NEW(k->arena, dfl_job);
            bool fine = true;
            if (dfl_job_make(sink, names, k->m, e, u, &limits, job, &fine))
                DFL_PUSH(k->arena, &k->jobs[e], job);
            reported |= !fine;
        }
        if (k->jobs[e].n == 0 && !reported) {
            const dfl_einsum *einsum = &k->m->workload->einsums[e];
            dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, einsum->span, "no unit can run einsum `%s`",
                                     dfl_sym_text(names, einsum->name));
            dfl_diag_label(sink, d, k->m->system->span, "on this system");
            dfl_diag_help(sink, d, "give a unit a rate for it, or extend its `ops`");
        }
        possible &= k->jobs[e].n > 0 && !reported;
    }
    return possible;
}

/* Memories outside of all arrays with a limit, in which operands may be exchanged. */
static void find_tracks(mapper *k)
{
    const dfl_system *s = k->m->system;

    for (uint32_t m = 0; m < s->n_memories && k->goal.n_tracks < DFL_ROW_TRACKS; m++) {
        bool exchanged = false;
        for (uint32_t e = 0; e < k->n && !exchanged; e++)
            for (size_t i = 0; i < k->jobs[e].n && !exchanged; i++) {
                const dfl_job *job = k->jobs[e].at[i];
                for (uint32_t o = 0; o < job->n_operands; o++)
                    for (uint32_t p = 0; p < job->n_places; p++)
                        exchanged |= job->place[p].memory == m && job->place[p].axes == 0 && job->operand[o].shared &&
                                     (job->operand[o].places >> p & 1);
            }
        if (!exchanged || s->memories[m].size_bits < 0)
            continue;
        k->goal.track[k->goal.n_tracks] = m;
        k->capacity[k->goal.n_tracks++] = (double)s->memories[m].size_bits;
    }
}

static bool same_class(const mapper *k, uint32_t a, uint32_t b)
{
    if (k->jobs[a].n != k->jobs[b].n)
        return false;
    for (size_t i = 0; i < k->jobs[a].n; i++)
        if (k->jobs[a].at[i]->unit != k->jobs[b].at[i]->unit || !dfl_job_same(k->jobs[a].at[i], k->jobs[b].at[i]))
            return false;
    return true;
}

typedef struct {
    mapper *k;
    einsum_class *c;
    const dfl_job *job;
} collector;

static uint32_t pattern_of(mapper *k, einsum_class *c, const dfl_job *job, const dfl_tiling_template *t)
{
    dfl_pattern p = { .joules = INFINITY, .seconds = INFINITY };
    uint32_t i = 0;

    for (uint32_t o = 0; o < job->n_operands; o++)
        if (job->operand[o].shared)
            p.memory[o] = job->place[t->exchange[o]].memory;
    while (i < c->patterns.n && memcmp(c->patterns.at[i].memory, p.memory, sizeof p.memory) != 0)
        i++;
    if (i == c->patterns.n)
        DFL_PUSH(k->arena, &c->patterns, p);
    return i;
}

static bool collect(void *context, const dfl_tiling_template *t)
{
    collector *x = context;
    dfl_tiling_template *copy = DFL_NEW(x->k->arena, dfl_tiling_template);
    candidate found = { .job = x->job, .form = copy };

    *copy = *t;
    found.pattern = pattern_of(x->k, x->c, x->job, t);
    found.at = (uint32_t)x->c->candidates.n;
    dfl_tile_bound(x->k->scratch, x->job, copy, &found.joules, &found.seconds);
    DFL_PUSH(x->k->arena, &x->c->candidates, found);
    return true;
}

static int by_joules(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->joules != y->joules)
        return x->joules < y->joules ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void make_classes(mapper *k)
{
    k->class_of = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)k->n + 1);
    for (uint32_t e = 0; e < k->n; e++) {
        uint32_t c = 0;
        while (c < k->classes.n && !same_class(k, k->classes.at[c].first, e))
            c++;
        if (c == k->classes.n) {
            einsum_class fresh = { .first = e };
            for (size_t i = 0; i < k->jobs[e].n; i++) {
                collector x = { .k = k, .c = &fresh, .job = k->jobs[e].at[i] };
                dfl_templates_each(x.job, collect, &x);
            }
            qsort(fresh.candidates.at, fresh.candidates.n, sizeof *fresh.candidates.at, by_joules);
            DFL_PUSH(k->arena, &k->classes, fresh);
        }
        k->class_of[e] = c;
    }
    k->order = DFL_NEW_ARRAY(k->arena, uint32_t, k->classes.n + 1);
    for (uint32_t c = 0; c < k->classes.n; c++) {
        uint32_t at = c;
        for (; at > 0 && k->classes.at[k->order[at - 1]].candidates.n < k->classes.at[c].candidates.n; at--)
            k->order[at] = k->order[at - 1];
        k->order[at] = c;
    }
}

/* Rows of the candidates that follow pattern `only`, or all (DFL_NONE) with what else each needs at least. */
static void search_class(mapper *k, einsum_class *c, uint32_t only, dfl_tile_goal *goal)
{
    c->rows = dfl_rows_new(k->arena, k->scratch);
    for (size_t i = 0; i < c->candidates.n; i++) {
        const candidate *x = &c->candidates.at[i];
        if (only == DFL_NONE) {
            goal->rest_joules = c->others[x->pattern].joules;
            goal->rest_seconds = c->others[x->pattern].seconds;
        } else if (x->pattern != only) {
            continue;
        }
        if (dfl_tile_useful(goal, x->joules, x->seconds))
            dfl_tile_search(c->rows, x->job, x->form, goal);
    }
    k->evaluated += dfl_rows_evaluated(c->rows);
    k->pruned += dfl_rows_pruned(c->rows);
    c->list = dfl_rows_list(c->rows, &c->n_list);
}

/* The least energy and the least time of every class and pattern, each by itself. */
static void find_least(mapper *k)
{
    for (size_t i = 0; i < k->classes.n; i++) {
        einsum_class *c = &k->classes.at[i];
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            dfl_tile_goal goal = k->goal;
            goal.best_only = true;
            goal.leakage = goal.rest_joules = goal.rest_seconds = 0;
            goal.n_tracks = 0;
            goal.limit = INFINITY;
            goal.seen_seconds = INFINITY;
            goal.value = joules_only;
            goal.effort = GLANCE; /* a first look at all templates finds a limit for the second one */
            search_class(k, c, p, &goal);
            goal.effort = 0;
            search_class(k, c, p, &goal);
            c->patterns.at[p].joules = goal.limit;
            goal.limit = goal.seen_seconds;
            goal.value = seconds_only;
            search_class(k, c, p, &goal);
            c->patterns.at[p].seconds = goal.limit;
        }
    }
}

/* False if some einsum fits in no way. */
static bool find_bounds(mapper *k)
{
    dfl_bound_step *steps = DFL_NEW_ARRAY(k->arena, dfl_bound_step, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++) {
        const einsum_class *c = &k->classes.at[k->class_of[e]];
        steps[e] = (dfl_bound_step){ .job = k->jobs[e].at[0], .patterns = c->patterns.at, .n = (uint32_t)c->patterns.n };
    }
    k->bounds = dfl_bounds_make(k->arena, k->m->workload, steps);
    for (size_t i = 0; i < k->classes.n; i++) {
        einsum_class *c = &k->classes.at[i];
        c->others = DFL_NEW_ARRAY(k->arena, dfl_least, c->patterns.n + 1);
        for (uint32_t p = 0; p < c->patterns.n; p++)
            c->others[p] = (dfl_least){ INFINITY, INFINITY };
    }
    for (uint32_t e = 0; e < k->n; e++) {
        einsum_class *c = &k->classes.at[k->class_of[e]];
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            dfl_least others = dfl_bounds_others(k->bounds, e, p);
            c->others[p].joules = fmin(c->others[p].joules, others.joules);
            c->others[p].seconds = fmin(c->others[p].seconds, others.seconds);
        }
    }
    return dfl_bounds_all(k->bounds).joules < INFINITY;
}

static bool wanted(const dfl_way_filter *f, const dfl_job *job, const dfl_way *way)
{
    for (uint32_t o = 0; o < job->n_operands; o++) {
        bool offered = f->next[o].n == 0;
        for (size_t i = 0; i < f->next[o].n && !offered; i++)
            offered = dfl_offers_has(&f->next[o].at[i].by->offers[f->next[o].at[i].operand], job, way, o);
        if (!offered)
            return false;
    }
    return true;
}

/* Adds the partner of operand `o` of einsum `e`: the producer of an input, the first reader of a result. False if it has
   not been searched. */
static bool add_partner(mapper *k, dfl_way_filter *f, uint32_t e, uint32_t o)
{
    const dfl_job_operand *op = &k->jobs[e].at[0]->operand[o];
    const dfl_tensor *t = &k->m->workload->tensors[op->tensor];
    uint32_t next = op->output ? t->consumers[0] : t->producers[0];
    partner p = { .by = &k->classes.at[k->class_of[next]] };

    while (k->jobs[next].at[0]->operand[p.operand].tensor != op->tensor)
        p.operand++;
    for (size_t i = 0; i < f->next[o].n; i++)
        if (f->next[o].at[i].by == p.by && f->next[o].at[i].operand == p.operand)
            return true;
    DFL_PUSH(k->arena, &f->next[o], p);
    return p.by->searched;
}

static dfl_way_filter *make_filter(mapper *k, uint32_t class)
{
    dfl_way_filter *f = DFL_NEW(k->arena, dfl_way_filter);
    const dfl_job *job = k->jobs[k->classes.at[class].first].at[0];

    for (uint32_t o = 0; o < job->n_operands; o++) {
        bool all = job->operand[o].shared;
        for (uint32_t e = 0; e < k->n && all; e++)
            if (k->class_of[e] == class)
                all = add_partner(k, f, e, o);
        if (!all)
            f->next[o].n = 0;
    }
    return f;
}

static void offer_rows(mapper *k, einsum_class *c)
{
    const dfl_job *job = k->jobs[c->first].at[0];

    memset(c->offers, 0, sizeof c->offers);
    for (uint32_t o = 0; o < job->n_operands; o++)
        for (uint32_t i = 0; i < c->n_list && job->operand[o].shared; i++)
            dfl_offers_add(k->arena, &c->offers[o], job, &c->list[i]->way, o);
    c->searched = true;
}

static const dfl_join_result *search_within(mapper *k, double limit, bool *full)
{
    dfl_join_step *steps = DFL_NEW_ARRAY(k->arena, dfl_join_step, (size_t)k->n + 1);

    k->goal.limit = limit;
    k->goal.wanted = wanted;
    for (size_t i = 0; i < k->classes.n; i++)
        k->classes.at[i].searched = false;
    for (size_t i = 0; i < k->classes.n; i++) {
        uint32_t next = k->order[i];
        k->goal.filter = make_filter(k, next);
        search_class(k, &k->classes.at[next], DFL_NONE, &k->goal);
        offer_rows(k, &k->classes.at[next]);
    }
    k->goal.rest_joules = k->goal.rest_seconds = 0;
    for (uint32_t e = 0; e < k->n; e++) {
        const einsum_class *c = &k->classes.at[k->class_of[e]];
        steps[e] = (dfl_join_step){ .rows = c->list, .n = c->n_list, .job = k->jobs[e].at[0] };
    }
    return dfl_join(k->arena, k->m->workload, steps, &k->goal, k->bounds, k->capacity, full);
}

/* The job of every einsum that has the unit of its row. */
static const dfl_job *const *chosen_jobs(const mapper *k, const dfl_join_result *r)
{
    const dfl_job **jobs = DFL_NEW_ARRAY(k->arena, const dfl_job *, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++)
        for (size_t i = 0; i < k->jobs[e].n; i++)
            if (k->jobs[e].at[i]->unit == r->rows[e]->job->unit)
                jobs[e] = k->jobs[e].at[i];
    return jobs;
}

static void report_impossible(const mapper *k, dfl_sink *sink, const dfl_intern *names)
{
    dfl_diag *d = dfl_report(sink, DFL_MAP_CAPACITY, k->m->hole_span, "no mapping of `%s` fits into the memories of `%s`",
                             dfl_sym_text(names, k->m->workload->name), dfl_sym_text(names, k->m->system->name));

    dfl_diag_help(sink, d, "make the memories larger");
}

/* An objective that does not grow with one of the two does not see it. */
static void look_at_objective(mapper *k)
{
    const dfl_objective *o = k->options->objective;

    k->goal.by_energy = dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 2, 1);
    k->goal.by_time = (k->goal.by_energy && k->goal.leakage > 0) ||
                      dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 1, 2);
}

static void add_leakage(mapper *k)
{
    const dfl_system *s = k->m->system;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        dfl_i128 n = 1;
        dfl_element_instances(s, s->memories[i].element, &n);
        k->goal.leakage += s->memories[i].leakage * dfl_i128_double(n);
    }
    for (uint32_t i = 0; i < s->n_computes; i++) {
        dfl_i128 n = 1;
        dfl_element_instances(s, s->computes[i].element, &n);
        k->goal.leakage += s->computes[i].leakage * dfl_i128_double(n);
    }
}

/* Limits on the value: from a little above the least to none. */
static const double STEPS[] = { 1.0005, 1.003, 1.01, 1.02, 1.04, 1.08, 1.2, 1.5, 2.5, 10, INFINITY };

static const dfl_map_result *run(mapper *k, dfl_sink *sink, const dfl_intern *names)
{
    const dfl_join_result *best = NULL;
    dfl_map_result *out;
    double least;
    bool full = false;

    if (!make_jobs(k, sink, names))
        return NULL;
    add_leakage(k);
    look_at_objective(k);
    find_tracks(k);
    make_classes(k);
    find_least(k);
    if (find_bounds(k)) {
        dfl_least all = dfl_bounds_all(k->bounds);
        least = dfl_objective_value(k->options->objective, all.joules + k->goal.leakage * all.seconds, all.seconds);
        for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS && best == NULL; i++)
            best = search_within(k, least * STEPS[i], &full);
    }
    if (best == NULL) {
        report_impossible(k, sink, names);
        return NULL;
    }
    out = DFL_NEW(k->arena, dfl_map_result);
    *out = (dfl_map_result){ .mapping = dfl_emit(k->arena, k->m, chosen_jobs(k, best), best), .joules = best->joules,
                             .seconds = best->seconds, .objective = best->value, .lower_bound = best->value,
                             .optimal = !full, .evaluated = k->evaluated, .pruned = k->pruned,
                             .space = "tiles that divide; keeps in the order of the memories" };
    return out;
}

const dfl_map_result *dfl_mapper_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                     const dfl_mapping *mapping, const dfl_map_options *options)
{
    mapper k = { .arena = arena, .m = mapping, .options = options, .n = mapping->workload->n_einsums };
    const dfl_map_result *out;

    k.goal = (dfl_tile_goal){ .value = objective_value, .objective = options->objective,
                              .max_loops = options->max_fused };
    k.scratch = dfl_arena_new(dfl_arena_budget(arena));
    out = run(&k, sink, names);
    dfl_arena_free(k.scratch);
    return out;
}
