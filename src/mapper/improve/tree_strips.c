#include "mapper/improve/tree_strips.h"

#include "mapper/improve/tree_moves.h"
#include "mapper/improve/tree_ranks.h"
#include "mapper/problem/factors.h"

/* Strips of a rank at most: 2, 4, 8, ... */
enum { MOST = 256 };

/* The strips of a tile in a memory, those that keep most there first, until one has room. */
static bool use_keeps(const dfl_tree_strip *of, bool (*use)(void *context, const dfl_tree_strip *strip, bool *has_room),
                      void *context)
{
    bool has_room = false;

    for (uint32_t keeps = 4; keeps-- > 0 && !has_room;) {
        dfl_tree_strip strip = *of;
        strip.shares = keeps >> 1;
        strip.holds = keeps & 1;
        if (!use(context, &strip, &has_room))
            return false;
    }
    return true;
}

void dfl_tree_strips_each(dfl_arena *scratch, const dfl_mapping *m,
                          bool (*use)(void *context, const dfl_tree_strip *strip, bool *has_room), void *context)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t r = 0; r < m->workload->n_ranks && m->bodies[b]->n_children > 0; r++) {
            const uint32_t at = dfl_tree_after_homes(m, m->bodies[b]);
            const int64_t above = dfl_tree_pieces(scratch, m, m->bodies[b], at)[r].extent;
            if (!dfl_tree_may_loop(m, m->bodies[b], r))
                continue;
            for (int64_t n = 2, last = above; n <= MOST && last > 1; n *= 2) {
                const int64_t tile = dfl_even_tile(above, (double)above / (double)n);
                for (uint32_t i = 1; i < m->system->n_memories && tile < last; i++) {
                    const dfl_tree_strip strip = { .body = b, .rank = r, .memory = i, .tile = tile };
                    if (!dfl_memory_is_in_array(m->system, i) && !use_keeps(&strip, use, context))
                        return;
                }
                last = tile;
            }
        }
}

/* Whether the loop cuts the tensor: some einsum of the body indexes it with a rank that is shorter than before. */
static bool is_cut(const dfl_mapping *m, const dfl_body *b, uint32_t tensor, const dfl_rank *before, const dfl_rank *after)
{
    for (uint32_t i = 0; i < b->n_einsums; i++) {
        const dfl_einsum *e = &m->workload->einsums[b->einsums[i]];
        for (uint32_t k = 0; k < e->n_inputs; k++)
            for (uint32_t d = 0; d < e->inputs[k].n_dims && e->inputs[k].tensor == tensor; d++)
                for (uint32_t t = 0; t < e->inputs[k].index[d].n_terms; t++) {
                    const uint32_t r = e->inputs[k].index[d].terms[t].rank;
                    if (after[r].extent < before[r].extent)
                        return true;
                }
    }
    return false;
}

static uint32_t count_readers(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_einsums; i++)
        n += dfl_einsum_reads(&m->workload->einsums[b->einsums[i]], tensor);
    return n;
}

static bool add_keep(dfl_arena *arena, dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t tensor, uint32_t memory)
{
    return dfl_tree_apply(arena, m, &(dfl_tree_move){ .kind = DFL_TREE_ADD_KEEP, .from = { b->id, at }, .tensor = tensor,
                                                      .memory = memory });
}

/* Brings the home of an intermediate of the body below the loop, and out of the outermost memory. */
static void move_home(dfl_arena *arena, dfl_mapping *m, dfl_body *b, uint32_t *loop, uint32_t tensor, uint32_t memory)
{
    for (uint32_t i = b->n_lines; i-- > 0;) {
        const dfl_line line = b->lines[i];
        if (line.kind != DFL_LINE_KEEP || line.tensor != tensor || line.given || (i > *loop && line.memory > 0))
            continue;
        (void)dfl_tree_apply(arena, m, &(dfl_tree_move){ .kind = DFL_TREE_DROP, .from = { b->id, i } });
        *loop -= i < *loop;
        (void)add_keep(arena, m, b, *loop + 1, tensor, line.memory > 0 ? line.memory : memory);
        return;
    }
}

bool dfl_tree_strip_apply(dfl_arena *arena, dfl_mapping *m, const dfl_tree_strip *strip)
{
    dfl_body *b = m->bodies[strip->body];
    uint32_t loop = dfl_tree_after_homes(m, b);
    const dfl_rank *before = dfl_tree_pieces(arena, m, b, loop), *after;
    const dfl_tree_move cut = { .kind = DFL_TREE_ADD_LOOP, .from = { b->id, loop }, .rank = strip->rank, .fits = true,
                                .factor = (double)strip->tile / (double)before[strip->rank].extent };

    if (!dfl_tree_apply(arena, m, &cut) || loop >= b->n_lines || b->lines[loop].kind != DFL_LINE_TEMPORAL)
        return false;
    after = dfl_tree_pieces(arena, m, b, loop + 1);
    for (uint32_t t = 0; t < m->workload->n_tensors; t++) {
        const bool is_intermediate = m->workload->tensors[t].role == DFL_ROLE_INTERMEDIATE;
        if (is_intermediate)
            move_home(arena, m, b, &loop, t, strip->memory);
        if (is_intermediate || count_readers(m, b, t) == 0 || !dfl_tree_may_hold(m, t, strip->memory) ||
            !dfl_tree_is_free(m, b, loop, t))
            continue;
        if (is_cut(m, b, t, before, after)) {
            if (strip->shares && count_readers(m, b, t) > 1)
                (void)add_keep(arena, m, b, loop + 1, t, strip->memory);
        } else if (strip->holds && add_keep(arena, m, b, loop, t, strip->memory)) {
            loop++;
        }
    }
    return true;
}
