/* Ways to cut a rank along the gaps of a template. */
#include <math.h>
#include <string.h>

#include "mapper/search.h"

typedef struct {
    dfl_arena *arena;
    dfl_amounts divisors;
    uint32_t gaps[DFL_GAPS], n_gaps;
    uint32_t needs;
    int64_t cut[DFL_GAPS];
    int64_t (*at)[DFL_GAPS];
    size_t n, cap;
    dfl_halt *halt;
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
    if (dfl_halted(k->halt))
        return;
    for (uint32_t d = k->needs >> k->gaps[i] & 1; d < k->divisors.n && k->divisors.at[d] <= left; d++) {
        int64_t by = k->divisors.at[d];
        if (left % by != 0 || (i + 1 == k->n_gaps && by != left))
            continue;
        k->cut[k->gaps[i]] = by;
        cut_from(k, i + 1, left / by);
    }
    k->cut[k->gaps[i]] = 1;
}

static uint32_t home_of(const dfl_cuts *c, uint32_t n_slots)
{
    uint64_t h = ((uint64_t)c->left * 31 + (uint64_t)c->by) * 31 + c->gap;

    return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n_slots - 1);
}

/* Where the ways for this are noted, 1 + index, or are to be: 0. */
static uint32_t *slot_of(dfl_search *s, uint32_t rank, const dfl_cuts *c)
{
    uint32_t at;

    if (s->cached[rank].n * 2 >= s->cached[rank].n_slots) {
        uint32_t n = s->cached[rank].n_slots == 0 ? 32 : 2 * s->cached[rank].n_slots;
        uint32_t *slots = DFL_NEW_ARRAY(s->rows->scratch, uint32_t, n);
        for (size_t i = 0; i < s->cached[rank].n; i++) {
            for (at = home_of(&s->cached[rank].at[i], n); slots[at] != 0;)
                at = (at + 1) & (n - 1);
            slots[at] = (uint32_t)i + 1;
        }
        s->cached[rank].slots = slots;
        s->cached[rank].n_slots = n;
    }
    at = home_of(c, s->cached[rank].n_slots);
    while (s->cached[rank].slots[at] != 0) {
        const dfl_cuts *known = &s->cached[rank].at[s->cached[rank].slots[at] - 1];
        if (known->left == c->left && known->by == c->by && known->gap == c->gap)
            break;
        at = (at + 1) & (s->cached[rank].n_slots - 1);
    }
    return &s->cached[rank].slots[at];
}

const dfl_cuts *dfl_cuts_of(dfl_search *s, uint32_t rank)
{
    dfl_arena *arena = s->rows->scratch;
    cutter k = { .arena = arena, .divisors = s->divisors[rank], .needs = s->t->needs, .halt = s->goal->halt };
    dfl_cuts c = { .left = s->left[rank], .by = s->shared_by[rank], .gap = s->shared_by[rank] > 1 ? s->shared_gap[rank] : 0 };
    uint32_t *slot;

    slot = slot_of(s, rank, &c);
    if (*slot != 0)
        return &s->cached[rank].at[*slot - 1];
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
    *slot = (uint32_t)s->cached[rank].n;
    return &s->cached[rank].at[s->cached[rank].n - 1];
}
