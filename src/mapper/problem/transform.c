/* Problems changed, and mappings changed back. */
#include "mapper/problem/transform.h"

#include <stdlib.h>
#include <string.h>

#include "mapper/problem/einsum_problem.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_line) line_vec;

/* ---- ranks that run along with each other ---- */

static void link_ranks(uint32_t *first, uint32_t n, uint32_t a, uint32_t b)
{
    uint32_t low = first[a] < first[b] ? first[a] : first[b], high = first[a] < first[b] ? first[b] : first[a];

    for (uint32_t r = 0; r < n && low != high; r++)
        if (first[r] == high)
            first[r] = low;
}

static void link_accesses(const dfl_workload *w, uint32_t *first, const dfl_access *made, const dfl_access *read)
{
    for (uint32_t d = 0; d < made->n_dims; d++) {
        uint32_t a, b;
        if (dfl_index_is_bare(&made->index[d], &a) && dfl_index_is_bare(&read->index[d], &b) &&
            w->ranks[a].extent == w->ranks[b].extent)
            link_ranks(first, w->n_ranks, a, b);
    }
}

const uint32_t *dfl_transform_linked(dfl_arena *arena, const dfl_workload *w)
{
    uint32_t *first = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1);

    for (uint32_t r = 0; r < w->n_ranks; r++)
        first[r] = r;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_access *made = &w->einsums[e].output;
        const dfl_tensor *t = &w->tensors[made->tensor];
        for (uint32_t k = 0; k < t->n_consumers; k++) {
            const dfl_einsum *reader = &w->einsums[t->consumers[k]];
            for (uint32_t i = 0; i < reader->n_inputs; i++)
                if (reader->inputs[i].tensor == made->tensor)
                    link_accesses(w, first, made, &reader->inputs[i]);
        }
    }
    return first;
}

/* ---- the problem ---- */

static bool is_spilled(const dfl_transform *v, uint32_t tensor)
{
    for (uint32_t i = 0; i < v->n_spills; i++)
        if (v->spill[i].tensor == tensor)
            return true;
    return false;
}

/* Elements that an index reaches over ranks of these lengths, without what lies outside of the shape. */
static int64_t reach(const dfl_index *index, const dfl_rank *ranks, int64_t shape)
{
    int64_t sum = 1;

    for (uint32_t i = 0; i < index->n_terms && sum < shape; i++) {
        int64_t coef = index->terms[i].coef < 0 ? -index->terms[i].coef : index->terms[i].coef;
        int64_t steps = ranks[index->terms[i].rank].extent - 1;
        sum = coef > shape || steps > shape || coef * steps > shape - sum ? shape : sum + coef * steps;
    }
    return sum < shape ? sum : shape;
}

int64_t dfl_transform_wanted(const dfl_workload *w, const dfl_rank *ranks, uint32_t tensor, uint32_t d)
{
    const dfl_tensor *t = &w->tensors[tensor];
    int64_t most = t->n_consumers > 0 ? 0 : t->extents[d];

    for (uint32_t k = 0; k < t->n_consumers; k++) {
        const dfl_einsum *reader = &w->einsums[t->consumers[k]];
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            int64_t n = reader->inputs[i].tensor == tensor ? reach(&reader->inputs[i].index[d], ranks, t->extents[d]) : 0;
            most = n > most ? n : most;
        }
    }
    return most;
}

static void set_extent(dfl_rank *ranks, uint32_t n, const uint32_t *first, uint32_t rank, int64_t extent)
{
    for (uint32_t r = 0; r < n; r++)
        if (first[r] == first[rank])
            ranks[r].extent = extent;
}

/* Ranks as long as the tiles of the loops, and those of what is read through windows; `*slides` if there are such. */
static const dfl_rank *shorten(dfl_arena *arena, const dfl_workload *w, const dfl_transform *v, bool *slides)
{
    const uint32_t *first = dfl_transform_linked(arena, w);
    dfl_rank *ranks = DFL_NEW_ARRAY(arena, dfl_rank, (size_t)w->n_ranks + 1);

    *slides = false;
    memcpy(ranks, w->ranks, w->n_ranks * sizeof *ranks);
    for (uint32_t i = 0; i < v->n_loops; i++)
        set_extent(ranks, w->n_ranks, first, v->loop[i].rank, v->loop[i].tile);
    for (uint32_t e = w->n_einsums; e-- > 0;) {
        const dfl_access *made = &w->einsums[e].output;
        for (uint32_t d = 0; d < made->n_dims; d++) {
            uint32_t r;
            int64_t n = dfl_transform_wanted(w, ranks, made->tensor, d);
            if (!dfl_index_is_bare(&made->index[d], &r) || n >= ranks[r].extent)
                continue;
            set_extent(ranks, w->n_ranks, first, r, n);
            *slides = true;
        }
    }
    return ranks;
}

bool dfl_transform_slides(dfl_arena *arena, const dfl_workload *w, const dfl_transform *v)
{
    bool slides;

    (void)shorten(arena, w, v, &slides);
    return slides;
}

static const uint32_t *one_id(dfl_arena *arena, uint32_t id)
{
    uint32_t *ids = DFL_NEW_ARRAY(arena, uint32_t, 1);

    ids[0] = id;
    return ids;
}

/* Without one of its readers. */
static void forget_reader(dfl_arena *arena, dfl_tensor *t, uint32_t reader)
{
    uint32_t *left = DFL_NEW_ARRAY(arena, uint32_t, (size_t)t->n_consumers + 1), n = 0;

    for (uint32_t k = 0; k < t->n_consumers; k++)
        if (t->consumers[k] != reader)
            left[n++] = t->consumers[k];
    t->consumers = left;
    t->n_consumers = n;
}

/* Spill `i` has its reader read tensor number n + i, of n that there were; one that leaves the chip is an intermediate. */
static void spill(dfl_arena *arena, const dfl_transform *v, dfl_workload *w)
{
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + v->n_spills);
    dfl_einsum *einsums = DFL_NEW_ARRAY(arena, dfl_einsum, (size_t)w->n_einsums + 1);

    memcpy(tensors, w->tensors, w->n_tensors * sizeof *tensors);
    memcpy(einsums, w->einsums, w->n_einsums * sizeof *einsums);
    for (uint32_t i = 0; i < v->n_spills; i++) {
        dfl_tensor *t = &tensors[v->spill[i].tensor], *copy = &tensors[w->n_tensors + i];
        dfl_access *inputs;
        dfl_einsum *e;

        *copy = *t;
        copy->n_producers = copy->n_consumers = 0;
        if (v->spill[i].reader == DFL_NONE) {
            t->role = DFL_ROLE_INTERMEDIATE;
            continue;
        }
        e = &einsums[v->spill[i].reader];
        inputs = DFL_NEW_ARRAY(arena, dfl_access, (size_t)e->n_inputs + 1);
        for (uint32_t k = 0; k < e->n_inputs; k++) {
            inputs[k] = e->inputs[k];
            if (inputs[k].tensor == v->spill[i].tensor)
                inputs[k].tensor = w->n_tensors + i;
        }
        e->inputs = inputs;
        copy->consumers = one_id(arena, v->spill[i].reader);
        copy->n_consumers = 1;
        forget_reader(arena, t, v->spill[i].reader);
    }
    w->tensors = tensors;
    w->einsums = einsums;
    w->n_tensors += v->n_spills;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The ids under `number`, ascending. */
static const uint32_t *renumber(dfl_arena *arena, const uint32_t *ids, uint32_t n, const uint32_t *number)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = number[ids[i]];
    qsort(out, n, sizeof *out, by_number);
    return out;
}

static void reorder(dfl_arena *arena, const dfl_transform *v, dfl_workload *w)
{
    dfl_einsum *einsums = DFL_NEW_ARRAY(arena, dfl_einsum, (size_t)w->n_einsums + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + 1);
    uint32_t *place = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_einsums + 1);

    for (uint32_t i = 0; i < w->n_einsums; i++) {
        place[v->order[i]] = i;
        einsums[i] = w->einsums[v->order[i]];
    }
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        tensors[t] = w->tensors[t];
        tensors[t].producers = renumber(arena, tensors[t].producers, tensors[t].n_producers, place);
        tensors[t].consumers = renumber(arena, tensors[t].consumers, tensors[t].n_consumers, place);
    }
    w->einsums = einsums;
    w->tensors = tensors;
}

static const dfl_system *narrow(dfl_arena *arena, const dfl_system *given, const dfl_transform *v)
{
    dfl_system *s = DFL_NEW(arena, dfl_system);
    dfl_axis *axes = DFL_NEW_ARRAY(arena, dfl_axis, (size_t)given->n_axes + 1);

    *s = *given;
    memcpy(axes, given->axes, given->n_axes * sizeof *axes);
    axes[v->axis].size = v->narrow;
    s->axes = axes;
    return s;
}

const dfl_mapping *dfl_transform_apply(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v)
{
    dfl_mapping *out = dfl_mapping_copy(arena, given);
    dfl_workload *w = DFL_NEW(arena, dfl_workload);
    uint32_t n = 0;
    bool slides;

    *w = *given->workload;
    out->workload = w;
    if (v->n_loops > 0)
        w->ranks = shorten(arena, given->workload, v, &slides);
    if (v->n_spills > 0)
        spill(arena, v, w);
    if (v->order != NULL)
        reorder(arena, v, w);
    if (v->narrow > 0)
        out->system = narrow(arena, given->system, v);
    for (uint32_t i = 0; i < given->root->n_lines; i++)
        if (!is_spilled(v, given->root->lines[i].tensor)) /* where its home is says the answer */
            out->root->lines[n++] = given->root->lines[i];
    out->root->n_lines = n;
    dfl_body_open_end(arena, out->root);
    return out;
}

static bool is_exchanged(const dfl_workload *w, uint32_t tensor)
{
    return w->tensors[tensor].n_producers > 0 && w->tensors[tensor].n_consumers > 0;
}

const dfl_mapping *dfl_transform_loosest(dfl_arena *arena, const dfl_mapping *given)
{
    dfl_mapping *out = dfl_mapping_copy(arena, given);
    dfl_workload *w = DFL_NEW(arena, dfl_workload);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)given->workload->n_tensors + 1);
    uint32_t n = 0;

    *w = *given->workload;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        tensors[t] = w->tensors[t];
        if (is_exchanged(w, t))
            tensors[t].role = DFL_ROLE_INTERMEDIATE;
    }
    w->tensors = tensors;
    for (uint32_t i = 0; i < given->root->n_lines; i++)
        if (!is_exchanged(w, given->root->lines[i].tensor))
            out->root->lines[n++] = given->root->lines[i];
    out->root->n_lines = n;
    dfl_body_open_end(arena, out->root);
    out->workload = w;
    return out;
}

/* ---- the answer ---- */

bool dfl_lines_keep(const dfl_line *lines, size_t n, uint32_t tensor, uint32_t memory)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].kind == DFL_LINE_KEEP && lines[i].tensor == tensor && (memory == DFL_NONE || lines[i].memory == memory))
            return true;
    return false;
}

/* Whether the body of `lines`, or one above it, keeps the tensor there. */
static bool is_kept_above(const dfl_body *b, const line_vec *lines, uint32_t tensor, uint32_t memory)
{
    if (dfl_lines_keep(lines->at, lines->n, tensor, memory))
        return true;
    for (b = b->parent; b != NULL; b = b->parent)
        if (dfl_lines_keep(b->lines, b->n_lines, tensor, memory))
            return true;
    return false;
}

/* Whether some tensor that is not exchanged has its home in the memory. */
static bool has_homes(const dfl_workload *w, const dfl_line *lines, size_t n, uint32_t memory)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].memory == memory && !is_exchanged(w, lines[i].tensor) &&
            !dfl_lines_keep(lines, i, lines[i].tensor, DFL_NONE))
            return true;
    return false;
}

bool dfl_transform_goes_along(const dfl_workload *w, const uint32_t *linked, uint32_t rank, uint32_t einsum)
{
    for (uint32_t k = 0; k < w->einsums[einsum].n_ranks; k++)
        if (linked[w->einsums[einsum].ranks[k]] == linked[rank])
            return true;
    return false;
}

/* Tensors that are to be computed again: exchanged, not kept by the first `n` lines, made by what does not go along. */
static void add_recompute(dfl_arena *arena, const dfl_workload *w, const dfl_transform *v, const dfl_line *lines, size_t n,
                          dfl_body *root)
{
    const uint32_t *first = dfl_transform_linked(arena, w);
    uint32_t *again = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1), n_again = 0;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        bool along = true;
        for (uint32_t i = 0; i < v->n_loops && is_exchanged(w, t); i++)
            along &= dfl_transform_goes_along(w, first, v->loop[i].rank, w->tensors[t].producers[0]);
        if (!along && !dfl_lines_keep(lines, n, t, DFL_NONE))
            again[n_again++] = t;
    }
    root->recompute = again;
    root->n_recompute = n_again;
}

/* Whether keep `i` of the first lines of the root is a home that stays above the loops around everything: it is written, or
   not of a tensor that is exchanged, or in a memory where such tensors have their homes. */
static bool stays_above(const dfl_mapping *given, const dfl_body *root, size_t keeps, size_t i)
{
    const dfl_workload *w = given->workload;
    const dfl_line *l = &root->lines[i];

    return i < given->root->n_lines ||
           (!dfl_lines_keep(root->lines, i, l->tensor, DFL_NONE) &&
            (!is_exchanged(w, l->tensor) || has_homes(w, root->lines, keeps, l->memory)));
}

/* The loops around everything stand behind the homes, which are the first keeps of the root. */
static void add_loops(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v, dfl_body *root)
{
    line_vec lines = { .n = 0 };
    size_t keeps = 0;

    while (keeps < root->n_lines && root->lines[keeps].kind == DFL_LINE_KEEP)
        keeps++;
    for (size_t i = 0; i < keeps; i++)
        if (stays_above(given, root, keeps, i))
            DFL_PUSH(arena, &lines, root->lines[i]);
    if (v->again)
        add_recompute(arena, given->workload, v, lines.at, lines.n, root);
    for (uint32_t i = 0; i < v->n_loops; i++)
        DFL_PUSH(arena, &lines, ((dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = given->hole_span,
                                             .amount_span = given->hole_span, .rank = v->loop[i].rank,
                                             .by = DFL_BY_SIZE, .amount = v->loop[i].tile }));
    for (size_t i = 0; i < root->n_lines; i++)
        if (i >= keeps || !stays_above(given, root, keeps, i))
            DFL_PUSH(arena, &lines, root->lines[i]);
    root->lines = lines.at;
    root->n_lines = (uint32_t)lines.n;
}

/* Lines of a body with the tensors that are given, each once. */
static void rename_lines(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v, dfl_body *b, uint32_t done)
{
    line_vec lines = { .n = 0 };
    uint32_t n = given->workload->n_tensors;

    if (b->parent == NULL)
        for (uint32_t i = 0; i < given->root->n_lines; i++)
            DFL_PUSH(arena, &lines, given->root->lines[i]);
    for (uint32_t i = 0; i < v->n_spills && b->parent == NULL; i++)
        if (v->spill[i].reader == DFL_NONE && !dfl_lines_keep(lines.at, lines.n, v->spill[i].tensor, DFL_NONE))
            DFL_PUSH(arena, &lines, ((dfl_line){ .kind = DFL_LINE_KEEP, .span = given->hole_span,
                                                 .amount_span = given->hole_span, .tensor = v->spill[i].tensor,
                                                 .memory = dfl_space_outermost(given, v->spill[i].tensor) }));
    for (uint32_t i = done; i < b->n_lines; i++) {
        dfl_line line = b->lines[i];
        if (line.kind == DFL_LINE_KEEP && line.tensor >= n)
            line.tensor = v->spill[line.tensor - n].tensor;
        if (line.kind != DFL_LINE_KEEP || !is_kept_above(b, &lines, line.tensor, line.memory))
            DFL_PUSH(arena, &lines, line);
    }
    b->lines = lines.at;
    b->n_lines = (uint32_t)lines.n;
}

dfl_mapping *dfl_transform_undo(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v, const dfl_mapping *asked,
                                const dfl_mapping *found)
{
    dfl_mapping *out = dfl_mapping_copy(arena, found);

    out->workload = given->workload;
    out->system = given->system;
    for (uint32_t b = 0; b < out->n_bodies; b++) {
        dfl_body *body = out->bodies[b];
        if (v->order != NULL)
            body->einsums = renumber(arena, body->einsums, body->n_einsums, v->order);
        if (v->n_spills > 0)
            rename_lines(arena, given, v, body, b == 0 ? asked->root->n_lines : 0);
    }
    if (v->n_loops > 0)
        add_loops(arena, given, v, out->root);
    return out;
}
