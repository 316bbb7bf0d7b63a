/*
 * Keeps at the top of a branch, moved to the end of the lines above it where that is better, and further ones at that place:
 * there they stay while loops above go on, but take room beside the other branches. Only those of tensors that one einsum
 * touches, so that none is shared.
 */
#ifndef DFL_MAPPER_IMPROVE_HOIST_H
#define DFL_MAPPER_IMPROVE_HOIST_H

#include "ir/mapping.h"

typedef double dfl_hoist_value(void *context, const dfl_mapping *m);

/* Changes `m`, whose value is `value`, and gives the value that it has then. */
double dfl_hoist_keeps(dfl_arena *arena, dfl_mapping *m, double value, dfl_hoist_value *value_of, void *context);

#endif
