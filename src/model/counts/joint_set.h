/*
 * Joint sets: the elements that an access touches if the conditions of a `where` clause connect several ranks, or if
 * one rank indexes several dimensions. The dimensions that are connected in this way belong to one group. The set of
 * such a group consists of index vectors, which this file numbers in row-major order.
 */
#ifndef DFL_MODEL_COUNTS_JOINT_SET_H
#define DFL_MODEL_COUNTS_JOINT_SET_H

#include "model/sets/nest.h"

/* The indices of one access in the dimensions of a group, and the conditions, as integer functions of ranks. */
typedef struct {
    uint32_t n_ranks;
    uint32_t n_indexing;       /* the first `n_indexing` ranks index some dimension; the others occur in conditions only */
    uint32_t n_dims;
    const int64_t *extents;    /* [dimension]: extent of the shape */
    const int64_t *coefs;      /* [dimension][rank] */
    const int64_t *offsets;    /* [dimension] */
    uint32_t n_where;
    const int64_t *slopes;     /* [condition][rank] */
    const int64_t *fixed;      /* [condition]: the condition holds if fixed + sum of slope * rank >= 0 */
} dfl_joint_access;

/* Smallest and largest value of a condition over a box of ranks. No interval of the box may be empty. */
void dfl_joint_access_range(const dfl_joint_access *access, uint32_t condition, const dfl_interval *box, dfl_i128 *least,
                            dfl_i128 *most);
/* Adds the row-major numbers of the index vectors inside the shape that the access touches at points of the box that
   satisfy all conditions. Without dimensions, adds 0 if such a point exists. No interval of the box may be empty. The
   work is proportional to the number of positions of all ranks but the last; it spends budget of the arena. */
void dfl_joint_access_add(dfl_arena *arena, const dfl_joint_access *access, const dfl_interval *box, dfl_interval_set *out);

#endif
