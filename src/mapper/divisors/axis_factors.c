/* Lists of the ways to put parts of ranks on an axis. */
#include "mapper/divisors/axis_factors.h"

#include <stdlib.h>
#include <string.h>

#include "support/hash.h"

enum { STEPS = 1 << 14 };

static dfl_axis_factor_lists *lists_of(dfl_pareto_set *rows)
{
    if (rows->portions == NULL)
        rows->portions = DFL_NEW(rows->arena, dfl_axis_factor_lists);
    return rows->portions;
}

uint32_t dfl_axis_factors_sort(dfl_pareto_set *rows, dfl_axis_factor_sort sort)
{
    dfl_axis_factor_lists *all = lists_of(rows);
    uint32_t i = 0;

    while (i < all->n_sorts && (all->sort[i].over != sort.over || all->sort[i].under != sort.under))
        i++;
    if (i == all->n_sorts && i < DFL_PORTION_SORTS)
        all->sort[all->n_sorts++] = sort;
    return i;
}

typedef struct {
    const dfl_axis_factors *list;
    const dfl_problem_axis *axis;
    double filled;
    uint32_t n, steps;           /* found, and left to look for them */
    dfl_axis_factor parts, *found;
} maker;

/* Adds all ways with the parts of the ranks before `r` that are chosen; false if there are too many. */
static bool add_from(maker *k, uint32_t r, int64_t used, bool others)
{
    const uint32_t ranks = k->axis->ranks & ~((1u << r) - 1);

    if (ranks == 0) {
        if (others && (double)used < k->filled + 1)
            return true;
        if (k->n == DFL_PORTIONS)
            return false;
        k->parts.used = used;
        k->found[k->n++] = k->parts;
        return true;
    }
    r = (uint32_t)__builtin_ctz(ranks);
    for (int64_t d = k->axis->size / used < k->list->left[r] ? k->axis->size / used : k->list->left[r]; d > 0; d--) {
        if (k->steps == 0)
            return false;
        k->steps--;
        if (k->list->left[r] % d != 0)
            continue;
        k->parts.of[r] = d;
        if (!add_from(k, r + 1, used * d, others || (d > 1 && (k->axis->others >> r & 1))))
            return false;
    }
    return true;
}

/* Most instances first, then many parts of the first ranks. */
static int by_used(const void *a, const void *b)
{
    const dfl_axis_factor *x = a, *y = b;

    if (x->used != y->used)
        return x->used > y->used ? -1 : 1;
    for (uint32_t r = 0; r < DFL_PROBLEM_RANKS; r++)
        if (x->of[r] != y->of[r])
            return x->of[r] > y->of[r] ? -1 : 1;
    return 0;
}

static void make(dfl_pareto_set *rows, dfl_axis_factors *list, const double *outside)
{
    const dfl_problem *problem = list->problem;
    maker k = { .list = list, .axis = &problem->axis[list->axis], .steps = STEPS };

    k.found = DFL_NEW_ARRAY(rows->scratch, dfl_axis_factor, DFL_PORTIONS);
    for (uint32_t r = 0; r < DFL_PROBLEM_RANKS; r++)
        k.parts.of[r] = 1;
    list->n = DFL_NONE;
    if (k.axis->size > DFL_PROBLEM_FILLED)
        return;
    k.filled = dfl_problem_filled(problem, list->axis, outside);
    if (!add_from(&k, 0, 1, false))
        return;
    qsort(k.found, k.n, sizeof *k.found, by_used);
    list->n = k.n;
    list->parts = DFL_NEW_ARRAY(rows->arena, dfl_axis_factor, (size_t)k.n + 1);
    memcpy(list->parts, k.found, k.n * sizeof *k.found);
}

dfl_axis_factors *dfl_axis_factors_of(dfl_pareto_set *rows, const dfl_problem *problem, uint32_t axis, const double *outside)
{
    dfl_axis_factors **link, *list;
    int64_t left[DFL_PROBLEM_RANKS] = { 0 };

    for (uint32_t ranks = problem->axis[axis].ranks; ranks != 0; ranks &= ranks - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(ranks);
        left[r] = problem->extent[r] / (int64_t)outside[r];
    }
    link = &lists_of(rows)->slot[dfl_hash(left, sizeof left, axis) % DFL_PORTION_SLOTS];
    for (list = *link; list != NULL; list = list->next)
        if (list->axis == axis && list->problem == problem && memcmp(list->left, left, sizeof left) == 0)
            return list->n == DFL_NONE ? NULL : list;
    list = DFL_NEW(rows->arena, dfl_axis_factors);
    list->problem = problem;
    list->axis = axis;
    memcpy(list->left, left, sizeof left);
    list->next = *link;
    *link = list;
    make(rows, list, outside);
    return list->n == DFL_NONE ? NULL : list;
}

const double *dfl_axis_factors_values(dfl_pareto_set *rows, dfl_axis_factors *list, uint32_t sort)
{
    const dfl_axis_factor_sort *of = &rows->portions->sort[sort];
    double *value;

    if (list->value[sort] != NULL)
        return list->value[sort];
    value = DFL_NEW_ARRAY(rows->arena, double, (size_t)list->n + DFL_PORTION_LANES);
    for (uint32_t i = 0; i < list->n; i++) {
        value[i] = 1;
        for (uint32_t r = 0; r < list->problem->n_ranks; r++) {
            double parts = (double)list->parts[i].of[r];
            value[i] *= of->over >> r & 1 ? parts : of->under >> r & 1 ? 1 / parts : 1;
        }
    }
    return list->value[sort] = value;
}
