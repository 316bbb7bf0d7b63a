/*
 * Sums of a joint group, whose set conditions of `where` decide, without a visit of every position. Positions and coordinates
 * from which the sets go on alike are in one state: the pieces of all ranks are equally long, and each condition has the same
 * value at the low corner of the pieces, or holds, or fails, throughout them. The steps of the group are taken from the
 * outermost on, and positions in one state are counted together (derivation: MODEL.md, section 2.8). So the work depends on the
 * number of values of a condition in tiles that its border cuts, not on extents and not on instances.
 */
#ifndef DFL_MODEL_COUNTS_JOINT_SUMS_H
#define DFL_MODEL_COUNTS_JOINT_SUMS_H

#include "model/counts/group_sums.h"

/* Adds the change of the set of one choice of coordinates from `prev` to `pos`, positions by step number, to `out`; without
   `compare`, the size at `pos` only. The set has all coordinates of the steps in the bit set `united`, and those inside a
   tile. */
typedef void dfl_position_change(void *context, const int64_t *pos, const int64_t *prev, uint64_t united, bool compare,
                                 dfl_group_change *out);

/* Computes `hold`, `adv` and `present` of a joint group into `out`, whose arrays have n_lines + 1 items each, all zero. False,
   with `out` unchanged, if the references of the group move differently or leave the shape: then positions in one state may
   differ. The work spends budget of the nest's arena. */
bool dfl_joint_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_position_change *change, void *context, dfl_group_sums *out);

#endif
