/* Which memory is that of a chip, and which homes may lie outside of it. */
#ifndef DFL_PLAN_LAYOUT_OUTSIDE_H
#define DFL_PLAN_LAYOUT_OUTSIDE_H

#include "plan/layout/frame.h"

/* The outermost memory of a chip; DFL_NONE = none. That is the first memory inside of an axis, unless a keep names a memory
   further inside, and lines divide work on all axes between the two. */
uint32_t dfl_outside_find_chip(const dfl_mapping *m);
/* Refuses a keep in a memory that is neither on the chip nor outside of it, or of a tensor that may not lie outside. */
bool dfl_outside_check_home(const dfl_frame *f, const dfl_line *keep);

#endif
