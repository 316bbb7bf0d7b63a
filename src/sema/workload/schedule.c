/*
 * The order of execution of einsums: a topological order that always takes the ready einsum that is first in the text.
 * An einsum depends on all producers of its inputs and on the earlier producers of its result. A `state` tensor is
 * updated in place, so its readers and writers keep the order of the text.
 */
#include "sema/workload/workload_internal.h"

#include "support/limits.h"

/* The dependencies of einsums. */
typedef struct {
    uint32_t *first;  /* [einsum]: its first entry in `after`; the entries end where those of the next einsum begin */
    uint32_t *after;  /* successors of the einsums */
    uint32_t *waits;  /* [einsum]: number of predecessors that have not run */
} dependency_graph;

/* The edges of the dependency graph under construction. */
typedef struct {
    dfl_workload_draft *draft;
    uint32_t *touch_first;  /* [tensor]: index of the tensor's first entry in `touch` */
    uint32_t *touch;        /* einsums that access each tensor, in the order of the text; bit 31 = the einsum writes the
                               tensor */
    uint32_t *from, *to;    /* ends of each edge */
    size_t n_edges, cap;
} edge_list;

static const uint32_t writes_bit = 1u << 31;

/* Adds an edge to the graph. */
static void add_edge(edge_list *edges, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    if (edges->n_edges == edges->cap) {
        size_t cap = edges->cap;
        void *at = edges->from;

        dfl_vec_grow(edges->draft->arena, &at, edges->n_edges, &cap, sizeof(uint32_t), _Alignof(uint32_t));
        edges->from = at;
        at = edges->to;
        cap = edges->cap;
        dfl_vec_grow(edges->draft->arena, &at, edges->n_edges, &cap, sizeof(uint32_t), _Alignof(uint32_t));
        edges->to = at;
        edges->cap = cap;
    }
    edges->from[edges->n_edges] = from;
    edges->to[edges->n_edges++] = to;
}

/* Lists the einsums that access each tensor. */
static void list_touches(edge_list *edges)
{
    dfl_workload_draft *draft = edges->draft;
    uint32_t *next = DFL_NEW_ARRAY(draft->arena, uint32_t, draft->tensors.n + 2);

    edges->touch_first = DFL_NEW_ARRAY(draft->arena, uint32_t, draft->tensors.n + 2);
    for (size_t e = 0; e < draft->einsums.n; e++) {
        const dfl_einsum *einsum = &draft->einsums.at[e].ir;

        edges->touch_first[einsum->output.tensor + 1]++;
        for (uint32_t i = 0; i < einsum->n_inputs; i++)
            edges->touch_first[einsum->inputs[i].tensor + 1]++;
    }
    for (size_t t = 0; t < draft->tensors.n; t++)
        next[t + 1] = edges->touch_first[t + 1] += edges->touch_first[t];
    edges->touch = DFL_NEW_ARRAY(draft->arena, uint32_t, next[draft->tensors.n] + 1);
    for (uint32_t e = 0; e < draft->einsums.n; e++) {
        const dfl_einsum *einsum = &draft->einsums.at[e].ir;

        for (uint32_t i = 0; i < einsum->n_inputs; i++)
            edges->touch[next[einsum->inputs[i].tensor]++] = e;
        edges->touch[next[einsum->output.tensor]++] = e | writes_bit;
    }
}

/* Adds the edges that a tensor causes. For a state, the edges are a chain of all accesses. For other tensors, they are
   a chain of all writers, and edges from the last writer to all readers. */
static void add_tensor_edges(edge_list *edges, uint32_t t)
{
    const uint32_t *at = edges->touch + edges->touch_first[t], *end = edges->touch + edges->touch_first[t + 1];
    bool state = edges->draft->tensors.at[t].has_role && edges->draft->tensors.at[t].role == DFL_ROLE_STATE;
    uint32_t last = DFL_NONE;

    for (const uint32_t *p = at; p < end; p++) {
        if (!state && !(*p & writes_bit))
            continue;
        if (last != DFL_NONE)
            add_edge(edges, last, *p & ~writes_bit);
        last = *p & ~writes_bit;
    }
    for (const uint32_t *p = at; p < end && !state && last != DFL_NONE; p++)
        if (!(*p & writes_bit))
            add_edge(edges, last, *p);
}

/* Builds the dependencies of all einsums. */
static dependency_graph build_graph(dfl_workload_draft *draft)
{
    edge_list edges = { .draft = draft };
    size_t n = draft->einsums.n;
    dependency_graph graph = { .first = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 2),
                               .waits = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 1) };
    uint32_t *next = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 2);

    list_touches(&edges);
    for (uint32_t t = 0; t < draft->tensors.n; t++)
        add_tensor_edges(&edges, t);
    for (size_t i = 0; i < edges.n_edges; i++) {
        graph.first[edges.from[i] + 1]++;
        graph.waits[edges.to[i]]++;
    }
    for (size_t e = 0; e < n; e++)
        next[e + 1] = graph.first[e + 1] += graph.first[e];
    graph.after = DFL_NEW_ARRAY(draft->arena, uint32_t, edges.n_edges + 1);
    for (size_t i = 0; i < edges.n_edges; i++)
        graph.after[next[edges.from[i]]++] = edges.to[i];
    return graph;
}

/* A binary heap of einsums, with the smallest index on top. */
typedef struct { uint32_t *at; size_t n; } einsum_heap;

/* Adds an einsum to the heap. */
static void heap_push(einsum_heap *heap, uint32_t e)
{
    size_t i = heap->n++;

    for (; i > 0 && heap->at[(i - 1) / 2] > e; i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = e;
}

/* Removes the smallest index from the heap. */
static uint32_t heap_pop(einsum_heap *heap)
{
    uint32_t top = heap->at[0], last = heap->at[--heap->n];
    size_t i = 0;

    while (2 * i + 1 < heap->n) {
        size_t child = 2 * i + 1;

        if (child + 1 < heap->n && heap->at[child + 1] < heap->at[child])
            child++;
        if (heap->at[child] >= last)
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    heap->at[i] = last;
    return top;
}

/* Reports every einsum that reads its own result, unless the result is a state. */
static bool report_self_reads(dfl_workload_draft *draft)
{
    bool found = false;

    for (size_t i = 0; i < draft->einsums.n; i++) {
        const dfl_einsum *einsum = &draft->einsums.at[i].ir;
        const dfl_draft_tensor *tensor = &draft->tensors.at[einsum->output.tensor];

        if (!dfl_einsum_reads(einsum, einsum->output.tensor) || (tensor->has_role && tensor->role == DFL_ROLE_STATE))
            continue;
        dfl_diag *d = dfl_report(draft->sink, DFL_TENSOR_CYCLE, einsum->span, "`%s` is computed from itself",
                                 dfl_sym_text(draft->names, tensor->name));
        dfl_diag_help(draft->sink, d, "give the result another name, or declare it `state` if it is updated in place");
        draft->broken = found = true;
    }
    return found;
}

/* The name of the result of an einsum. */
static const char *result_name(const dfl_workload_draft *draft, uint32_t e)
{
    return dfl_sym_text(draft->names, draft->tensors.at[draft->einsums.at[e].ir.output.tensor].name);
}

/* Reports a cycle of dependencies. Every remaining einsum has a remaining predecessor, so a walk along predecessors
   visits some einsum twice. */
static void report_cycle(dfl_workload_draft *draft, const dependency_graph *graph)
{
    size_t n = draft->einsums.n;
    uint32_t *before = DFL_NEW_ARRAY(draft->arena, uint32_t, n), *seen = DFL_NEW_ARRAY(draft->arena, uint32_t, n);
    uint32_t e = 0, step = 0;
    dfl_diag *d;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = graph->first[i]; graph->waits[i] > 0 && k < graph->first[i + 1]; k++)
            before[graph->after[k]] = i;
    while (graph->waits[e] == 0)
        e++;
    while (seen[e] == 0) {
        seen[e] = ++step;
        e = before[e];
    }
    d = dfl_report(draft->sink, DFL_TENSOR_CYCLE, draft->einsums.at[e].ir.span, "`%s` depends on itself",
                   result_name(draft, e));
    for (uint32_t i = before[e], shown = 0; i != e && shown < DFL_SEMA_SHOWN_CYCLE; i = before[i], shown++)
        dfl_diag_label(draft->sink, d, draft->einsums.at[i].ir.span, "through `%s`", result_name(draft, i));
    dfl_diag_help(draft->sink, d, "compute one of them from something else, or declare it `state` if it is updated in place");
    draft->broken = true;
}

uint32_t *dfl_workload_schedule(dfl_workload_draft *draft)
{
    size_t n = draft->einsums.n, done = 0;
    uint32_t *order = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 1);
    einsum_heap ready = { .at = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 1) };
    dependency_graph graph;

    if (report_self_reads(draft))
        return NULL;
    graph = build_graph(draft);
    for (uint32_t e = 0; e < n; e++)
        if (graph.waits[e] == 0)
            heap_push(&ready, e);
    while (ready.n > 0) {
        uint32_t e = heap_pop(&ready);

        order[done++] = e;
        for (uint32_t k = graph.first[e]; k < graph.first[e + 1]; k++)
            if (--graph.waits[graph.after[k]] == 0)
                heap_push(&ready, graph.after[k]);
    }
    if (done < n) {
        report_cycle(draft, &graph);
        return NULL;
    }
    return order;
}
