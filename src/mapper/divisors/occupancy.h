/*
 * Room of keeps, and lower bounds that see it. A keep fits only if the loops above it cut its tile by the ratio R of what it
 * takes without them to what there is; loops above it that do not index other operands make these move more often. For the
 * ranks U of the keep (where windows slide, those of other dimensions) that are not cut yet, R is at most the product of their
 * iterations down to the keep, and so of the iterations y and z of two sets of ranks S and T that are U together. Terms that grow
 * with S and T cost at least the minimum over y of B(S) y + B(T) z, y and z products of divisors with y z >= R.
 */
#ifndef DFL_MAPPER_DIVISORS_OCCUPANCY_H
#define DFL_MAPPER_DIVISORS_OCCUPANCY_H

#include "mapper/divisors/divisors_internal.h"

/* Whether the keeps with the pieces of the present node do. */
bool dfl_occupancy_fits(const dfl_search *s);
/* Whether there is room once the spread and the shared loops are chosen, with all other loops as long as can be. */
bool dfl_occupancy_left(dfl_search *s);
/* Raises what the template costs at least by what room asks for. */
void dfl_occupancy_bound(dfl_search *s, double *joules, double *seconds);
/* Whether cuts of the ranks from order[depth] on can be of use, `product` by group for those before; pieces of the former are as
   short as can be. */
bool dfl_occupancy_useful(dfl_search *s, uint32_t depth, const double *product);
/* Sets behind[depth]: what the ranks behind order[depth] multiply the groups with at least, given the room that those before
   leave: the pieces of one of them are no longer than what is left when those of the others are as short as can be. */
void dfl_occupancy_behind(dfl_search *s, uint32_t depth);

#endif
