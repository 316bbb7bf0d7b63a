/* Jobs, classes, and what classes offer each other. */
#include "mapper/exact/classes.h"

#include <string.h>

#include "mapper/exact/candidates.h"
#include "mapper/exact/common.h"
#include "mapper/exact/tracks.h"
#include "mapper/problem/limits.h"
#include "mapper/skeleton/given.h"
#include "mapper/skeleton/given_walk.h"

typedef struct {
    dfl_arena *arena;
    dfl_classes *out;
    const dfl_job_limits *limits;
    dfl_deadline *halt;
} maker;

/* Einsums with one lack: something that the search does not support. */
typedef struct {
    const char *lack;
    uint32_t first, n;   /* the first einsum, and the number of einsums */
} lacking;

/* Reports each lack once. */
static void report_lacks(const dfl_classes *out, dfl_sink *sink, const dfl_intern *names, const lacking *lacks, size_t n)
{
    const dfl_workload *w = out->m->workload;

    for (size_t i = 0; i < n; i++) {
        const dfl_einsum *e = &w->einsums[lacks[i].first];
        const char *name = dfl_sym_text(names, e->name);
        dfl_diag *d = lacks[i].n > 1
                          ? dfl_report(sink, DFL_EVAL_UNSUPPORTED, e->span,
                                       "the search does not support %u of the %u einsums of `%s`, first `%s`: %s",
                                       lacks[i].n, out->n, dfl_sym_text(names, w->name), name, lacks[i].lack)
                          : dfl_report(sink, DFL_EVAL_UNSUPPORTED, e->span, "the search does not support `%s`: %s", name,
                                       lacks[i].lack);

        dfl_diag_label(sink, d, out->m->span, "needed to fill the hole of this mapping");
        dfl_diag_help(sink, d, "write the lines of the mapping");
    }
}

static bool make_jobs(maker *k, dfl_sink *sink, const dfl_intern *names)
{
    dfl_classes *out = k->out;
    const dfl_system *s = out->m->system;
    DFL_VEC(lacking) lacks = { NULL, 0, 0 };
    bool possible = true;

    out->roomy = dfl_space_roomy(k->arena, out->m, k->limits);
    out->jobs = DFL_NEW_ARRAY(k->arena, dfl_jobs, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n; e++) {
        const char *lack = NULL;
        for (uint32_t u = 0; u < s->n_computes; u++) {
            dfl_job *job = DFL_NEW(k->arena, dfl_job);
            const dfl_body *leaf = dfl_mapping_leaf(out->m, e);
            const char *here = NULL;
            if (leaf != NULL && leaf->compute != DFL_NONE && leaf->compute != u)
                continue;
            if (dfl_job_make(names, out->m, e, u, k->limits, out->roomy, job, &here)) {
                job->given = dfl_given_make(k->arena, out->m, job);
                DFL_PUSH(k->arena, &out->jobs[e], job);
            }
            lack = lack ? lack : here;
        }
        if (lack) {
            size_t i = 0;
            while (i < lacks.n && strcmp(lacks.at[i].lack, lack) != 0)
                i++;
            if (i == lacks.n)
                DFL_PUSH(k->arena, &lacks, ((lacking){ .lack = lack, .first = e }));
            lacks.at[i].n++;
        } else if (out->jobs[e].n == 0) {
            const dfl_einsum *einsum = &out->m->workload->einsums[e];
            dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, einsum->span, "no unit can run einsum `%s`",
                                     dfl_sym_text(names, einsum->name));
            dfl_diag_label(sink, d, out->m->system->span, "on this system");
            dfl_diag_help(sink, d, "give a unit a rate for it, or extend its `ops`");
        }
        possible &= out->jobs[e].n > 0 && !lack;
    }
    report_lacks(out, sink, names, lacks.at, lacks.n);
    return possible;
}

static bool same_class(const dfl_classes *k, uint32_t a, uint32_t b)
{
    if (k->jobs[a].n != k->jobs[b].n)
        return false;
    for (size_t i = 0; i < k->jobs[a].n; i++)
        if (k->jobs[a].at[i]->unit != k->jobs[b].at[i]->unit || !dfl_job_same(k->jobs[a].at[i], k->jobs[b].at[i]))
            return false;
    return true;
}

typedef struct {
    maker *k;
    dfl_einsum_class *c;
    const dfl_job *job;
} collector;

static uint32_t find_pattern(const dfl_einsum_class *c, const dfl_pattern *p)
{
    uint32_t i = 0;

    while (i < c->patterns.n && memcmp(c->patterns.at[i].memory, p->memory, sizeof p->memory) != 0)
        i++;
    return i;
}

static dfl_pattern make_pattern(const dfl_job *job, const dfl_tiling_template *t)
{
    dfl_pattern p = { .least = dfl_cost_none() };

    for (uint32_t o = 0; o < job->n_operands; o++)
        if (dfl_job_exchanged(&job->operand[o])) {
            p.memory[o] = job->place[t->exchange[o]].memory;
            p.fetch[o] = dfl_common_joules(job, t, o);
        }
    return p;
}

static uint32_t pattern_of(maker *k, dfl_einsum_class *c, const dfl_job *job, const dfl_tiling_template *t)
{
    dfl_pattern p = make_pattern(job, t);
    uint32_t i = find_pattern(c, &p);

    if (i == c->patterns.n)
        DFL_PUSH(k->arena, &c->patterns, p);
    return i;
}

uint32_t dfl_classes_pattern(const dfl_einsum_class *c, const dfl_job *job, const dfl_tiling_template *t)
{
    const dfl_pattern p = make_pattern(job, t);

    return find_pattern(c, &p);
}

static bool collect(void *context, const dfl_tiling_template *t)
{
    collector *x = context;
    dfl_tiling_template *copy = DFL_NEW(x->k->arena, dfl_tiling_template);
    dfl_candidate found = { .job = x->job, .form = copy };

    *copy = *t;
    if (t->form)
        copy->form = dfl_given_form_copy(x->k->arena, t->form);
    found.pattern = pattern_of(x->k, x->c, x->job, t);
    found.at = (uint32_t)x->c->candidates.n;
    DFL_PUSH(x->k->arena, &x->c->candidates, found);
    return !dfl_deadline_passed(x->k->halt);
}

static void make_class(maker *k, uint32_t e)
{
    dfl_einsum_class fresh = { .first = e };

    for (size_t i = 0; i < k->out->jobs[e].n; i++) {
        collector x = { .k = k, .c = &fresh, .job = k->out->jobs[e].at[i] };
        if (x.job->given)
            dfl_given_each(x.job, k->halt, collect, &x);
        else
            dfl_templates_each(x.job, k->halt, collect, &x);
    }
    DFL_PUSH(k->arena, &k->out->at, fresh);
}

/* The einsum on the other side of an operand: the producer of an input, the first reader of a result. */
static uint32_t other_side(const dfl_classes *k, uint32_t e, uint32_t o)
{
    const dfl_job_operand *op = &k->jobs[e].at[0]->operand[o];
    const dfl_tensor *t = &k->m->workload->tensors[op->tensor];

    return op->output ? t->consumers[0] : t->producers[0];
}

static void add_partner(dfl_arena *arena, dfl_classes *k, uint32_t e, uint32_t o)
{
    dfl_einsum_class *c = &k->at.at[k->of[e]];
    const dfl_job *job = k->jobs[e].at[0];
    uint32_t next = other_side(k, e, o);
    dfl_partner p = { .class = k->of[next] };

    for (uint32_t before = 0; before < o; before++)
        if (job->operand[before].shared && other_side(k, e, before) == next)
            c->repeated |= 1u << o;
    while (k->jobs[next].at[0]->operand[p.operand].tensor != job->operand[o].tensor)
        p.operand++;
    for (size_t i = 0; i < c->next[o].n; i++)
        if (c->next[o].at[i].class == p.class && c->next[o].at[i].operand == p.operand)
            return;
    DFL_PUSH(arena, &c->next[o], p);
}

/* Whether the exchanged operands, each between its producer and every reader, make no circle. */
static bool is_tree(dfl_arena *scratch, const dfl_classes *k)
{
    const dfl_workload *w = k->m->workload;
    uint32_t *root = DFL_NEW_ARRAY(scratch, uint32_t, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++)
        root[e] = e;
    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_job *job = k->jobs[e].at[0];
        for (uint32_t o = 0; o < job->n_operands; o++) {
            uint32_t a = e, b;
            if (!job->operand[o].shared || job->operand[o].output)
                continue;
            for (b = w->tensors[job->operand[o].tensor].producers[0]; root[b] != b;)
                b = root[b] = root[root[b]];
            while (root[a] != a)
                a = root[a] = root[root[a]];
            if (a == b)
                return false;
            root[a] = b;
        }
    }
    return true;
}

static void find_partners(dfl_arena *arena, dfl_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        for (uint32_t o = 0; o < k->jobs[e].at[0]->n_operands; o++)
            if (k->jobs[e].at[0]->operand[o].shared)
                add_partner(arena, k, e, o);
}

bool dfl_classes_make(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                      const dfl_job_limits *limits, uint32_t threads, dfl_deadline *halt, dfl_classes *out)
{
    maker k = { .arena = arena, .out = out, .limits = limits, .halt = halt };
    uint32_t more;

    *out = (dfl_classes){ .m = m, .n = m->workload->n_einsums };
    if (!make_jobs(&k, sink, names))
        return false;
    if (!limits->homes_only)
        dfl_common_find(out, limits);
    more = limits->homes_only || limits->unjoined
               ? DFL_NONE : dfl_tracks_excess(scratch, out, limits->counted > 0 ? limits->counted - 1 : DFL_NONE);
    if (more != DFL_NONE) {
        dfl_tracks_report(sink, m, more);
        return false;
    }
    out->of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n && !dfl_deadline_passed(halt); e++) {
        uint32_t c = 0;
        while (c < out->at.n && !same_class(out, out->at.at[c].first, e))
            c++;
        if (c == out->at.n)
            make_class(&k, e);
        out->of[e] = c;
    }
    if (halt->why == DFL_STOP_NONE)
        dfl_classes_bound(scratch, out, limits->plain, threads, halt);
    if (halt->why == DFL_STOP_NONE)
        find_partners(arena, out);
    out->tree = halt->why == DFL_STOP_NONE && is_tree(arena, out);
    return halt->why == DFL_STOP_NONE;
}

bool dfl_classes_make_within(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                             const dfl_job_limits *limits, const dfl_search_limits *all, dfl_classes *out, dfl_stop *stopped)
{
    dfl_budget *session = dfl_arena_budget(arena), few = dfl_budget_fresh(session);
    dfl_deadline halt = { .budget = session, .at = all->deadline };
    const uint64_t most = all->evaluations > DFL_CLASSES_STEPS / DFL_CLASSES_STEPS_EACH
                              ? all->evaluations * DFL_CLASSES_STEPS_EACH : DFL_CLASSES_STEPS;
    const bool is_short = all->evaluations > 0 && all->evaluations <= UINT64_MAX / DFL_CLASSES_STEPS_EACH &&
                          most < dfl_deadline_left(&halt, UINT64_MAX);
    bool found;

    if (is_short) {
        few.steps_limit = most;
        halt.budget = &few;
    }
    found = dfl_classes_make(arena, scratch, sink, names, m, limits, all->threads, &halt, out);
    if (is_short)
        dfl_budget_spend(session, few.steps_used);
    *stopped = is_short && halt.why == DFL_STOP_STEPS ? DFL_STOP_EVALUATIONS : halt.why;
    return found;
}

void dfl_classes_aim(const dfl_einsum_class *c, uint32_t pattern, dfl_tile_goal *goal)
{
    goal->rest = c->others[pattern];
    for (uint32_t p = 0; p < DFL_PORTS; p++) {
        goal->busy[p] = c->patterns.at[pattern].least.at[DFL_COST_BUSY + p];
        goal->rest.at[DFL_COST_BUSY + p] += goal->busy[p];
    }
}

void dfl_classes_restart(dfl_classes *k)
{
    for (size_t i = 0; i < k->at.n; i++)
        k->at.at[i].searched = false;
}

/* Operands of which all partners have been searched. */
static uint32_t known_operands(const dfl_classes *k, const dfl_einsum_class *c)
{
    uint32_t known = 0;

    for (uint32_t o = 0; o < DFL_JOB_OPERANDS; o++) {
        bool all = c->next[o].n > 0;
        for (size_t i = 0; i < c->next[o].n && all; i++)
            all = k->at.at[c->next[o].at[i].class].searched;
        known |= (uint32_t)all << o;
    }
    return known;
}

/* The order of classes: operands whose ways are free, then all that are exchanged, then rows within the last limit. */
static uint64_t freedom(const dfl_classes *k, const dfl_einsum_class *c)
{
    uint64_t shared = 0;

    for (uint32_t o = 0; o < DFL_JOB_OPERANDS; o++)
        shared += c->next[o].n > 0;
    return ((shared - (uint64_t)__builtin_popcount(known_operands(k, c))) * (DFL_JOB_OPERANDS + 1) + shared) << 32 | c->n_list;
}

uint32_t dfl_classes_wave(dfl_classes *k, uint32_t number, uint32_t *wave)
{
    uint64_t least = UINT64_MAX;
    uint32_t n = 0;

    for (size_t i = 0; i < k->at.n; i++) {
        uint64_t mine = k->at.at[i].searched ? UINT64_MAX : freedom(k, &k->at.at[i]);
        least = mine < least ? mine : least;
    }
    for (uint32_t i = 0; i < k->at.n; i++) {
        dfl_einsum_class *c = &k->at.at[i];
        if (c->searched || freedom(k, c) != least)
            continue;
        c->filter = (dfl_way_filter){ .classes = k, .class = i, .known = known_operands(k, c) };
        c->wave = number;
        wave[n++] = i;
    }
    return n;
}

bool dfl_classes_wanted(const dfl_way_filter *f, const dfl_job *job, const dfl_way *way, dfl_cost *more)
{
    const dfl_einsum_class *c = &f->classes->at.at[f->class];

    *more = dfl_cost_zero();
    for (uint32_t known = f->known; known != 0; known &= known - 1) {
        uint32_t o = (uint32_t)__builtin_ctz(known);
        dfl_cost least = dfl_cost_none();
        bool offered = false;
        for (size_t i = 0; i < c->next[o].n; i++) {
            dfl_partner p = c->next[o].at[i];
            const dfl_cost *found = dfl_offers_find(&f->classes->at.at[p.class].offers[p.operand], job, way, o);
            offered |= found != NULL;
            if (found != NULL)
                dfl_cost_lower(&least, found);
        }
        if (!offered)
            return false;
        if (!f->classes->plain && !(c->repeated >> o & 1))
            dfl_cost_add(more, &least);
    }
    return true;
}

bool dfl_classes_loop_wanted(const dfl_way_filter *f, const dfl_job *job, uint32_t operand, uint32_t memory, uint32_t rank,
                             int64_t trips)
{
    const dfl_einsum_class *c = &f->classes->at.at[f->class];
    bool offered = !(f->known >> operand & 1);

    for (size_t i = 0; i < c->next[operand].n && !offered; i++) {
        dfl_partner p = c->next[operand].at[i];
        offered = dfl_offers_loop(&f->classes->at.at[p.class].offers[p.operand], job, operand, memory, rank, trips);
    }
    return offered;
}

/* What a row costs beyond the least of its pattern. */
static dfl_cost beyond_least(const dfl_einsum_class *c, const dfl_goal *goal, const dfl_row *row)
{
    const dfl_cost zero = dfl_cost_zero();
    dfl_cost more = dfl_cost_with(goal, &zero, row->joules, row->seconds);

    for (size_t p = 0; p < c->patterns.n; p++) {
        bool same = true;
        for (uint32_t o = 0; o < row->job->n_operands; o++)
            same &= c->patterns.at[p].memory[o] == row->way.memory[o];
        for (uint32_t i = 0; i < DFL_COST_BUSY && same; i++)
            more.at[i] = more.at[i] > c->patterns.at[p].least.at[i] ? more.at[i] - c->patterns.at[p].least.at[i] : 0;
        if (same)
            break;
    }
    return more;
}

void dfl_classes_offer(dfl_arena *arena, dfl_classes *k, const dfl_goal *goal, uint32_t class)
{
    dfl_einsum_class *c = &k->at.at[class];
    const dfl_job *job = k->jobs[c->first].at[0];

    memset(c->offers, 0, sizeof c->offers);
    for (uint32_t i = 0; i < c->n_list; i++) {
        dfl_cost more = beyond_least(c, goal, c->list[i]), behind;
        if (k->tree && !k->plain && dfl_classes_wanted(&c->filter, c->list[i]->job, &c->list[i]->way, &behind))
            dfl_cost_add(&more, &behind);
        for (uint32_t o = 0; o < job->n_operands; o++)
            if (job->operand[o].shared)
                dfl_offers_add(arena, &c->offers[o], job, &c->list[i]->way, o, &more);
    }
    c->searched = true;
}

bool dfl_classes_windows(const dfl_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        if (k->jobs[e].at[0]->windows)
            return true;
    return false;
}

const dfl_job *const *dfl_classes_chosen(dfl_arena *arena, const dfl_classes *k, const dfl_row *const *rows)
{
    const dfl_job **jobs = DFL_NEW_ARRAY(arena, const dfl_job *, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++)
        for (size_t i = 0; i < k->jobs[e].n; i++)
            if (k->jobs[e].at[i]->unit == rows[e]->job->unit)
                jobs[e] = k->jobs[e].at[i];
    return jobs;
}

dfl_join_step *dfl_classes_steps(dfl_arena *arena, const dfl_classes *k)
{
    dfl_join_step *steps = DFL_NEW_ARRAY(arena, dfl_join_step, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_einsum_class *c = &k->at.at[k->of[e]];
        steps[e] = (dfl_join_step){ .rows = c->list, .n = c->n_list, .job = k->jobs[e].at[0] };
    }
    return steps;
}

dfl_bounds *dfl_classes_bounds(dfl_arena *arena, const dfl_classes *k)
{
    dfl_bound_step *steps = DFL_NEW_ARRAY(arena, dfl_bound_step, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_einsum_class *c = &k->at.at[k->of[e]];
        steps[e] = (dfl_bound_step){ .job = k->jobs[e].at[0], .patterns = c->patterns.at, .n = (uint32_t)c->patterns.n };
    }
    return dfl_bounds_make(arena, k->m->workload, steps);
}
