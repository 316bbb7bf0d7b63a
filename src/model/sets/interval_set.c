/* Sets of integers as sorted intervals. */
#include "model/sets/interval_set.h"

#include <stdlib.h>

#include "support/vec.h"

void dfl_interval_set_clear(dfl_interval_set *set)
{
    set->n = 0;
    set->sorted = true;
}

void dfl_interval_set_add(dfl_arena *arena, dfl_interval_set *set, int64_t lo, int64_t hi)
{
    if (hi <= lo)
        return;
    if (set->n > 0 && set->sorted) {
        dfl_interval *last = &set->at[set->n - 1];
        if (lo >= last->lo && lo <= last->hi) {
            last->hi = hi > last->hi ? hi : last->hi;
            return;
        }
        set->sorted = lo > last->hi;
    }
    dfl_interval run = { lo, hi };
    DFL_PUSH(arena, set, run);
}

static int by_start(const void *a, const void *b)
{
    const dfl_interval *x = a, *y = b;

    return (x->lo > y->lo) - (x->lo < y->lo);
}

void dfl_interval_set_normalise(dfl_interval_set *set)
{
    size_t n = 0;

    if (set->sorted || set->n == 0) {
        set->sorted = true;
        return;
    }
    qsort(set->at, set->n, sizeof *set->at, by_start);
    for (size_t i = 1; i < set->n; i++) {
        if (set->at[i].lo <= set->at[n].hi)
            set->at[n].hi = set->at[i].hi > set->at[n].hi ? set->at[i].hi : set->at[n].hi;
        else
            set->at[++n] = set->at[i];
    }
    set->n = n + 1;
    set->sorted = true;
}

void dfl_interval_set_unite(dfl_arena *arena, dfl_interval_set *set, const dfl_interval_set *b)
{
    for (size_t i = 0; i < b->n; i++)
        dfl_interval_set_add(arena, set, b->at[i].lo, b->at[i].hi);
}

void dfl_interval_set_intersect(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *set, const dfl_interval_set *b)
{
    size_t i = 0, k = 0;

    dfl_interval_set_clear(out);
    while (i < set->n && k < b->n) {
        int64_t lo = set->at[i].lo > b->at[k].lo ? set->at[i].lo : b->at[k].lo;
        int64_t hi = set->at[i].hi < b->at[k].hi ? set->at[i].hi : b->at[k].hi;
        dfl_interval_set_add(arena, out, lo, hi);
        if (set->at[i].hi < b->at[k].hi)
            i++;
        else
            k++;
    }
}

void dfl_interval_set_subtract(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *set, const dfl_interval_set *b)
{
    size_t k = 0;

    dfl_interval_set_clear(out);
    for (size_t i = 0; i < set->n; i++) {
        int64_t lo = set->at[i].lo;
        while (k < b->n && b->at[k].hi <= lo)
            k++;
        for (size_t j = k; j < b->n && b->at[j].lo < set->at[i].hi; j++) {
            dfl_interval_set_add(arena, out, lo, b->at[j].lo);
            lo = b->at[j].hi > lo ? b->at[j].hi : lo;
        }
        dfl_interval_set_add(arena, out, lo, set->at[i].hi);
    }
}

void dfl_interval_set_sum(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *set, int64_t coef,
                          const dfl_interval_set *b)
{
    int64_t gap = coef > 0 ? coef : -coef;

    dfl_interval_set_clear(out);
    for (size_t k = 0; k < b->n; k++) {
        int64_t len = b->at[k].hi - b->at[k].lo, first = coef > 0 ? coef * b->at[k].lo : coef * (b->at[k].hi - 1);
        for (size_t i = 0; i < set->n; i++) {
            int64_t lo = set->at[i].lo + first, hi = set->at[i].hi + first;
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

bool dfl_interval_set_equal(const dfl_interval_set *set, const dfl_interval_set *b)
{
    if (set->n != b->n)
        return false;
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].lo != b->at[i].lo || set->at[i].hi != b->at[i].hi)
            return false;
    return true;
}

int64_t dfl_interval_set_count(const dfl_interval_set *set)
{
    int64_t n = 0;

    for (size_t i = 0; i < set->n; i++)
        n += set->at[i].hi - set->at[i].lo;
    return n;
}

