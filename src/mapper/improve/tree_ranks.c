#include "mapper/improve/tree_ranks.h"

#include <string.h>

#include "mapper/problem/transform.h"

/* Whether the einsum reads a dimension bare that a producer in the body indexes with the rank alone. */
static bool follows(const dfl_mapping *m, const dfl_body *b, const dfl_einsum *e, uint32_t rank)
{
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_access *read = &e->inputs[i];
        const dfl_tensor *t = &m->workload->tensors[read->tensor];
        for (uint32_t p = 0; p < t->n_producers; p++)
            for (uint32_t d = 0; d < read->n_dims && dfl_body_has_einsum(b, t->producers[p]); d++) {
                uint32_t own, made;
                if (dfl_index_is_bare(&read->index[d], &own) &&
                    dfl_index_is_bare(&m->workload->einsums[t->producers[p]].output.index[d], &made) && made == rank)
                    return true;
            }
    }
    return false;
}

/* Whether a later einsum of the body reads what this one makes. */
static bool is_read(const dfl_mapping *m, const dfl_body *b, uint32_t einsum)
{
    const dfl_tensor *t = &m->workload->tensors[m->workload->einsums[einsum].output.tensor];

    for (uint32_t k = 0; k < t->n_consumers; k++)
        if (t->consumers[k] > einsum && dfl_body_has_einsum(b, t->consumers[k]))
            return true;
    return false;
}

bool dfl_tree_has_rank(const dfl_mapping *m, const dfl_body *b, uint32_t rank)
{
    for (uint32_t i = 0; i < b->n_einsums; i++)
        if (!dfl_einsum_has_rank(&m->workload->einsums[b->einsums[i]], rank))
            return false;
    return b->n_einsums > 0;
}

bool dfl_tree_may_loop(const dfl_mapping *m, const dfl_body *b, uint32_t rank)
{
    bool has_rank = false;

    for (uint32_t i = 0; i < b->n_einsums; i++) {
        const dfl_einsum *e = &m->workload->einsums[b->einsums[i]];
        const bool is_direct = dfl_einsum_has_rank(e, rank);
        has_rank |= is_direct;
        if (!is_direct && !follows(m, b, e, rank) && !is_read(m, b, b->einsums[i]))
            return false;
    }
    return has_rank;
}

int64_t dfl_tree_tile(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank)
{
    int64_t tile = b->parent != NULL ? dfl_tree_tile(m, b->parent, b->parent->n_lines, rank) : m->workload->ranks[rank].extent;

    for (uint32_t i = 0; i < at; i++) {
        const dfl_line *line = &b->lines[i];
        if (line->kind == DFL_LINE_KEEP || line->rank != rank)
            continue;
        if (line->by == DFL_BY_PARTS)
            tile = (tile + line->amount - 1) / line->amount;
        else if (line->amount < tile)
            tile = line->amount;
    }
    return tile;
}

static dfl_rank *copy_ranks(dfl_arena *arena, const dfl_mapping *m, const dfl_rank *ranks)
{
    dfl_rank *copy = DFL_NEW_ARRAY(arena, dfl_rank, (size_t)m->workload->n_ranks + 1);

    memcpy(copy, ranks, m->workload->n_ranks * sizeof *copy);
    return copy;
}

static void shorten(dfl_rank *ranks, uint32_t rank, int64_t extent)
{
    if (extent < ranks[rank].extent)
        ranks[rank].extent = extent;
}

/* Shortens the ranks of einsums of the body that read along shorter ranks, first to last. */
static void follow(const dfl_mapping *m, const dfl_body *b, dfl_rank *ranks)
{
    for (uint32_t i = 0; i < b->n_einsums; i++) {
        const dfl_einsum *e = &m->workload->einsums[b->einsums[i]];
        for (uint32_t k = 0; k < e->n_inputs; k++) {
            const dfl_access *read = &e->inputs[k];
            const dfl_tensor *t = &m->workload->tensors[read->tensor];
            for (uint32_t p = 0; p < t->n_producers; p++)
                for (uint32_t d = 0; d < read->n_dims && dfl_body_has_einsum(b, t->producers[p]); d++) {
                    uint32_t own, made;
                    if (dfl_index_is_bare(&read->index[d], &own) &&
                        dfl_index_is_bare(&m->workload->einsums[t->producers[p]].output.index[d], &made))
                        shorten(ranks, own, ranks[made].extent);
                }
        }
    }
}

/* Shortens the ranks of einsums of the body that make what later ones read, last to first. */
static void need(const dfl_mapping *m, const dfl_body *b, dfl_rank *ranks)
{
    for (uint32_t i = b->n_einsums; i-- > 0;) {
        const dfl_access *made = &m->workload->einsums[b->einsums[i]].output;
        for (uint32_t d = 0; d < made->n_dims && is_read(m, b, b->einsums[i]); d++) {
            uint32_t own;
            if (dfl_index_is_bare(&made->index[d], &own))
                shorten(ranks, own, dfl_transform_wanted(m->workload, ranks, made->tensor, d));
        }
    }
}

dfl_rank *dfl_tree_pieces(dfl_arena *arena, const dfl_mapping *m, const dfl_body *b, uint32_t at)
{
    dfl_rank *ranks = copy_ranks(arena, m, m->workload->ranks);

    for (uint32_t r = 0; r < m->workload->n_ranks; r++)
        ranks[r].extent = dfl_tree_tile(m, b, at, r);
    follow(m, b, ranks);
    need(m, b, ranks);
    return ranks;
}

/* Fits the lines of a body from line `at` on, and all inside of it, into ranks of these lengths. Overwrites the lengths. */
static void fit(dfl_arena *arena, dfl_mapping *m, dfl_body *b, uint32_t at, dfl_rank *ranks)
{
    uint32_t n = at;

    for (uint32_t i = at; i < b->n_lines; i++) {
        dfl_line line = b->lines[i];
        if (line.kind != DFL_LINE_KEEP && !line.given && !line.cyclic && !line.rounds) {
            int64_t *left = &ranks[line.rank].extent;
            const bool by_parts = line.by == DFL_BY_PARTS;
            if (by_parts && line.amount > *left)
                line.amount = *left;
            if (by_parts ? line.amount <= 1 : line.amount >= *left && !(line.amount == 1 && line.kind == DFL_LINE_TEMPORAL))
                continue;
            *left = by_parts ? (*left + line.amount - 1) / line.amount : line.amount;
        }
        b->lines[n++] = line;
    }
    b->n_lines = n;
    if (b->n_children > 0) {
        follow(m, b, ranks);
        need(m, b, ranks);
    }
    for (uint32_t c = 0; c < b->n_children; c++)
        fit(arena, m, b->children[c], 0, copy_ranks(arena, m, ranks));
}

void dfl_tree_fit(dfl_arena *arena, dfl_mapping *m, dfl_body *b, uint32_t at)
{
    fit(arena, m, b, at + 1, dfl_tree_pieces(arena, m, b, at + 1));
}
