/*
 * Whether the readers of a tensor together leave a gradient of each element that its producers make. The gradient of an element
 * without one is 0: then `grad.T = 0` comes first.
 */
#ifndef DFL_TRAIN_COVERED_H
#define DFL_TRAIN_COVERED_H

#include "train/draft.h"

/* Readers whose contributions one gradient sums up. */
typedef struct {
    uint32_t tensor;
    const dfl_carry *from;     /* those of a repeat that starts from the tensor; NULL: those of the tensor itself */
    uint32_t lead;             /* dimension of the iterations, of which the gradient is that of the last one; DFL_NONE = none */
} dfl_train_readers;

/* Whether a reader counts: its operand of this number leaves a gradient. */
typedef bool dfl_train_leaves(const dfl_train_draft *draft, const dfl_einsum *einsum, uint32_t operand);

/* The carry by which an einsum reads a tensor: that of the repeat in which it stands. NULL if it reads the tensor itself. */
const dfl_carry *dfl_train_find_start(const dfl_workload *w, uint32_t tensor, const dfl_einsum *einsum);
/* The least and the largest value of an index over the points of its einsum. */
void dfl_train_find_range(const dfl_train_draft *draft, const dfl_index *index, dfl_i128 *low, dfl_i128 *high);
/* Whether the accesses of all these readers visit each element that some producer makes. A dimension counts as visited by the
   positions without gaps from the lowest to the highest; accesses that differ in one dimension count together. An access with
   conditions counts if they leave out no element but those that the producers leave out: false where that is not proven. */
bool dfl_train_is_covered(dfl_train_draft *draft, const dfl_train_readers *readers, dfl_train_leaves *leaves);

#endif
