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
 * up. `class_of[r]` is the rank that stands for r among those that index the same dimension of a tensor bare
 * (dfl_rank_classes). Lives in `arena`; shares with `m` what did not change.
 */
dfl_mapping *dfl_mapping_shrink(dfl_arena *arena, const dfl_mapping *m, const int64_t *extents,
                                const unsigned *halvings, const uint32_t *class_of);
/* Ranks that must keep equal extents: class_of[r] <= r. */
void dfl_rank_classes(const dfl_workload *w, uint32_t *class_of);
/* The largest tile that a loop over a rank of class `c` asks for, after halving; 1 when there is none. */
int64_t dfl_mapping_largest_tile(const dfl_mapping *m, const uint32_t *class_of, uint32_t c, unsigned halvings);

#endif
