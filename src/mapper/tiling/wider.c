#include "mapper/tiling/wider.h"

#include "ir/mapping_open.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"

/* Times by which a tile grows at most, before the next one is tried: room for two buffers rarely allows more. */
enum { MOST_TIMES = 8 };

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_objective *objective;
    bool divides;
    dfl_box_result *out;
} widening;

static bool is_loop(const dfl_line *line, uint32_t rank)
{
    return line->kind == DFL_LINE_TEMPORAL && line->rank == rank && line->by == DFL_BY_SIZE;
}

/* Whether a keep fetches its tiles ahead, and a loop over the rank changes them. */
static bool can_widen(const dfl_mapping *m, const dfl_line *keep, uint32_t rank)
{
    const dfl_einsum *e = &m->workload->einsums[m->root->einsums[0]];
    const dfl_memory *memory = &m->system->memories[keep->memory];
    bool has = false;

    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *access = i < e->n_inputs ? &e->inputs[i] : &e->output;
        for (uint32_t d = 0; d < access->n_dims && access->tensor == keep->tensor; d++)
            has |= access->index[d].n_terms == 1 && access->index[d].terms[0].rank == rank;
    }
    return has && memory->buffers >= 2 && !memory->stream;
}

/* The mapping with tiles `times` as large above keep line `keep` as those of loop line `loop`, which stay behind the keep; NULL
   if the loop would have no second iteration. `above`: the piece that the loop cuts. */
static dfl_mapping *widen(const widening *k, dfl_arena *arena, uint32_t loop, uint32_t keep, int64_t times, int64_t above)
{
    dfl_mapping *m = dfl_mapping_copy(arena, k->out->mapping);
    dfl_line *lines = DFL_NEW_ARRAY(arena, dfl_line, m->root->n_lines + 1);
    dfl_line inner = m->root->lines[loop];
    uint32_t n = 0;

    if (times * inner.amount >= above || (k->divides && above % (times * inner.amount) != 0))
        return NULL;
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        lines[n++] = m->root->lines[i];
        if (i == keep)
            lines[n++] = inner;
    }
    lines[loop].amount *= times;
    m->root->lines = lines;
    m->root->n_lines = n;
    return m;
}

/* Tries a mapping; true if it is better. */
static bool try_mapping(const widening *k, const dfl_mapping *m)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(k->arena));
    const dfl_result *costs = dfl_mapping_costs(arena, k->names, m);
    const double value = costs != NULL && dfl_objective_met(k->objective, costs, NULL)
                             ? dfl_objective_value(k->objective, costs->joules, costs->seconds) : k->out->value;
    const bool is_better = value < k->out->value * (1 - DFL_BOX_ROUNDING);

    if (is_better) {
        k->out->mapping = dfl_mapping_copy(k->arena, m);
        k->out->value = value;
        k->out->joules = costs->joules;
        k->out->seconds = costs->seconds;
    }
    dfl_arena_free(arena);
    return is_better;
}

/* Tries wider tiles of one keep along one loop. `above`: the piece that the loop cuts. */
static bool try_loop(const widening *k, uint32_t loop, uint32_t keep, int64_t above)
{
    bool is_better = false;

    for (int64_t times = 2; times <= MOST_TIMES && !is_better; times++) {
        dfl_arena *arena = dfl_arena_new(dfl_arena_budget(k->arena));
        const dfl_mapping *m = widen(k, arena, loop, keep, times, above);
        is_better = m != NULL && try_mapping(k, m);
        dfl_arena_free(arena);
    }
    return is_better;
}

/* Tries wider tiles of one keep; true if one is better. */
static bool try_keep(const widening *k, uint32_t keep)
{
    const dfl_mapping *m = k->out->mapping;
    const dfl_line *lines = m->root->lines;
    const dfl_einsum *e = &m->workload->einsums[m->root->einsums[0]];

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t rank = e->ranks[i];
        int64_t above = m->workload->ranks[rank].extent, piece = above;
        uint32_t loop = keep;
        for (uint32_t n = 0; n < keep; n++)
            if (is_loop(&lines[n], rank)) {
                loop = n;
                above = piece;
                piece = lines[n].amount;
            } else if (lines[n].kind != DFL_LINE_KEEP && lines[n].rank == rank) {
                loop = keep; /* parts of an axis between */
            }
        if (loop < keep && can_widen(m, &lines[keep], rank) && try_loop(k, loop, keep, above))
            return true;
    }
    return false;
}

void dfl_box_widen(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, bool divides, dfl_box_result *out)
{
    const widening k = { arena, names, objective, divides, out };
    bool is_better = out->mapping != NULL && out->mapping->n_bodies == 1;

    while (is_better) {
        is_better = false;
        for (uint32_t i = dfl_body_count_homes(out->mapping->root); i < out->mapping->root->n_lines && !is_better; i++)
            is_better = out->mapping->root->lines[i].kind == DFL_LINE_KEEP && try_keep(&k, i);
    }
}
