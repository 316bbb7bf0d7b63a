/*
 * Smaller copies of designs with the same lines. `dflc prove` executes a copy if the real sizes take too long. Ranks
 * get new extents. Tile sizes are halved, and never exceed the rest of their rank. A loop is dropped if nothing of its
 * rank is left to iterate. The shape of a tensor shrinks by the decrease of the indices into it, so halos, strides and
 * padding keep their sizes.
 */
#ifndef DFL_IR_SHRINK_H
#define DFL_IR_SHRINK_H

#include "ir/mapping.h"

/*
 * Shrinks a mapping. `extents`: the new extent of every rank, from 1 to the old one. Tiles of rank r are divided by
 * 2^halvings[r] and rounded up. The copy lies in `arena` and shares unchanged parts with `m`.
 */
dfl_mapping *dfl_mapping_shrink(dfl_arena *arena, const dfl_mapping *m, const int64_t *extents,
                                const unsigned *halvings);
/* Sets class_of[r] to the first rank of the class of rank r (class_of[r] <= r). Ranks of a class index the same
   dimension of a tensor bare, so their extents must stay equal. */
void dfl_rank_classes(const dfl_workload *w, uint32_t *class_of);
/* Largest value of an index over whole ranks; `extents` NULL = the extents of the workload. */
int64_t dfl_index_reach(const dfl_workload *w, const dfl_index *index, const int64_t *extents);
/* The extent of a dimension of a tensor if the ranks have the new extents. */
int64_t dfl_shrink_extent(const dfl_workload *w, uint32_t tensor, uint32_t d, const int64_t *extents);
/* The largest tile, after halving, of the loops over ranks of class `c`; 1 without such a loop. */
int64_t dfl_mapping_largest_tile(const dfl_mapping *m, const uint32_t *class_of, uint32_t c, unsigned halvings);

#endif
