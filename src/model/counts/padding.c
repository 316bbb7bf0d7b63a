/* Points of an einsum at which the conditions hold and all inputs lie inside their shapes. */
#include "model/counts/padding.h"

#include "support/limits.h"
#include "support/vec.h"

typedef struct { const dfl_index *index; int64_t extent; } bound;

/* Collects the conditions of the einsum, and the bounds 0 <= index < extent that some point violates. Bounds beyond `cap`
   are ignored. */
static uint32_t find_bounds(const dfl_workload *w, const dfl_einsum *e, bound *out, uint32_t cap)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < e->n_where && n < cap; c++)
        out[n++] = (bound){ &e->where[c].sum, INT64_C(1) << DFL_INDEX_BITS };
    for (uint32_t i = 0; i < e->n_inputs; i++)
        for (uint32_t d = 0; d < e->inputs[i].n_dims; d++) {
            const dfl_index *x = &e->inputs[i].index[d];
            dfl_i128 lo = x->offset, hi = x->offset;
            int64_t extent = w->tensors[e->inputs[i].tensor].extents[d];
            for (uint32_t t = 0; t < x->n_terms; t++) {
                dfl_i128 far = (dfl_i128)x->terms[t].coef * (w->ranks[x->terms[t].rank].extent - 1);
                lo += far < 0 ? far : 0;
                hi += far > 0 ? far : 0;
            }
            if ((lo < 0 || hi >= extent) && n < cap)
                out[n++] = (bound){ x, extent };
        }
    return n;
}

/* Number of values of the last rank that satisfy all bounds while the other ranks stand at `at`. The values are an
   interval, since each bound is linear in the last rank. */
static int64_t count_last(const dfl_workload *w, const bound *bounds, uint32_t n, const uint32_t *ranks, uint32_t n_ranks,
                          const int64_t *at)
{
    uint32_t last = ranks[n_ranks - 1];
    int64_t lo = 0, hi = w->ranks[last].extent - 1;

    for (uint32_t b = 0; b < n; b++) {
        int64_t sum = bounds[b].index->offset, c = dfl_index_coef(bounds[b].index, last);
        for (uint32_t k = 0; k + 1 < n_ranks; k++)
            sum += dfl_index_coef(bounds[b].index, ranks[k]) * at[k];
        if (c == 0) {
            if (sum < 0 || sum >= bounds[b].extent)
                return 0;
            continue;
        }
        int64_t first = c > 0 ? dfl_ceil_div(-sum, c) : dfl_ceil_div(sum - bounds[b].extent + 1, -c);
        int64_t end = c > 0 ? dfl_floor_div(bounds[b].extent - 1 - sum, c) : dfl_floor_div(sum, -c);
        lo = first > lo ? first : lo;
        hi = end < hi ? end : hi;
    }
    return hi >= lo ? hi - lo + 1 : 0;
}

/* Number of points over the ranks of one connected set of bounds. The count is in closed form over the longest rank,
   and enumerates the others. */
static bool count_set(dfl_arena *arena, const dfl_workload *w, const bound *bounds, uint32_t n, uint32_t *ranks,
                      uint32_t n_ranks, dfl_i128 *out)
{
    int64_t *at = DFL_NEW_ARRAY(arena, int64_t, n_ranks);

    for (uint32_t k = 0; k + 1 < n_ranks; k++)
        if (w->ranks[ranks[k]].extent > w->ranks[ranks[n_ranks - 1]].extent) {
            uint32_t swap = ranks[k];
            ranks[k] = ranks[n_ranks - 1];
            ranks[n_ranks - 1] = swap;
        }
    *out = 0;
    for (;;) {
        uint32_t k = 0;
        if (!dfl_budget_ok(dfl_arena_budget(arena)))
            return false;
        *out += count_last(w, bounds, n, ranks, n_ranks, at);
        while (k + 1 < n_ranks && ++at[k] == w->ranks[ranks[k]].extent)
            at[k++] = 0;
        if (k + 1 >= n_ranks)
            return true;
    }
}

bool dfl_padding_points_inside(dfl_arena *arena, const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    bound bounds[DFL_PADDING_BOUNDS], mine[DFL_PADDING_BOUNDS];
    uint32_t n = find_bounds(w, e, bounds, DFL_PADDING_BOUNDS), *set = DFL_NEW_ARRAY(arena, uint32_t, e->n_ranks + 1);
    bool *used = DFL_NEW_ARRAY(arena, bool, e->n_ranks + 1), taken[DFL_PADDING_BOUNDS] = { false };

    *out = 1;
    for (uint32_t first = 0; first < n; first++) {
        uint32_t n_ranks = 0, n_mine = 0;
        if (taken[first])
            continue;
        taken[first] = true;
        mine[n_mine++] = bounds[first];
        for (uint32_t b = 0; b < n_mine; b++)
            for (uint32_t t = 0; t < mine[b].index->n_terms; t++) {
                uint32_t k = 0;
                while (e->ranks[k] != mine[b].index->terms[t].rank)
                    k++;
                if (used[k])
                    continue;
                used[k] = true;
                set[n_ranks++] = e->ranks[k];
                for (uint32_t other = first + 1; other < n; other++)
                    if (!taken[other] && dfl_index_coef(bounds[other].index, e->ranks[k]) != 0) {
                        taken[other] = true;
                        mine[n_mine++] = bounds[other];
                    }
            }
        dfl_i128 part = 1;
        if (n_ranks == 0) {
            /* a constant index outside the shape, or a constant condition */
            *out *= bounds[first].index->offset >= 0 && bounds[first].index->offset < bounds[first].extent;
            continue;
        }
        if (!count_set(arena, w, mine, n_mine, set, n_ranks, &part) || dfl_mul(*out, part, out))
            return false;
    }
    for (uint32_t k = 0; k < e->n_ranks; k++)
        if (!used[k] && e->ranks[k] != e->over_rank && dfl_mul(*out, w->ranks[e->ranks[k]].extent, out))
            return false;
    return true;
}
