/*
 * Einsums with a `where` in one pass on the chip that has most: points, and elements of an access that these points touch.
 *
 * Conditions that share ranks form a component; ranks of repeats, which have one value in a pass, connect nothing: that of the
 * frame's iteration. Each group of
 * chips divides ranks of one component alone. So the largest product over all chips is the product of the largest counts.
 */
#ifndef DFL_PLAN_LAYOUT_MASKS_H
#define DFL_PLAN_LAYOUT_MASKS_H

#include "plan/layout/layouts.h"

/* Counts of components without the iteration, which all iterations share. */
struct dfl_mask_counts *dfl_mask_counts_new(dfl_arena *arena);
/* Whether the points of an einsum can be counted. False after a report at what is not counted. */
bool dfl_mask_check(const dfl_frame *f, uint32_t einsum);
/* Points of the ranks in the conditions of an einsum; 1 without conditions. False after a report. */
bool dfl_mask_points(const dfl_frame *f, uint32_t einsum, dfl_i128 *out);
/* Elements of an access that points touch: dfl_frame_elements without those that no point touches. With `all`, those of all
   instances among which points go. False after a report. */
bool dfl_mask_elements(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool all, dfl_i128 *out);
/* The same on all chips of the groups of `together`, which may touch other elements; dimension d in `parts`[d] further parts.
   Only dimensions without ranks of conditions have more than one. */
bool dfl_mask_elements_of_group(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t together,
                                const int64_t *parts, dfl_i128 *out);
/* Elements of the largest part of an operand that one chip with points needs of another chip of the groups of `slots`, which has
   them at home or by an exchange over those of `brought`. The tensor lies divided along dimension `from`[slot], and the einsum
   divides it along `asked`[slot]; negative = not there. False after a report. */
bool dfl_mask_operand_part(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                           const dfl_layout *asked, uint64_t slots, uint64_t brought, dfl_i128 *out);
/* The same of a thinned result, whose home is divided along `home`[slot], and of which all chips have made the same along
   dimensions without ranks of conditions. `together` as above. False after a report. */
bool dfl_mask_result_part(const dfl_frame *f, uint32_t einsum, uint64_t together, const dfl_layout *home, uint64_t slots,
                          dfl_i128 *out);
/* Whether an index of an access has a rank of the conditions. */
bool dfl_mask_has_dim(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim);
/* Values of a rank in one pass that some points have: its extent if no condition has it. False after a report. */
bool dfl_mask_extent(const dfl_frame *f, uint32_t einsum, uint32_t rank, dfl_i128 *out);
/* Whether iterations of a repeat have different points: a condition has the iteration. */
bool dfl_mask_varies(const dfl_frame *f, uint32_t einsum);
/* Whether an access has sums of ranks of conditions that leave out elements of it: its elements count as the box around all
   values of the sums, with those that no point touches. */
bool dfl_mask_is_boxed(const dfl_frame *f, uint32_t einsum, const dfl_access *access);
/* Whether conditions leave out elements of an access. */
bool dfl_mask_thins(const dfl_frame *f, uint32_t einsum, const dfl_access *access);

#endif
