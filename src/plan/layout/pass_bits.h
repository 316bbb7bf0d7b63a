/* How much of a tensor a chip has at home, of one pass or of some layers. */
#ifndef DFL_PLAN_LAYOUT_PASS_BITS_H
#define DFL_PLAN_LAYOUT_PASS_BITS_H

#include "plan/layout/layouts.h"

/* Bits of the home of a tensor of the pass on one chip; true on overflow. */
bool dfl_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out);
/* The same on the chips of the slots `joined` together, each as large as the largest one. */
bool dfl_joined_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint64_t joined, dfl_i128 *out);
/* Whether the stages divide the first dimension of a tensor: it has one part for each layer. */
bool dfl_pass_has_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor);
/* Layers of which a chip of the largest stage holds a part of a tensor; 1 for a tensor without layers. */
int64_t dfl_pass_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor);
/* Bits of `layers` layers of the home of a tensor on the chips of the slots `joined` together; true on overflow. The tensor is no
   gathered one. */
bool dfl_pass_home_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, int64_t layers, uint64_t joined,
                   dfl_i128 *out);

/* Whether the access `outer` has all elements of a tensor that the access `inner` has. Two equal accesses have the same ones. */
bool dfl_pass_is_within(const dfl_workload *w, const dfl_access *inner, const dfl_access *outer);
/* Lists producers of a tensor that make parts of it which lie apart; the other producers make elements of these parts again. Of
   producers that make the same elements, `first`, which counts, stands for all. `counts`[einsum]: whether it is one of the
   producers in question; NULL = all are.
   `overlapping` gets a producer listed whose part overlaps that of another one, or DFL_NONE: then nothing counts the elements.
   `makers` has room for one more than all producers; returns the number of those listed. */
uint32_t dfl_pass_makers(const dfl_workload *w, uint32_t tensor, uint32_t first, const bool *counts, uint32_t *makers,
                         uint32_t *overlapping);
/* Whether the parts that producers of a tensor in question make lie apart or within each other. False after a report. */
bool dfl_pass_check(const dfl_frame *f, uint32_t tensor, uint32_t first, const bool *counts);

#endif
