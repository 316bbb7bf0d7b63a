/*
 * A smaller copy of a design, with the same lines: what `prove` runs where the real sizes take too long to execute.
 * Ranks get new extents; tile sizes follow by halving and never exceed what is left of their rank; loops with nothing
 * left to iterate are dropped; shapes of tensors shrink by as much as the indices into them do, so halos, strides and
 * padding stay what they were.
 */
#ifndef DFL_IR_SHRINK_H
#define DFL_IR_SHRINK_H

#include "ir/mapping.h"

/*
 * `extents` has the new extent of every rank, 1 .. old extent; tiles of rank r are divided by 2^halvings[r], rounding
 * up. Lives in `arena`; shares with `m` what did not change.
 */
dfl_mapping *dfl_mapping_shrink(dfl_arena *arena, const dfl_mapping *m, const int64_t *extents,
                                const unsigned *halvings);
/* Ranks that must keep equal extents, since they index the same dimension of a tensor bare: class_of[r] <= r. */
void dfl_rank_classes(const dfl_workload *w, uint32_t *class_of);
/* Largest position that an index reaches over whole ranks; `extents` NULL = those of the workload. */
int64_t dfl_index_reach(const dfl_workload *w, const dfl_index *index, const int64_t *extents);
/* The largest tile that a loop over a rank of class `c` asks for, after halving; 1 when there is none. */
int64_t dfl_mapping_largest_tile(const dfl_mapping *m, const uint32_t *class_of, uint32_t c, unsigned halvings);

#endif
