/*
 * Smaller copies of designs with the same lines. `prove` executes a copy if the real sizes take too long. Ranks get new
 * extents. Tile sizes follow by halving, and never exceed the rest of their rank. Loops with nothing left to iterate
 * are dropped. Shapes of tensors shrink by as much as the indices into them, so halos, strides and padding stay as they
 * were.
 */
#ifndef DFL_IR_SHRINK_H
#define DFL_IR_SHRINK_H

#include "ir/mapping.h"

/*
 * Shrinks a mapping. `extents`: the new extent of every rank, from 1 to the old one. Tiles of rank r are divided by
 * 2^halvings[r], rounding up. The copy lives in `arena` and shares unchanged parts with `m`.
 */
dfl_mapping *dfl_mapping_shrink(dfl_arena *arena, const dfl_mapping *m, const int64_t *extents,
                                const unsigned *halvings);
/* Sets, by rank, the first rank of its class (class_of[r] <= r). Ranks of a class index the same dimension of a tensor
   bare, so their extents must stay equal. */
void dfl_rank_classes(const dfl_workload *w, uint32_t *class_of);
/* Largest value of an index over whole ranks; `extents` NULL = those of the workload. */
int64_t dfl_index_reach(const dfl_workload *w, const dfl_index *index, const int64_t *extents);
/* The largest tile of the loops over ranks of class `c`, after halving; 1 without such a loop. */
int64_t dfl_mapping_largest_tile(const dfl_mapping *m, const uint32_t *class_of, uint32_t c, unsigned halvings);

#endif
