/*
 * The ways to put parts of ranks on one axis, when so much of each rank is left by the axes outside of it: a list for every
 * axis and what is left, kept from template to template of a job. Parts of every rank divide what is left of it, all together
 * are no more than the axis has instances, and others than those that share transfers are among them only where more
 * instances are at work. Where there are very many, or they take long to find, there is no list.
 *
 * What a way does to the factors of costs is a product: parts of some ranks multiply, those of others divide. For each such
 * sort of product the list has its values, so that bounds of all ways are sums of few vectors.
 */
#ifndef DFL_MAPPER_DIVISORS_PORTIONS_H
#define DFL_MAPPER_DIVISORS_PORTIONS_H

#include "mapper/divisors/rows.h"

enum {
    DFL_PORTIONS = 1 << 10,          /* ways in a list at most, */
    DFL_PORTION_LANES = 4,           /* that are computed at once */
    DFL_PORTION_SORTS = 64,          /* sorts of products of a job */
    DFL_PORTION_SLOTS = 1 << 10,
};

typedef struct { int64_t used, of[DFL_JOB_RANKS]; } dfl_portion; /* all together, and of each rank */

typedef struct dfl_portions {
    const dfl_job *job;
    uint32_t axis, n;                /* n = DFL_NONE: too many */
    int64_t left[DFL_JOB_RANKS];     /* of the ranks that may be spread, else 0 */
    dfl_portion *parts;              /* [way], those with most instances at work first */
    const double *value[DFL_PORTION_SORTS]; /* [sort][way], NULL = not asked for; 0 up to a multiple of DFL_PORTION_LANES */
    struct dfl_portions *next;
} dfl_portions;

/* Masks of the ranks whose parts multiply, and divide. */
typedef struct { uint32_t over, under; } dfl_portion_sort;

/* What a set of rows knows of a job. */
typedef struct dfl_portion_lists {
    dfl_portions *slot[DFL_PORTION_SLOTS];
    dfl_portion_sort sort[DFL_PORTION_SORTS];
    uint32_t n_sorts;
} dfl_portion_lists;

/* The number of a sort; DFL_PORTION_SORTS: there is no room for it. */
uint32_t dfl_portions_sort(dfl_rows *rows, dfl_portion_sort sort);
/* The list for an axis of a job; NULL: there are too many ways. `outside` are the parts of each rank on axes outside of it. */
dfl_portions *dfl_portions_of(dfl_rows *rows, const dfl_job *job, uint32_t axis, const double *outside);
/* Its values of a sort. */
const double *dfl_portions_values(dfl_rows *rows, dfl_portions *list, uint32_t sort);

#endif
