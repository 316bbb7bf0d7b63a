/* Which tensors wait for the backward pass, and which lie outside of the chips. */
#ifndef DFL_PLAN_LAYOUT_HOMES_H
#define DFL_PLAN_LAYOUT_HOMES_H

#include "plan/layout/layouts.h"

/* Moves what only the pass of a layer needs from memories outside to the chip, and sets `is_offloaded`. */
void dfl_homes_set(dfl_frame *f);
/* The slots whose instances lie inside of one instance of a memory, as a mask. */
uint64_t dfl_homes_inside(const dfl_frame *f, uint32_t memory);
/* [tensor]: made in the forward pass, read in the backward pass, and not made again there. The layers of a carried tensor stand
   for the tensor that the first layer reads. */
bool *dfl_homes_stored(const dfl_frame *f);

#endif
