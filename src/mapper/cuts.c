/* Ways to cut a rank along the gaps of a template. */
#include <math.h>
#include <string.h>

#include "mapper/search.h"

typedef struct {
    dfl_arena *arena;
    dfl_amounts divisors;
    uint32_t gaps[DFL_GAPS], n_gaps;
    int64_t cut[DFL_GAPS];
    int64_t (*at)[DFL_GAPS];
    size_t n, cap;
} cutter;

static void cut_from(cutter *k, uint32_t i, int64_t left)
{
    if (i == k->n_gaps) {
        if (left != 1)
            return;
        if (k->n == k->cap) {
            void *grown = k->at;
            dfl_vec_grow(k->arena, &grown, k->n, &k->cap, sizeof *k->at, _Alignof(int64_t));
            k->at = grown;
        }
        memcpy(k->at[k->n++], k->cut, sizeof k->cut);
        return;
    }
    for (uint32_t d = 0; d < k->divisors.n && k->divisors.at[d] <= left; d++) {
        int64_t by = k->divisors.at[d];
        if (left % by != 0 || (i + 1 == k->n_gaps && by != left))
            continue;
        k->cut[k->gaps[i]] = by;
        cut_from(k, i + 1, left / by);
    }
    k->cut[k->gaps[i]] = 1;
}

const dfl_cuts *dfl_cuts_of(dfl_search *s, uint32_t rank)
{
    dfl_arena *arena = s->rows->scratch;
    cutter k = { .arena = arena, .divisors = s->divisors[rank] };
    dfl_cuts c = { .left = s->left[rank], .by = s->shared_by[rank], .gap = s->shared_gap[rank] };

    for (size_t i = 0; i < s->cached[rank].n; i++) {
        const dfl_cuts *known = &s->cached[rank].at[i];
        if (known->left == c.left && known->by == c.by && (c.by == 1 || known->gap == c.gap))
            return known;
    }
    for (uint32_t g = 0; g < s->n_gaps; g++) {
        k.cut[g] = c.by > 1 && g == c.gap ? c.by : 1;
        if ((g >= s->t->shared_gaps || s->goal->best_only) && (s->t->allow[g] >> rank & 1))
            k.gaps[k.n_gaps++] = g;
    }
    if (c.left % c.by == 0)
        cut_from(&k, 0, c.left / c.by);
    c.count = (uint32_t)k.n;
    c.cut = k.at;
    for (uint32_t g = 0; g < s->n_gaps; g++) {
        c.n[g] = DFL_NEW_ARRAY(arena, double, (size_t)c.count + 1);
        c.least[g] = INFINITY;
        for (uint32_t i = 0; i < c.count; i++) {
            c.n[g][i] = (g > 0 ? c.n[g - 1][i] : 1) * (double)c.cut[i][g];
            c.least[g] = fmin(c.least[g], c.n[g][i]);
            c.most[g] = fmax(c.most[g], c.n[g][i]);
        }
    }
    DFL_PUSH(arena, &s->cached[rank], c);
    return &s->cached[rank].at[s->cached[rank].n - 1];
}
