/* The work of one pass of an einsum: points computed and elements touched, each on the chip with most. */
#ifndef DFL_ORACLE_CHIPS_WORK_H
#define DFL_ORACLE_CHIPS_WORK_H

#include "oracle/chips/chips_internal.h"

/* Number of marked elements among the `n` of a set. */
uint64_t dfl_chips_count_set(const uint8_t *set, uint32_t n);
/* Makes room for the work of each einsum in each iteration. */
void dfl_chips_start_work(chips *c);
/* Raises `most` to the work of the chip in the present visit: `points`, and the elements that it touched. */
void dfl_chips_count_work(const chips *c, uint32_t einsum, const uint8_t *made, uint64_t points, dfl_chips_work *most);
/* Notes the work of one iteration of a repeat, `layer`; of several micro-batches the largest work stays. */
void dfl_chips_add_work(chips *c, uint32_t einsum, int64_t layer, const dfl_chips_work *most);
/* Sets the sums over the iterations of each repeat. */
void dfl_chips_sum_work(chips *c);

#endif
