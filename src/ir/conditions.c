#include "ir/conditions.h"

enum { MOST_RANKS = 64, MOST_CONDITIONS = 64 };

/* A set of conditions, with its ranks: those that are not kept first, and the longest one last, among those that are not kept if
   there are any. */
typedef struct {
    uint64_t has;              /* bit k: rank e->ranks[k] */
    uint32_t ranks[MOST_RANKS], n_ranks;
    uint32_t n_free;           /* ranks before the last one that are not kept */
    bool is_last_kept;         /* all are */
} condition_set;

/* A condition of a set: offset + sum of coef[k] * ranks[k] >= 0. */
typedef struct { int64_t offset, coef[MOST_RANKS]; } set_condition;

/* Bit set of the ranks of a condition, as positions in the list of the einsum's ranks. */
static uint64_t find_ranks(const dfl_einsum *e, uint32_t condition)
{
    uint64_t has = 0;

    for (uint32_t k = 0; k < e->n_ranks; k++)
        has |= dfl_index_coef(&e->where[condition].sum, e->ranks[k]) != 0 ? UINT64_C(1) << k : 0;
    return has;
}

static bool is_kept(const bool *keep, uint32_t rank) { return keep == NULL || keep[rank]; }

/* Moves the longest rank of a set to its end: of those that are not kept, if there are any. */
static void put_longest_last(const dfl_workload *w, const bool *keep, condition_set *set)
{
    const uint32_t last = set->n_ranks - 1;
    uint32_t longest = last;

    for (uint32_t k = 0; k <= last; k++) {
        const bool better = is_kept(keep, set->ranks[longest]) && !is_kept(keep, set->ranks[k]);
        const bool equal = is_kept(keep, set->ranks[longest]) == is_kept(keep, set->ranks[k]);

        if (better || (equal && w->ranks[set->ranks[k]].extent > w->ranks[set->ranks[longest]].extent))
            longest = k;
    }
    const uint32_t rank = set->ranks[longest];

    set->ranks[longest] = set->ranks[last];
    set->ranks[last] = rank;
    set->is_last_kept = is_kept(keep, rank);
    set->n_free = 0;
    for (uint32_t k = 0; k < last; k++)
        if (!is_kept(keep, set->ranks[k])) {
            const uint32_t free = set->ranks[k];

            set->ranks[k] = set->ranks[set->n_free];
            set->ranks[set->n_free++] = free;
        }
}

/* Finds the next set of conditions with ranks that are not in `done`. False if there is none. */
static bool find_set(const dfl_workload *w, const dfl_einsum *e, const bool *keep, uint64_t done, condition_set *set)
{
    uint64_t before = 0;

    set->has = 0;
    set->n_ranks = 0;
    for (uint32_t c = 0; c < e->n_where && set->has == 0; c++)
        set->has = find_ranks(e, c) & ~done;
    while (set->has != before) {
        before = set->has;
        for (uint32_t c = 0; c < e->n_where; c++)
            set->has |= find_ranks(e, c) & set->has ? find_ranks(e, c) : 0;
    }
    for (uint32_t k = 0; k < e->n_ranks; k++)
        if (set->has >> k & 1)
            set->ranks[set->n_ranks++] = e->ranks[k];
    if (set->n_ranks > 0)
        put_longest_last(w, keep, set);
    return set->n_ranks > 0;
}

/* Number of positions of rank number `last` that satisfy all conditions of a set while the ranks before it are at `at`. */
static int64_t count_last(const set_condition *conditions, uint32_t n, uint32_t last, int64_t extent, const int64_t *at)
{
    dfl_i128 low = 0, high = extent - 1;

    for (uint32_t c = 0; c < n; c++) {
        dfl_i128 fixed = conditions[c].offset, slope = conditions[c].coef[last], bound;

        for (uint32_t k = 0; k < last; k++)
            fixed += (dfl_i128)conditions[c].coef[k] * at[k];
        if (slope == 0 && fixed < 0)
            return 0;
        if (slope > 0) { /* x >= -fixed / slope, rounded up */
            bound = -fixed / slope + (-fixed % slope > 0);
            low = bound > low ? bound : low;
        } else if (slope < 0) { /* x <= fixed / -slope, rounded down */
            bound = fixed / -slope - (fixed % -slope < 0);
            high = bound < high ? bound : high;
        }
    }
    return high < low ? 0 : (int64_t)(high - low + 1);
}

/* Number of combinations of the kept ranks of a set for which some combination of the others satisfies its conditions. */
static bool count_set(const dfl_workload *w, const dfl_einsum *e, const condition_set *set, dfl_i128 *out)
{
    const uint32_t last = set->n_ranks - 1;
    const int64_t extent = w->ranks[set->ranks[last]].extent;
    set_condition conditions[MOST_CONDITIONS];
    int64_t at[MOST_RANKS] = { 0 };
    uint32_t k, n = 0;
    bool is_found = false;

    for (uint32_t c = 0; c < e->n_where; c++) {
        if (!(find_ranks(e, c) & set->has))
            continue;
        conditions[n].offset = e->where[c].sum.offset;
        for (k = 0; k <= last; k++)
            conditions[n].coef[k] = dfl_index_coef(&e->where[c].sum, set->ranks[k]);
        n++;
    }
    *out = 0;
    do {
        const int64_t found = count_last(conditions, n, last, extent, at);

        is_found |= found > 0;
        for (k = 0; k < last && ++at[k] == w->ranks[set->ranks[k]].extent; k++)
            at[k] = 0;
        if (k < set->n_free)
            continue; /* of the same combination of kept ranks */
        if (dfl_add(*out, set->is_last_kept ? found : is_found, out))
            return true;
        is_found = false;
    } while (k < last);
    return false;
}

int64_t dfl_conditions_visits_kept(const dfl_workload *w, const dfl_einsum *e, const bool *keep)
{
    int64_t sum = 0, visits;
    condition_set set;

    if (e->n_where > MOST_CONDITIONS || (e->n_where > 0 && e->n_ranks > MOST_RANKS))
        return INT64_MAX;
    for (uint64_t done = 0; find_set(w, e, keep, done, &set); done |= set.has) {
        visits = 1;
        for (uint32_t k = 0; k + 1 < set.n_ranks; k++)
            if (__builtin_mul_overflow(visits, w->ranks[set.ranks[k]].extent, &visits))
                return INT64_MAX;
        if (__builtin_add_overflow(sum, visits, &sum))
            return INT64_MAX;
    }
    return sum;
}

int64_t dfl_conditions_visits(const dfl_workload *w, const dfl_einsum *e) { return dfl_conditions_visits_kept(w, e, NULL); }

bool dfl_conditions_count_kept(const dfl_workload *w, const dfl_einsum *e, const bool *keep, dfl_i128 *out)
{
    condition_set set;
    dfl_i128 part;

    *out = 1;
    for (uint32_t c = 0; c < e->n_where; c++)
        *out = find_ranks(e, c) == 0 && e->where[c].sum.offset < 0 ? 0 : *out;
    for (uint64_t done = 0; *out > 0 && find_set(w, e, keep, done, &set); done |= set.has)
        if (count_set(w, e, &set, &part) || dfl_mul(*out, part, out))
            return true;
    return false;
}

bool dfl_conditions_count(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    return dfl_conditions_count_kept(w, e, NULL, out);
}

bool dfl_conditions_equal(const dfl_einsum *a, const dfl_einsum *b)
{
    if (a->n_where != b->n_where)
        return false;
    for (uint32_t c = 0; c < a->n_where; c++)
        if (!dfl_index_equal(&a->where[c].sum, &b->where[c].sum))
            return false;
    return true;
}

bool dfl_conditions_have_rank(const dfl_einsum *e, uint32_t rank)
{
    for (uint32_t c = 0; c < e->n_where; c++)
        if (dfl_index_coef(&e->where[c].sum, rank) != 0)
            return true;
    return false;
}
