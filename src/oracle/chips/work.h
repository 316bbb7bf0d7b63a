/* How many points the chip with most computes in a pass of an einsum, and how many elements it touches. */
#ifndef DFL_ORACLE_CHIPS_WORK_H
#define DFL_ORACLE_CHIPS_WORK_H

#include "oracle/chips/chips_internal.h"

uint64_t dfl_chips_count_set(const uint8_t *set, uint32_t n);
void dfl_chips_start_work(chips *c);
/* Raises `most` to the work of the chip whose visit is the present one: its points, and the elements that it touched. */
void dfl_chips_count_work(const chips *c, uint32_t einsum, const uint8_t *made, uint64_t points, dfl_chips_work *most);
/* Notes the work of an iteration; the largest of all micro-batches stays. */
void dfl_chips_add_work(chips *c, uint32_t einsum, int64_t layer, const dfl_chips_work *most);
/* Sets the sums over the iterations of each repeat. */
void dfl_chips_sum_work(chips *c);

#endif
