/*
 * The order in which einsums run: that of the text, except that nothing runs before what it reads is complete. An
 * einsum waits for all producers of its inputs and for earlier producers of its own output; a `state` tensor is updated
 * in place, so whatever touches it keeps the order of the text.
 */
#include "sema/workload/build.h"

typedef struct {
    uint32_t *first;  /* successors of einsum e: after[first[e]] .. after[first[e + 1]] */
    uint32_t *after;
    uint32_t *waits;  /* predecessors that are still to come */
} graph;

typedef struct {
    dfl_build *b;
    uint32_t *touch_first, *touch; /* by tensor: einsums that touch it, in text order; bit 31 set when they write it */
    uint32_t *from, *to;           /* edges */
    size_t n_edges, cap;
} collector;

static const uint32_t writes_bit = 1u << 31;

static void edge(collector *c, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    if (c->n_edges == c->cap) {
        size_t cap = c->cap;
        void *at = c->from;

        dfl_vec_grow(c->b->arena, &at, c->n_edges, &cap, sizeof(uint32_t), _Alignof(uint32_t));
        c->from = at;
        at = c->to;
        cap = c->cap;
        dfl_vec_grow(c->b->arena, &at, c->n_edges, &cap, sizeof(uint32_t), _Alignof(uint32_t));
        c->to = at;
        c->cap = cap;
    }
    c->from[c->n_edges] = from;
    c->to[c->n_edges++] = to;
}

static void list_touches(collector *c)
{
    dfl_build *b = c->b;
    uint32_t *next = DFL_NEW_ARRAY(b->arena, uint32_t, b->tensors.n + 2);

    c->touch_first = DFL_NEW_ARRAY(b->arena, uint32_t, b->tensors.n + 2);
    for (size_t e = 0; e < b->einsums.n; e++) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        c->touch_first[x->output.tensor + 1]++;
        for (uint32_t i = 0; i < x->n_inputs; i++)
            c->touch_first[x->inputs[i].tensor + 1]++;
    }
    for (size_t t = 0; t < b->tensors.n; t++)
        next[t + 1] = c->touch_first[t + 1] += c->touch_first[t];
    c->touch = DFL_NEW_ARRAY(b->arena, uint32_t, next[b->tensors.n] + 1);
    for (uint32_t e = 0; e < b->einsums.n; e++) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        for (uint32_t i = 0; i < x->n_inputs; i++)
            c->touch[next[x->inputs[i].tensor]++] = e;
        c->touch[next[x->output.tensor]++] = e | writes_bit;
    }
}

/* A chain through what touches a state tensor; all writers in a chain, and the last writer before every reader. */
static void order_tensor(collector *c, uint32_t t)
{
    const uint32_t *at = c->touch + c->touch_first[t], *end = c->touch + c->touch_first[t + 1];
    bool state = c->b->tensors.at[t].has_role && c->b->tensors.at[t].role == DFL_ROLE_STATE;
    uint32_t last = DFL_NONE;

    for (const uint32_t *p = at; p < end; p++) {
        if (!state && !(*p & writes_bit))
            continue;
        if (last != DFL_NONE)
            edge(c, last, *p & ~writes_bit);
        last = *p & ~writes_bit;
    }
    for (const uint32_t *p = at; p < end && !state && last != DFL_NONE; p++)
        if (!(*p & writes_bit))
            edge(c, last, *p);
}

static graph build_graph(dfl_build *b)
{
    collector c = { .b = b };
    size_t n = b->einsums.n;
    graph g = { .first = DFL_NEW_ARRAY(b->arena, uint32_t, n + 2), .waits = DFL_NEW_ARRAY(b->arena, uint32_t, n + 1) };
    uint32_t *next = DFL_NEW_ARRAY(b->arena, uint32_t, n + 2);

    list_touches(&c);
    for (uint32_t t = 0; t < b->tensors.n; t++)
        order_tensor(&c, t);
    for (size_t i = 0; i < c.n_edges; i++) {
        g.first[c.from[i] + 1]++;
        g.waits[c.to[i]]++;
    }
    for (size_t e = 0; e < n; e++)
        next[e + 1] = g.first[e + 1] += g.first[e];
    g.after = DFL_NEW_ARRAY(b->arena, uint32_t, c.n_edges + 1);
    for (size_t i = 0; i < c.n_edges; i++)
        g.after[next[c.from[i]]++] = c.to[i];
    return g;
}

/* A heap of einsums, smallest first. */
typedef struct { uint32_t *at; size_t n; } heap;

static void heap_push(heap *h, uint32_t e)
{
    size_t i = h->n++;

    for (; i > 0 && h->at[(i - 1) / 2] > e; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = e;
}

static uint32_t heap_pop(heap *h)
{
    uint32_t top = h->at[0], last = h->at[--h->n];
    size_t i = 0;

    while (2 * i + 1 < h->n) {
        size_t child = 2 * i + 1;

        if (child + 1 < h->n && h->at[child + 1] < h->at[child])
            child++;
        if (h->at[child] >= last)
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

/* An einsum that reads its own result computes each element from another of the same einsum. */
static bool reads_itself(dfl_build *b)
{
    bool found = false;

    for (size_t i = 0; i < b->einsums.n; i++) {
        const dfl_einsum *e = &b->einsums.at[i].e;
        const dfl_build_tensor *t = &b->tensors.at[e->output.tensor];

        if (!dfl_einsum_reads(e, e->output.tensor) || (t->has_role && t->role == DFL_ROLE_STATE))
            continue;
        dfl_diag *d = dfl_report(b->sink, DFL_TENSOR_CYCLE, e->span, "`%s` is computed from itself",
                                 dfl_sym_text(b->names, t->name));
        dfl_diag_help(b->sink, d, "give the result another name, or declare it `state` if it is updated in place");
        b->broken = found = true;
    }
    return found;
}

/* Every einsum left over waits for another one left over: walking back must meet one twice. */
static void report_cycle(dfl_build *b, const graph *g)
{
    size_t n = b->einsums.n;
    uint32_t *before = DFL_NEW_ARRAY(b->arena, uint32_t, n), *seen = DFL_NEW_ARRAY(b->arena, uint32_t, n);
    uint32_t e = 0, step = 0;
    dfl_diag *d;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = g->first[i]; g->waits[i] > 0 && k < g->first[i + 1]; k++)
            before[g->after[k]] = i;
    while (g->waits[e] == 0)
        e++;
    while (seen[e] == 0) {
        seen[e] = ++step;
        e = before[e];
    }
    d = dfl_report(b->sink, DFL_TENSOR_CYCLE, b->einsums.at[e].e.span, "`%s` depends on itself",
                   dfl_sym_text(b->names, b->einsums.at[e].e.name));
    for (uint32_t i = before[e], shown = 0; i != e && shown < 8; i = before[i], shown++)
        dfl_diag_label(b->sink, d, b->einsums.at[i].e.span, "through `%s`",
                       dfl_sym_text(b->names, b->einsums.at[i].e.name));
    b->broken = true;
}

uint32_t *dfl_build_order(dfl_build *b)
{
    size_t n = b->einsums.n, done = 0;
    uint32_t *order = DFL_NEW_ARRAY(b->arena, uint32_t, n + 1);
    heap ready = { .at = DFL_NEW_ARRAY(b->arena, uint32_t, n + 1) };
    graph g;

    if (reads_itself(b))
        return NULL;
    g = build_graph(b);
    for (uint32_t e = 0; e < n; e++)
        if (g.waits[e] == 0)
            heap_push(&ready, e);
    while (ready.n > 0) {
        uint32_t e = heap_pop(&ready);

        order[done++] = e;
        for (uint32_t k = g.first[e]; k < g.first[e + 1]; k++)
            if (--g.waits[g.after[k]] == 0)
                heap_push(&ready, g.after[k]);
    }
    if (done < n) {
        report_cycle(b, &g);
        return NULL;
    }
    return order;
}
