/* Jobs, classes, and what classes offer each other. */
#include "mapper/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The operand of another class that an operand is exchanged with. */
typedef struct { const dfl_einsum_class *by; uint32_t operand; } partner;

/* Classes next to those of a class that have been searched, by operand; none where one has not. */
struct dfl_way_filter {
    DFL_VEC(partner) next[DFL_JOB_OPERANDS];
};

typedef struct {
    dfl_arena *arena, *scratch;
    dfl_classes *out;
    const dfl_job_limits *limits;
    dfl_halt *halt;
} maker;

static bool make_jobs(maker *k, dfl_sink *sink, const dfl_intern *names)
{
    dfl_classes *out = k->out;
    const dfl_system *s = out->m->system;
    bool possible = true;

    out->jobs = DFL_NEW_ARRAY(k->arena, dfl_jobs, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n; e++) {
        bool reported = false;
        for (uint32_t u = 0; u < s->n_computes; u++) {
            dfl_job *job = DFL_NEW(k->arena, dfl_job);
            bool fine = true;
            if (dfl_job_make(sink, names, out->m, e, u, k->limits, job, &fine))
                DFL_PUSH(k->arena, &out->jobs[e], job);
            reported |= !fine;
        }
        if (out->jobs[e].n == 0 && !reported) {
            const dfl_einsum *einsum = &out->m->workload->einsums[e];
            dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, einsum->span, "no unit can run einsum `%s`",
                                     dfl_sym_text(names, einsum->name));
            dfl_diag_label(sink, d, out->m->system->span, "on this system");
            dfl_diag_help(sink, d, "give a unit a rate for it, or extend its `ops`");
        }
        possible &= out->jobs[e].n > 0 && !reported;
    }
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

static uint32_t pattern_of(maker *k, dfl_einsum_class *c, const dfl_job *job, const dfl_tiling_template *t)
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
    dfl_candidate found = { .job = x->job, .form = copy };

    *copy = *t;
    found.pattern = pattern_of(x->k, x->c, x->job, t);
    found.at = (uint32_t)x->c->candidates.n;
    dfl_tile_bound(x->k->scratch, x->job, copy, &found.joules, &found.seconds);
    DFL_PUSH(x->k->arena, &x->c->candidates, found);
    return !dfl_halted(x->k->halt);
}

static int by_joules(const void *a, const void *b)
{
    const dfl_candidate *x = a, *y = b;

    if (x->joules != y->joules)
        return x->joules < y->joules ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void make_class(maker *k, uint32_t e)
{
    dfl_einsum_class fresh = { .first = e };

    for (size_t i = 0; i < k->out->jobs[e].n; i++) {
        collector x = { .k = k, .c = &fresh, .job = k->out->jobs[e].at[i] };
        dfl_templates_each(x.job, collect, &x);
    }
    qsort(fresh.candidates.at, fresh.candidates.n, sizeof *fresh.candidates.at, by_joules);
    DFL_PUSH(k->arena, &k->out->at, fresh);
}

bool dfl_classes_make(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                      const dfl_job_limits *limits, dfl_halt *halt, dfl_classes *out)
{
    maker k = { .arena = arena, .scratch = scratch, .out = out, .limits = limits, .halt = halt };

    *out = (dfl_classes){ .m = m, .n = m->workload->n_einsums };
    if (!make_jobs(&k, sink, names))
        return false;
    out->of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n && !dfl_halted(halt); e++) {
        uint32_t c = 0;
        while (c < out->at.n && !same_class(out, out->at.at[c].first, e))
            c++;
        if (c == out->at.n)
            make_class(&k, e);
        out->of[e] = c;
    }
    out->order = DFL_NEW_ARRAY(arena, uint32_t, out->at.n + 1);
    for (uint32_t c = 0; c < out->at.n; c++) {
        uint32_t at = c;
        for (; at > 0 && out->at.at[out->order[at - 1]].candidates.n < out->at.at[c].candidates.n; at--)
            out->order[at] = out->order[at - 1];
        out->order[at] = c;
    }
    return halt->why == DFL_STOP_NONE;
}

bool dfl_classes_wanted(const dfl_way_filter *f, const dfl_job *job, const dfl_way *way)
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
static bool add_partner(dfl_arena *arena, const dfl_classes *k, dfl_way_filter *f, uint32_t e, uint32_t o)
{
    const dfl_job_operand *op = &k->jobs[e].at[0]->operand[o];
    const dfl_tensor *t = &k->m->workload->tensors[op->tensor];
    uint32_t next = op->output ? t->consumers[0] : t->producers[0];
    partner p = { .by = &k->at.at[k->of[next]] };

    while (k->jobs[next].at[0]->operand[p.operand].tensor != op->tensor)
        p.operand++;
    for (size_t i = 0; i < f->next[o].n; i++)
        if (f->next[o].at[i].by == p.by && f->next[o].at[i].operand == p.operand)
            return true;
    DFL_PUSH(arena, &f->next[o], p);
    return p.by->searched;
}

dfl_way_filter *dfl_classes_filter(dfl_arena *arena, const dfl_classes *k, uint32_t c)
{
    dfl_way_filter *f = DFL_NEW(arena, dfl_way_filter);
    const dfl_job *job = k->jobs[k->at.at[c].first].at[0];

    for (uint32_t o = 0; o < job->n_operands; o++) {
        bool all = job->operand[o].shared;
        for (uint32_t e = 0; e < k->n && all; e++)
            if (k->of[e] == c)
                all = add_partner(arena, k, f, e, o);
        if (!all)
            f->next[o].n = 0;
    }
    return f;
}

void dfl_classes_offer(dfl_arena *arena, dfl_classes *k, uint32_t class)
{
    dfl_einsum_class *c = &k->at.at[class];
    const dfl_job *job = k->jobs[c->first].at[0];

    memset(c->offers, 0, sizeof c->offers);
    for (uint32_t o = 0; o < job->n_operands; o++)
        for (uint32_t i = 0; i < c->n_list && job->operand[o].shared; i++)
            dfl_offers_add(arena, &c->offers[o], job, &c->list[i]->way, o);
    c->searched = true;
}
