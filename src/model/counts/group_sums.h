/*
 * One group of a point (delta.h): enumerates the positions of its loops and sums what its sets contribute. Positions
 * far from the ends of the shape repeat by translation and are counted once, times their number.
 */
#ifndef DFL_MODEL_COUNTS_GROUP_SUMS_H
#define DFL_MODEL_COUNTS_GROUP_SUMS_H

#include "model/counts/footprint.h"

/* Sums over the positions of the first k loops; inner loops stand at their first (A) or last (leaving) iteration. */
typedef struct {
    dfl_i128 enter, kept;              /* A and B of delta.h */
    dfl_i128 leave, left_kept;         /* the same with the steps exchanged */
} dfl_group_change;

typedef struct {
    dfl_group_change *hold;                    /* [k]: first k loops fixed, the others wrap around; k <= n_lines */
    dfl_group_change *adv;                     /* [k], k > 0: loop k advances */
    dfl_i128 present;                  /* over all positions */
    int64_t largest;
    uint64_t covering;                 /* views that held everything at every position */
    bool equal;                        /* all views were equal at every position */
    bool is_widened;                      /* a box held more than what is touched */
    bool late;                         /* an index entered an instance while it stayed in another one of its union */
    bool overflow;
} dfl_group_sums;

typedef struct dfl_group_sums_entry {
    dfl_sharing how;                   /* restricted to the group's steps */
    uint32_t run;                      /* in which the sums were taken */
    dfl_group_sums sums;                     /* its arrays are the slot's */
    struct dfl_group_sums_entry *next;
} dfl_group_sums_entry;

/* Size of the group's set in one instance at one position. */
int64_t dfl_group_sums_size(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                            const int64_t *pos);
/* Overwrites `out`, whose arrays have n_lines + 1 items each; false when the budget stopped. */
bool dfl_group_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         dfl_group_sums *out);

#endif
