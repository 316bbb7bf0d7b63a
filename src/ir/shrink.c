#include "ir/shrink.h"

static int64_t halved(int64_t amount, unsigned times)
{
    while (times-- > 0 && amount > 1)
        amount = amount / 2 + amount % 2;
    return amount;
}

/* ---- rank classes ---- */

static uint32_t stands_for(const uint32_t *class_of, uint32_t rank)
{
    while (class_of[rank] != rank)
        rank = class_of[rank];
    return rank;
}

/* Whether a loop over one rank of dimension `d` reaches all other ranks in this dimension: the tensor is produced, and
   every access indexes the dimension bare. */
static bool reached_together(const dfl_workload *w, uint32_t tensor, uint32_t d)
{
    bool bare = w->tensors[tensor].n_producers > 0;
    uint32_t rank;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            const dfl_access *a = i < einsum->n_inputs ? &einsum->inputs[i] : &einsum->output;

            bare &= a->tensor != tensor || d >= a->n_dims || dfl_index_is_bare(&a->index[d], &rank);
        }
    }
    return bare;
}

/* Joins the classes of all ranks that index dimension `d` of the tensor bare. */
static void join_dimension(const dfl_workload *w, uint32_t tensor, uint32_t d, uint32_t *class_of)
{
    uint32_t first = DFL_NONE;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            const dfl_access *a = i < einsum->n_inputs ? &einsum->inputs[i] : &einsum->output;
            uint32_t rank;

            if (a->tensor != tensor || d >= a->n_dims || !dfl_index_is_bare(&a->index[d], &rank))
                continue;
            rank = stands_for(class_of, rank);
            if (first == DFL_NONE)
                first = rank;
            else if (rank < first)
                first = class_of[first] = rank;
            else
                class_of[rank] = first;
        }
    }
}

static void join_ranks(const dfl_workload *w, bool everywhere, uint32_t *class_of)
{
    for (uint32_t r = 0; r < w->n_ranks; r++)
        class_of[r] = r;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        for (uint32_t d = 0; d < w->tensors[t].n_dims; d++)
            if (!everywhere || reached_together(w, t, d))
                join_dimension(w, t, d, class_of);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        class_of[r] = stands_for(class_of, r);
}

void dfl_rank_classes(const dfl_workload *w, uint32_t *class_of) { join_ranks(w, false, class_of); }

int64_t dfl_mapping_largest_tile(const dfl_mapping *m, const uint32_t *class_of, uint32_t c, unsigned halvings)
{
    int64_t largest = 1;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            bool sized = line->kind != DFL_LINE_KEEP && line->by == DFL_BY_SIZE && class_of[line->rank] == c;

            if (sized && halved(line->amount, halvings) > largest)
                largest = halved(line->amount, halvings);
        }
    return largest;
}

/* ---- the workload ---- */

int64_t dfl_index_reach(const dfl_workload *w, const dfl_index *index, const int64_t *extents)
{
    int64_t most = index->offset;

    for (uint32_t i = 0; i < index->n_terms; i++) {
        uint32_t r = index->terms[i].rank;
        int64_t extent = extents ? extents[r] : w->ranks[r].extent;

        if (index->terms[i].coef > 0)
            most += index->terms[i].coef * (extent - 1);
    }
    return most;
}

int64_t dfl_shrink_extent(const dfl_workload *w, uint32_t tensor, uint32_t d, const int64_t *extents)
{
    int64_t before = INT64_MIN, after = INT64_MIN, extent = w->tensors[tensor].extents[d];

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            const dfl_access *a = i < einsum->n_inputs ? &einsum->inputs[i] : &einsum->output;

            if (a->tensor != tensor || d >= a->n_dims)
                continue;
            if (dfl_index_reach(w, &a->index[d], NULL) > before)
                before = dfl_index_reach(w, &a->index[d], NULL);
            if (dfl_index_reach(w, &a->index[d], extents) > after)
                after = dfl_index_reach(w, &a->index[d], extents);
        }
    }
    if (before == INT64_MIN)
        return extent;
    extent -= before - after;
    return extent > 0 ? extent : 1;
}

/* The dimension of the iterations of a tensor that the body of a repeat produces; DFL_NONE for other tensors. */
static uint32_t iterations_of(const dfl_workload *w, uint32_t tensor, uint32_t repeat)
{
    for (uint32_t p = 0; p < w->tensors[tensor].n_producers; p++) {
        const dfl_access *out = &w->einsums[w->tensors[tensor].producers[p]].output;
        uint32_t rank;

        for (uint32_t d = 0; d < out->n_dims; d++)
            if (dfl_index_is_bare(&out->index[d], &rank) && rank == repeat)
                return d;
    }
    return DFL_NONE;
}

/* Moves reads of the last iteration of a repeat that carries a tensor to the last iteration of the smaller repeat. */
static void shrink_reads(dfl_arena *arena, dfl_workload *small, const int64_t *extents)
{
    dfl_einsum *einsums = DFL_NEW_ARRAY(arena, dfl_einsum, (size_t)small->n_einsums + 1);

    for (uint32_t e = 0; e < small->n_einsums; e++) {
        dfl_access *inputs = DFL_NEW_ARRAY(arena, dfl_access, (size_t)small->einsums[e].n_inputs + 1);

        einsums[e] = small->einsums[e];
        einsums[e].inputs = inputs;
        for (uint32_t i = 0; i < einsums[e].n_inputs; i++) {
            inputs[i] = small->einsums[e].inputs[i];
            for (uint32_t c = 0; c < small->n_carries; c++) {
                const uint32_t d = iterations_of(small, inputs[i].tensor, small->carries[c].rank);
                dfl_index *index;

                if (d == DFL_NONE || inputs[i].index[d].n_terms > 0)
                    continue;
                index = DFL_NEW_ARRAY(arena, dfl_index, (size_t)inputs[i].n_dims);
                for (uint32_t k = 0; k < inputs[i].n_dims; k++)
                    index[k] = inputs[i].index[k];
                if (index[d].offset >= extents[small->carries[c].rank])
                    index[d].offset = extents[small->carries[c].rank] - 1;
                inputs[i].index = index;
            }
        }
    }
    small->einsums = einsums;
}

static dfl_workload *shrink_workload(dfl_arena *arena, const dfl_workload *w, const int64_t *extents)
{
    dfl_workload *small = DFL_NEW(arena, dfl_workload);
    dfl_rank *ranks = DFL_NEW_ARRAY(arena, dfl_rank, (size_t)w->n_ranks + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + 1);

    *small = *w;
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        ranks[r] = w->ranks[r];
        ranks[r].extent = extents[r];
    }
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        int64_t *shape = DFL_NEW_ARRAY(arena, int64_t, (size_t)w->tensors[t].n_dims + 1);

        for (uint32_t d = 0; d < w->tensors[t].n_dims; d++)
            shape[d] = dfl_shrink_extent(w, t, d, extents);
        tensors[t] = w->tensors[t];
        tensors[t].extents = shape;
    }
    small->ranks = ranks;
    small->tensors = tensors;
    if (w->n_carries > 0)
        shrink_reads(arena, small, extents);
    return small;
}

/* ---- the mapping ---- */

typedef struct {
    dfl_arena *arena;
    const dfl_workload *workload;
    const int64_t *extents;
    const uint32_t *class_of;  /* [rank]: its class; one loop iterates all ranks of a class, and moves no window over their
                                  tensors */
    const unsigned *halvings;
    int64_t **left;            /* [einsum][position in its ranks]: extent that the lines above the present one leave */
    dfl_body **bodies;
} copying;

/* The position, among the einsum's ranks, of the rank that a loop over `rank` iterates, or DFL_NONE. */
static uint32_t iterated(const copying *c, const dfl_einsum *e, uint32_t rank)
{
    uint32_t found = DFL_NONE;

    for (uint32_t k = 0; k < e->n_ranks; k++) {
        if (e->ranks[k] == rank)
            return k;
        if (found == DFL_NONE && c->class_of[e->ranks[k]] == c->class_of[rank])
            found = k;
    }
    return found;
}

/* Whether a loop applies to an einsum below it: `for` may exclude the einsum. */
static bool is_for(const dfl_line *line, uint32_t einsum)
{
    for (uint32_t i = 0; i < line->n_only; i++)
        if (line->only[i] == einsum)
            return true;
    return line->only == NULL;
}

/* The largest rest of a loop's rank over all einsums below its body that the loop is for. `now` >= 0: limits this rest to
   at most `now` from here on. */
static int64_t most_left(const copying *c, const dfl_body *body, const dfl_line *line, int64_t now)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < body->n_einsums; i++) {
        uint32_t e = body->einsums[i], k = iterated(c, &c->workload->einsums[e], line->rank);

        if (k == DFL_NONE || !is_for(line, e))
            continue;
        most = c->left[e][k] > most ? c->left[e][k] : most;
        c->left[e][k] = now >= 0 && now < c->left[e][k] ? now : c->left[e][k];
    }
    return most > 0 ? most : c->extents[line->rank];
}

/* Shrinks a line; false if its rank has nothing left to iterate, so that the caller drops the line. */
static bool shrink_line(const copying *c, const dfl_body *body, dfl_line *line)
{
    if (line->kind == DFL_LINE_KEEP)
        return true;
    int64_t rest = most_left(c, body, line, -1);
    if (line->by == DFL_BY_SIZE) {
        line->amount = halved(line->amount, c->halvings[line->rank]);
        if (rest <= 1 && line->kind == DFL_LINE_TEMPORAL)
            return false;
        if (line->amount > rest)
            line->amount = rest;
        if (rest <= 1) { /* the spatial line remains, since the axis must still be mapped */
            line->by = DFL_BY_PARTS;
            line->amount = 1;
        }
    }
    if (line->by == DFL_BY_PARTS)
        rest = dfl_ceil_div(rest, line->amount);
    else if (line->by == DFL_BY_SIZE)
        rest = line->amount;
    most_left(c, body, line, rest);
    return true;
}

static dfl_body *shrink_body(const copying *c, const dfl_body *body, dfl_body *parent)
{
    dfl_body *small = DFL_NEW(c->arena, dfl_body);

    *small = *body;
    small->parent = parent;
    small->lines = DFL_NEW_ARRAY(c->arena, dfl_line, (size_t)body->n_lines + 1);
    small->n_lines = 0;
    for (uint32_t i = 0; i < body->n_lines; i++) {
        dfl_line line = body->lines[i];

        if (shrink_line(c, body, &line))
            small->lines[small->n_lines++] = line;
    }
    small->children = DFL_NEW_ARRAY(c->arena, dfl_body *, (size_t)body->n_children + 1);
    for (uint32_t i = 0; i < body->n_children; i++)
        small->children[i] = shrink_body(c, body->children[i], small);
    c->bodies[small->id] = small;
    return small;
}

dfl_mapping *dfl_mapping_shrink(dfl_arena *arena, const dfl_mapping *m, const int64_t *extents,
                                const unsigned *halvings)
{
    const dfl_workload *w = m->workload;
    dfl_mapping *small = DFL_NEW(arena, dfl_mapping);
    uint32_t *class_of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1);
    int64_t **left = DFL_NEW_ARRAY(arena, int64_t *, (size_t)w->n_einsums + 1);
    const copying c = { arena, w, extents, class_of, halvings, left,
                        DFL_NEW_ARRAY(arena, dfl_body *, (size_t)m->n_bodies + 1) };

    join_ranks(w, true, class_of);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        left[e] = DFL_NEW_ARRAY(arena, int64_t, (size_t)w->einsums[e].n_ranks + 1);
        for (uint32_t k = 0; k < w->einsums[e].n_ranks; k++)
            left[e][k] = extents[w->einsums[e].ranks[k]];
    }
    *small = *m;
    small->workload = shrink_workload(arena, w, extents);
    small->root = shrink_body(&c, m->root, NULL);
    small->bodies = c.bodies;
    return small;
}
