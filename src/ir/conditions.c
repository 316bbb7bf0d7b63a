#include "ir/conditions.h"

enum { MOST_RANKS = 64, MOST_CONDITIONS = 64 };

/* A condition: offset + sum of coef[k] * rank k >= 0, with the k-th rank of the einsum. */
typedef struct { int64_t offset, coef[MOST_RANKS]; } condition;

/* The conditions of an einsum, over the ranks that are left. */
typedef struct {
    uint32_t n_ranks, n;
    int64_t extent[MOST_RANKS];
    uint64_t left, kept;       /* bit k: rank k occurs in conditions; its combinations are counted */
    bool is_never;             /* no combination satisfies all */
    condition where[MOST_CONDITIONS];
} condition_system;

/* Ranks that conditions join. The ranks before the last one are visited, without `is_star`: those that are not kept first. With
   `is_star` the first one is visited, and each condition has one other rank at most. */
typedef struct {
    uint32_t ranks[MOST_RANKS], n;
    uint32_t n_free;           /* without `is_star`: ranks[0 .. n_free - 1] are visited and not kept */
    bool is_star;
} component;

typedef struct { dfl_i128 low, high; } interval;

static uint64_t bit(uint32_t k) { return UINT64_C(1) << k; }

static uint64_t ranks_of(const condition_system *s, uint32_t c)
{
    uint64_t out = 0;

    for (uint32_t k = 0; k < s->n_ranks; k++)
        out |= s->where[c].coef[k] != 0 ? bit(k) : 0;
    return out & s->left;
}

/* Positions of rank k that satisfy a condition in which the other ranks have the value `fixed`. */
static void narrow(interval *x, dfl_i128 slope, dfl_i128 fixed)
{
    dfl_i128 bound;

    if (slope > 0) { /* x >= -fixed / slope, rounded up */
        bound = -fixed / slope + (-fixed % slope > 0);
        x->low = bound > x->low ? bound : x->low;
    } else if (slope < 0) { /* x <= fixed / -slope, rounded down */
        bound = fixed / -slope - (fixed % -slope < 0);
        x->high = bound < x->high ? bound : x->high;
    } else if (fixed < 0) {
        x->high = x->low - 1;
    }
}

/* The positions of rank k that satisfy the conditions that have it alone. */
static interval own_interval(const condition_system *s, uint32_t k)
{
    interval x = { 0, s->extent[k] - 1 };

    for (uint32_t c = 0; c < s->n; c++)
        if (ranks_of(s, c) == bit(k))
            narrow(&x, s->where[c].coef[k], s->where[c].offset);
    return x;
}

/* Takes out a rank that is not kept, if all conditions with other ranks ask for a small value or all for a large one: some value
   satisfies them if the smallest or the largest one does. */
static bool take_out(condition_system *s, uint32_t k)
{
    const interval own = own_interval(s, k);
    int64_t at[MOST_CONDITIONS];
    bool rises = false, falls = false;

    for (uint32_t c = 0; c < s->n; c++)
        if ((ranks_of(s, c) & ~bit(k)) != 0) {
            rises |= s->where[c].coef[k] > 0;
            falls |= s->where[c].coef[k] < 0;
        }
    if (rises && falls)
        return false;
    s->is_never |= own.low > own.high;
    for (uint32_t c = 0; c < s->n && !s->is_never; c++)
        if (__builtin_mul_overflow(s->where[c].coef[k], (int64_t)(rises ? own.high : own.low), &at[c]) ||
            __builtin_add_overflow(s->where[c].offset, at[c], &at[c]))
            return false;
    for (uint32_t c = 0; c < s->n && !s->is_never; c++)
        s->where[c].offset = at[c];
    s->left &= ~bit(k);
    return true;
}

static bool open_system(const dfl_workload *w, const dfl_einsum *e, const bool *keep, condition_system *s)
{
    s->n = s->n_ranks = 0; /* the arrays are large: what is used is set below */
    s->left = s->kept = 0;
    s->is_never = false;
    if (e->n_where > MOST_CONDITIONS || (e->n_where > 0 && e->n_ranks > MOST_RANKS))
        return false;
    s->n = e->n_where;
    s->n_ranks = e->n_where > 0 ? e->n_ranks : 0;
    for (uint32_t k = 0; k < s->n_ranks; k++) {
        s->extent[k] = w->ranks[e->ranks[k]].extent;
        s->kept |= keep == NULL || keep[e->ranks[k]] ? bit(k) : 0;
        for (uint32_t c = 0; c < s->n; c++) {
            s->where[c].offset = e->where[c].sum.offset;
            s->where[c].coef[k] = dfl_index_coef(&e->where[c].sum, e->ranks[k]);
            s->left |= s->where[c].coef[k] != 0 ? bit(k) : 0;
        }
    }
    for (uint32_t c = 0; c < s->n; c++)
        s->where[c].offset = e->where[c].sum.offset;
    for (bool more = true; more && !s->is_never;) {
        more = false;
        for (uint32_t k = 0; k < s->n_ranks && !s->is_never; k++)
            if ((s->left & ~s->kept & bit(k)) != 0 && take_out(s, k))
                more = true;
    }
    for (uint32_t c = 0; c < s->n; c++)
        s->is_never |= ranks_of(s, c) == 0 && s->where[c].offset < 0;
    return true;
}

/* ---- components ---- */

static void swap_ranks(component *x, uint32_t a, uint32_t b)
{
    const uint32_t rank = x->ranks[a];

    x->ranks[a] = x->ranks[b];
    x->ranks[b] = rank;
}

/* Whether each condition of a component has one rank at most beside rank k. */
static bool is_center(const condition_system *s, uint64_t has, uint32_t k)
{
    for (uint32_t c = 0; c < s->n; c++) {
        const uint64_t others = ranks_of(s, c) & has & ~bit(k);

        if ((others & (others - 1)) != 0)
            return false;
    }
    return (s->kept & bit(k)) != 0;
}

/* Puts the ranks of a component in order: the shortest center first; or the longest one last, of those that are not kept if there
   are any, and the others that are not kept first. */
static void sort_component(const condition_system *s, uint64_t has, component *x)
{
    uint32_t first = x->n, last = 0;

    for (uint32_t k = 0; k < x->n; k++) {
        const uint32_t rank = x->ranks[k], longest = x->ranks[last];
        const bool is_kept = (s->kept & bit(rank)) != 0, is_longest_kept = (s->kept & bit(longest)) != 0;

        if (is_center(s, has, rank) && (first == x->n || s->extent[rank] < s->extent[x->ranks[first]]))
            first = k;
        if ((is_longest_kept && !is_kept) || (is_longest_kept == is_kept && s->extent[rank] > s->extent[longest]))
            last = k;
    }
    x->is_star = first < x->n;
    x->n_free = 0;
    if (x->is_star) {
        swap_ranks(x, 0, first);
        return;
    }
    swap_ranks(x, x->n - 1, last);
    for (uint32_t k = 0; k + 1 < x->n; k++)
        if ((s->kept & bit(x->ranks[k])) == 0)
            swap_ranks(x, k, x->n_free++);
}

/* Finds the next component without the ranks in `done`, and adds its ranks to them. False if there is none. */
static bool find_component(const condition_system *s, uint64_t *done, component *x)
{
    uint64_t has = 0, before = 0;

    for (uint32_t c = 0; c < s->n && has == 0; c++)
        has = ranks_of(s, c) & ~*done;
    while (has != before) {
        before = has;
        for (uint32_t c = 0; c < s->n; c++)
            has |= (ranks_of(s, c) & has) != 0 ? ranks_of(s, c) : 0;
    }
    x->n = 0;
    for (uint32_t k = 0; k < s->n_ranks; k++)
        if ((has & bit(k)) != 0)
            x->ranks[x->n++] = k;
    if (x->n > 0)
        sort_component(s, has, x);
    *done |= has;
    return x->n > 0;
}

/* Positions of a rank that satisfy all conditions of its component that have it, while visited ranks are at `at`. */
static int64_t count_rank(const condition_system *s, const component *x, uint32_t rank, uint32_t n_visited, const int64_t *at)
{
    interval in = { 0, s->extent[rank] - 1 };

    for (uint32_t c = 0; c < s->n; c++) {
        dfl_i128 fixed = s->where[c].offset;

        if (s->where[c].coef[rank] == 0)
            continue;
        for (uint32_t k = 0; k < n_visited; k++)
            fixed += (dfl_i128)s->where[c].coef[x->ranks[k]] * at[k];
        narrow(&in, s->where[c].coef[rank], fixed);
    }
    return in.high < in.low ? 0 : (int64_t)(in.high - in.low + 1);
}

/* Whether visited ranks satisfy the conditions that have no other rank of the component. */
static bool are_satisfied(const condition_system *s, const component *x, uint32_t n_visited, const int64_t *at)
{
    uint64_t visited = 0;

    for (uint32_t k = 0; k < n_visited; k++)
        visited |= bit(x->ranks[k]);
    for (uint32_t c = 0; c < s->n; c++) {
        const uint64_t has = ranks_of(s, c);
        dfl_i128 value = s->where[c].offset;

        for (uint32_t k = 0; k < n_visited; k++)
            value += (dfl_i128)s->where[c].coef[x->ranks[k]] * at[k];
        if ((has & visited) != 0 && (has & ~visited) == 0 && value < 0)
            return false;
    }
    return true;
}

/* Sum over the positions of the center of the product of the positions of the others. True on overflow. */
static bool count_star(const condition_system *s, const component *x, dfl_i128 *out)
{
    const interval own = own_interval(s, x->ranks[0]);

    *out = 0;
    for (dfl_i128 i = own.low; i <= own.high; i++) {
        const int64_t at = (int64_t)i;
        dfl_i128 product = 1;

        for (uint32_t k = 1; k < x->n && product > 0; k++) {
            const int64_t n = count_rank(s, x, x->ranks[k], 1, &at);

            if (dfl_mul(product, (s->kept & bit(x->ranks[k])) != 0 ? n : n > 0, &product))
                return true;
        }
        if (dfl_add(*out, product, out))
            return true;
    }
    return false;
}

/* Number of combinations of the kept ranks of a component for which some combination of the others satisfies its conditions. True
   on overflow. */
static bool count_component(const condition_system *s, const component *x, dfl_i128 *out)
{
    const uint32_t last = x->n - 1;
    const bool is_last_kept = (s->kept & bit(x->ranks[last])) != 0;
    int64_t at[MOST_RANKS] = { 0 };
    bool is_found = false;
    uint32_t k;

    if (x->is_star)
        return count_star(s, x, out);
    *out = 0;
    do {
        const int64_t found = are_satisfied(s, x, last, at) ? count_rank(s, x, x->ranks[last], last, at) : 0;

        is_found |= found > 0;
        for (k = 0; k < last && ++at[k] == s->extent[x->ranks[k]]; k++)
            at[k] = 0;
        if (k < x->n_free)
            continue; /* of the same combination of kept ranks */
        if (dfl_add(*out, is_last_kept ? found : is_found, out))
            return true;
        is_found = false;
    } while (k < last);
    return false;
}

/* ---- counts ---- */

/* Number of positions that a count of the components visits; INT64_MAX on overflow. */
static int64_t count_visits(const condition_system *s, const component *all, uint32_t n)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        const component *x = &all[i];
        int64_t visits = x->is_star && x->n > 1 ? s->extent[x->ranks[0]] : 1;

        for (uint32_t k = 0; !x->is_star && k + 1 < x->n; k++)
            if (__builtin_mul_overflow(visits, s->extent[x->ranks[k]], &visits))
                return INT64_MAX;
        if (__builtin_add_overflow(sum, visits, &sum))
            return INT64_MAX;
    }
    return sum;
}

/* Lists the components of a system, none if no position satisfies it. Returns their number. */
static uint32_t list_components(const condition_system *s, component all[MOST_RANKS + 1])
{
    uint32_t n = 0;

    for (uint64_t done = 0; !s->is_never && find_component(s, &done, &all[n]);)
        n++;
    return n;
}

int64_t dfl_conditions_visits(const dfl_workload *w, const dfl_einsum *e)
{
    condition_system s;
    component all[MOST_RANKS + 1];

    return open_system(w, e, NULL, &s) ? count_visits(&s, all, list_components(&s, all)) : INT64_MAX;
}

bool dfl_conditions_count_kept(const dfl_workload *w, const dfl_einsum *e, const bool *keep, int64_t most, int64_t *visits,
                               dfl_i128 *out)
{
    condition_system s;
    component all[MOST_RANKS + 1];
    const bool is_open = open_system(w, e, keep, &s);
    const uint32_t n = is_open ? list_components(&s, all) : 0;
    dfl_i128 part;

    *out = 0;
    if (__builtin_add_overflow(*visits, is_open ? count_visits(&s, all, n) : INT64_MAX, visits))
        *visits = INT64_MAX;
    if (*visits > most)
        return false;
    *out = s.is_never ? 0 : 1;
    for (uint32_t i = 0; i < n && *out > 0; i++) {
        const component *x = &all[i];

        if (x->n == 1) { /* positions of one rank are an interval */
            const interval own = own_interval(&s, x->ranks[0]);

            part = own.high < own.low ? 0 : (s.kept & bit(x->ranks[0])) != 0 ? own.high - own.low + 1 : 1;
        } else if (count_component(&s, x, &part)) {
            return true;
        }
        if (dfl_mul(*out, part, out))
            return true;
    }
    return !is_open;
}

bool dfl_conditions_count(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    int64_t visits = 0;

    return dfl_conditions_count_kept(w, e, NULL, INT64_MAX, &visits, out);
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

bool dfl_conditions_is_end(const dfl_index *sum, const dfl_index *index, int64_t extent)
{
    const int64_t sign = index->n_terms > 0 && dfl_index_coef(sum, index->terms[0].rank) == -index->terms[0].coef ? -1 : 1;
    bool is_end = sum->n_terms == index->n_terms && sum->offset == (sign < 0 ? extent - 1 - index->offset : index->offset);

    for (uint32_t t = 0; t < index->n_terms && is_end; t++)
        is_end = dfl_index_coef(sum, index->terms[t].rank) == sign * index->terms[t].coef;
    return is_end;
}

bool dfl_conditions_cut(const dfl_workload *w, const dfl_einsum *e, const dfl_access *a, uint32_t dim)
{
    const dfl_index *index = &a->index[dim];

    for (uint32_t k = 0; k < e->n_where; k++)
        for (uint32_t t = 0; t < index->n_terms; t++)
            if (dfl_index_coef(&e->where[k].sum, index->terms[t].rank) != 0 &&
                !dfl_conditions_is_end(&e->where[k].sum, index, w->tensors[a->tensor].extents[dim]))
                return true;
    return false;
}
