/*
 * The ways to put parts of ranks on one axis, when so much of each rank is left by the axes outside of it: a list for every
 * axis and what is left, kept from template to template of a problem. Parts of every rank divide what is left of it, all together
 * are no more than the axis has instances, and others than those that share transfers are among them only where more
 * instances are at work. Where there are very many, or they take long to find, there is no list.
 *
 * What a way does to the factors of costs is a product: parts of some ranks multiply, those of others divide. For each such
 * sort of product the list has its values, so that bounds of all ways are sums of few vectors.
 */
#ifndef DFL_MAPPER_DIVISORS_AXIS_FACTORS_H
#define DFL_MAPPER_DIVISORS_AXIS_FACTORS_H

#include "mapper/divisors/pareto_set.h"

enum {
    DFL_PORTIONS = 1 << 10,          /* ways in a list at most, */
    DFL_PORTION_LANES = 4,           /* that are computed at once */
    DFL_PORTION_SORTS = 64,          /* sorts of products of a problem */
    DFL_PORTION_SLOTS = 1 << 10,
};

typedef struct { int64_t used, of[DFL_PROBLEM_RANKS]; } dfl_axis_factor; /* all together, and of each rank */

typedef struct dfl_axis_factors {
    const dfl_problem *problem;
    uint32_t axis, n;                /* n = DFL_NONE: too many */
    int64_t left[DFL_PROBLEM_RANKS]; /* of the ranks that may be spread, else 0 */
    dfl_axis_factor *parts;          /* [way], those with most instances at work first */
    const double *value[DFL_PORTION_SORTS]; /* [sort][way], NULL = not asked for; 0 up to a multiple of DFL_PORTION_LANES */
    struct dfl_axis_factors *next;
} dfl_axis_factors;

/* Masks of the ranks whose parts multiply, and divide. */
typedef struct { uint32_t over, under; } dfl_axis_factor_sort;

/* What a set of rows knows of a problem. */
typedef struct dfl_axis_factor_lists {
    dfl_axis_factors *slot[DFL_PORTION_SLOTS];
    dfl_axis_factor_sort sort[DFL_PORTION_SORTS];
    uint32_t n_sorts;
} dfl_axis_factor_lists;

/* The index of a sort of products in `sort` of the lists; DFL_PORTION_SORTS if the array is full. Adds the sort if it is new. */
uint32_t dfl_axis_factors_sort(dfl_pareto_set *rows, dfl_axis_factor_sort sort);
/* The list for an axis of a problem; NULL: there are too many ways. `outside` are the parts of each rank on axes outside of it.
   */
dfl_axis_factors *dfl_axis_factors_of(dfl_pareto_set *rows, const dfl_problem *problem, uint32_t axis, const double *outside);
/* Its values of a sort. */
const double *dfl_axis_factors_values(dfl_pareto_set *rows, dfl_axis_factors *list, uint32_t sort);

#endif
