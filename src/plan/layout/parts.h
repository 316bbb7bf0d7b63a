/*
 * The values of a rank that one chip has, where groups of chips divide the rank into blocks or deal its elements round-robin.
 */
#ifndef DFL_PLAN_LAYOUT_PARTS_H
#define DFL_PLAN_LAYOUT_PARTS_H

#include "plan/layout/frame.h"

/* The values first + step * x for 0 <= x < n. */
typedef struct { int64_t first, step, n; } dfl_chip_part;

/* The part that the groups of `slots` leave of a rank to the chip at `place` [slot]. They nest in their order. */
dfl_chip_part dfl_chip_part_in(const dfl_frame *f, uint32_t rank, uint64_t slots, const int64_t *place);
/* The same of `extent` values. */
dfl_chip_part dfl_chip_part_of(const dfl_frame *f, int64_t extent, uint64_t slots, const int64_t *place);
/* The values that two parts of a rank share. */
dfl_chip_part dfl_chip_parts_common(dfl_chip_part a, dfl_chip_part b);

#endif
