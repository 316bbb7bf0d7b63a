/*
 * Sums of one group of a footprint over the positions of its loops: the sizes of its sets, and the sizes of the parts
 * that stay. Positions far from the borders of the shape repeat by translation; such positions are counted once, times
 * their number. So the work depends on the number of loops and of clipped positions, not on extents.
 */
#ifndef DFL_MODEL_COUNTS_GROUP_SUMS_H
#define DFL_MODEL_COUNTS_GROUP_SUMS_H

#include "model/counts/footprint.h"

/* Sums over the positions of some outer loops of a group. Inner loops stand at their first iteration for entering, and
   at their last one for leaving. */
typedef struct {
    dfl_i128 enter, kept;      /* A and B of delta.h for entering elements */
    dfl_i128 leave, left_kept; /* A and B of delta.h with the two steps exchanged, for leaving elements */
    bool late;                 /* at some position an index enters one instance of a union while it stays in another */
} dfl_group_change;

/* Sums of a group over the positions of its loops. */
typedef struct dfl_group_sums {
    dfl_group_change *hold; /* [k], k <= n_lines: sums over the positions of the first k loops; the other loops wrap around */
    dfl_group_change *adv;  /* [k], k > 0: sums over the positions at which the k-th loop advances */
    dfl_i128 present;       /* sum of the sizes over all positions */
    int64_t largest;
    uint64_t covering;      /* bit set: references that touched the whole tile at every position */
    bool equal;             /* all references touched the same indices at every position */
    bool is_widened;        /* a bounding box held more than the touched indices */
    bool overflow;
} dfl_group_sums;

/* Sums of a group under one way of sharing, computed once per run. */
typedef struct dfl_group_sums_entry {
    dfl_sharing how;     /* way of sharing, restricted to the steps of the group */
    uint32_t run;        /* serial number of the run that computed the sums */
    dfl_group_sums sums; /* sums; the entry owns their arrays */
    struct dfl_group_sums_entry *next;
} dfl_group_sums_entry;

/* Sums of a group under one way of sharing and one restriction, computed in one run. */
typedef struct dfl_restricted_sums {
    dfl_sharing how;      /* way of sharing and restriction, reduced to the steps of the group */
    uint64_t pinned, ranged;
    int64_t at[DFL_MAX_GROUP]; /* [position in the group's spatial steps]: coordinate of a pinned step, else 0 */
    int64_t lo, hi;
    bool lower;
    dfl_group_sums sums;
    struct dfl_restricted_sums *next;
} dfl_restricted_sums;

/* Size of the set of a group in one instance at one position. */
int64_t dfl_group_sums_size(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                            const int64_t *pos);
/* Computes the sums of a group into `out`, whose arrays have n_lines + 1 items each. `only` restricts the coordinates; NULL
   = all coordinates. The pinned steps of `only` are among how->first_only. False if the budget is spent. */
bool dfl_group_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_group_sums *out);

#endif
