/*
 * How many different elements of a tensor an access touches: on one chip in one pass, over all passes, or on several chips
 * together. All counts are those of the chip and the pass with most. Elements beyond the ends of a tensor do not count.
 */
#ifndef DFL_PLAN_LAYOUT_ELEMENTS_H
#define DFL_PLAN_LAYOUT_ELEMENTS_H

#include "plan/layout/frame.h"

/* Elements of an access in one pass (`pass`), or on one chip over all passes. True on overflow. Where points go by rows, those
   that the largest instance touches. Each row of a table counts once. */
bool dfl_frame_elements(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool pass, dfl_i128 *out);
/* The same for all points of the instances among which the points go. */
bool dfl_frame_elements_of_all(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool pass, dfl_i128 *out);
/* Largest number of elements of an access on the chips of `gathered` slots together in one pass (of a step of the optimizer: in
   all), if slots divide dimension d further as `parts`[d] says (NULL: they do not). True on overflow. */
bool dfl_frame_elements_of_group(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t gathered,
                                 const int64_t *parts, dfl_i128 *out);
/* Whether an index has values beyond the ends of a dimension of `extent` positions. */
bool dfl_frame_leaves(const dfl_frame *f, const dfl_index *index, int64_t extent);
/* Whether two indices of a dimension have the same values, over all values of their ranks: all between the same ends. */
bool dfl_frame_is_same_range(const dfl_frame *f, const dfl_index *a, const dfl_index *b, int64_t extent);
/* Whether the first one takes all values of the second one. */
bool dfl_frame_covers_range(const dfl_frame *f, const dfl_index *a, const dfl_index *b, int64_t extent);
/* Whether a rank stands in several dimensions of an access. */
bool dfl_frame_moves_several(const dfl_frame *f, const dfl_access *access);
/* Elements that an access touches in one pass between `low` and `high` of each dimension, listed: ranks move several dimensions,
   and no chip divides them. False if they are too many. */
bool dfl_frame_elements_between(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const int64_t *low,
                                const int64_t *high, int64_t *out);
/* Positions along a dimension that an access touches in one pass, of them those in the fullest of `parts` blocks. True on
   overflow. */
bool dfl_frame_elements_along(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, int64_t parts,
                              dfl_i128 *out);
/* Elements of input `input` in one pass together with those of the later inputs that differ from it by offsets alone. True on
   overflow. */
bool dfl_frame_elements_of_several(const dfl_frame *f, uint32_t einsum, uint32_t input, dfl_i128 *out);
/* Whether the elements of all accesses can be counted. False after a report at the first that cannot. */
bool dfl_frame_check_elements(const dfl_frame *f);
/* The same in each pass of each chip, their points being known: of accesses that leave their tensors, all tiles are looked at. */
bool dfl_frame_check_tiles(const dfl_frame *f);

#endif
