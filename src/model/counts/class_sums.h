/*
 * Sums of ragged groups by classes of instances. One rank decides such a group, and no index falls outside the shape. The
 * pieces of the rank in all instances then have few different lengths: below each loop the length of a full tile, and what a
 * piece of each length above leaves for its last tile. Instances with equal pieces at the present step and at the step before
 * have equal sets, up to a translation, so they count together. The work depends on the number of loops, not on the number
 * of instances. MODEL.md, section 2.8.
 */
#ifndef DFL_MODEL_COUNTS_CLASS_SUMS_H
#define DFL_MODEL_COUNTS_CLASS_SUMS_H

#include "model/counts/group_sums.h"

/* Computes the sums of a group into `out`, whose arrays have n_lines + 1 items each, all zero. `only` restricts the
   coordinates; NULL = all of them. False if the group has no classes or too many of them; the arrays are then undefined.
   `covering` and `equal` are those of one reference. */
bool dfl_class_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_group_sums *out);

/* Finds coordinates along spatial step `i` that stand for all: the sets of a group at a coordinate are those at the highest of
   `starts` that is not above it, up to a translation, at every position of the loops and every coordinate of the other steps.
   Adds them to the `*n` ascending numbers at `starts`, of which the first is 0, at most `most` in all. False if the coordinates
   may differ in more than the lengths of their pieces, or if there are more. The group must have its present sizes. */
bool dfl_class_starts_add(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, uint32_t i,
                          int64_t *starts, uint32_t *n, uint32_t most);

#endif
