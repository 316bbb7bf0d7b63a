/*
 * Sums of even groups, which need no walk. A group is even if one rank decides it, every loop divides the piece that it
 * cuts, and no index falls outside the shape. The sets at different positions and coordinates are then disjoint and
 * equally large, so every sum is a product of trip counts and numbers of instances. The set of a group without a
 * dimension is always {0}.
 */
#ifndef DFL_MODEL_COUNTS_EVEN_SUMS_H
#define DFL_MODEL_COUNTS_EVEN_SUMS_H

#include "model/counts/group_sums.h"

/* The only rank that decides the group, with all its indices inside the shape and a positive coefficient, or DFL_NONE. The
   footprint then has one reference. */
uint32_t dfl_group_only_rank(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group);
/* Computes the sums of a group into `out`, whose arrays have n_lines + 1 items each, all zero. False if the group is not
   even, or if instances forward elements along it. */
bool dfl_even_sums_take(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                        dfl_group_sums *out);

#endif
