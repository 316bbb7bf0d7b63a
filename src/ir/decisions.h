/* Open decisions of plans over chips, written into the lines. */
#ifndef DFL_IR_DECISIONS_H
#define DFL_IR_DECISIONS_H

#include "ir/mapping.h"

/* Writes the values [decision] of all decisions into the lines of a mapping, a copy of the open one. Recomputed tensors are added
   to those that the file names. */
void dfl_mapping_decide(dfl_arena *arena, dfl_mapping *mapping, const int64_t *values);

#endif
