/* Sets of integers as sorted intervals. */
#include "model/sets/interval_set.h"

#include <stdlib.h>

#include "support/vec.h"

void dfl_interval_set_clear(dfl_interval_set *s)
{
    s->n = 0;
    s->sorted = true;
}

void dfl_interval_set_add(dfl_arena *arena, dfl_interval_set *s, int64_t lo, int64_t hi)
{
    if (hi <= lo)
        return;
    if (s->n > 0 && s->sorted) {
        dfl_interval *last = &s->at[s->n - 1];
        if (lo >= last->lo && lo <= last->hi) {
            last->hi = hi > last->hi ? hi : last->hi;
            return;
        }
        s->sorted = lo > last->hi;
    }
    dfl_interval run = { lo, hi };
    DFL_PUSH(arena, s, run);
}

static int by_start(const void *a, const void *b)
{
    const dfl_interval *x = a, *y = b;

    return (x->lo > y->lo) - (x->lo < y->lo);
}

void dfl_interval_set_normalise(dfl_interval_set *s)
{
    size_t n = 0;

    if (s->sorted || s->n == 0) {
        s->sorted = true;
        return;
    }
    qsort(s->at, s->n, sizeof *s->at, by_start);
    for (size_t i = 1; i < s->n; i++) {
        if (s->at[i].lo <= s->at[n].hi)
            s->at[n].hi = s->at[i].hi > s->at[n].hi ? s->at[i].hi : s->at[n].hi;
        else
            s->at[++n] = s->at[i];
    }
    s->n = n + 1;
    s->sorted = true;
}

void dfl_interval_set_unite(dfl_arena *arena, dfl_interval_set *a, const dfl_interval_set *b)
{
    for (size_t i = 0; i < b->n; i++)
        dfl_interval_set_add(arena, a, b->at[i].lo, b->at[i].hi);
}

void dfl_interval_set_intersect(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b)
{
    size_t i = 0, k = 0;

    dfl_interval_set_clear(out);
    while (i < a->n && k < b->n) {
        int64_t lo = a->at[i].lo > b->at[k].lo ? a->at[i].lo : b->at[k].lo;
        int64_t hi = a->at[i].hi < b->at[k].hi ? a->at[i].hi : b->at[k].hi;
        dfl_interval_set_add(arena, out, lo, hi);
        if (a->at[i].hi < b->at[k].hi)
            i++;
        else
            k++;
    }
}

void dfl_interval_set_subtract(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b)
{
    size_t k = 0;

    dfl_interval_set_clear(out);
    for (size_t i = 0; i < a->n; i++) {
        int64_t lo = a->at[i].lo;
        while (k < b->n && b->at[k].hi <= lo)
            k++;
        for (size_t j = k; j < b->n && b->at[j].lo < a->at[i].hi; j++) {
            dfl_interval_set_add(arena, out, lo, b->at[j].lo);
            lo = b->at[j].hi > lo ? b->at[j].hi : lo;
        }
        dfl_interval_set_add(arena, out, lo, a->at[i].hi);
    }
}

void dfl_interval_set_sum(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, int64_t coef,
                          const dfl_interval_set *b)
{
    int64_t gap = coef > 0 ? coef : -coef;

    dfl_interval_set_clear(out);
    for (size_t k = 0; k < b->n; k++) {
        int64_t len = b->at[k].hi - b->at[k].lo, first = coef > 0 ? coef * b->at[k].lo : coef * (b->at[k].hi - 1);
        for (size_t i = 0; i < a->n; i++) {
            int64_t lo = a->at[i].lo + first, hi = a->at[i].hi + first;
            if (hi - lo >= gap) {
                dfl_interval_set_add(arena, out, lo, hi + (len - 1) * gap);
                continue;
            }
            for (int64_t j = 0; j < len && dfl_budget_spend(dfl_arena_budget(arena), 4); j++)
                dfl_interval_set_add(arena, out, lo + j * gap, hi + j * gap);
        }
    }
    dfl_interval_set_normalise(out);
}

bool dfl_interval_set_equal(const dfl_interval_set *a, const dfl_interval_set *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i].lo != b->at[i].lo || a->at[i].hi != b->at[i].hi)
            return false;
    return true;
}

int64_t dfl_interval_set_count(const dfl_interval_set *s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->at[i].hi - s->at[i].lo;
    return n;
}
