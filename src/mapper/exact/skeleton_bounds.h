/* What the forms of a class cost at least. */
#ifndef DFL_MAPPER_EXACT_SKELETON_BOUNDS_H
#define DFL_MAPPER_EXACT_SKELETON_BOUNDS_H

#include "mapper/exact/einsum_classes.h"

/* Sets the bounds of all candidates, which lie in `arena`, and puts them in order. */
void dfl_einsum_classes_bound(dfl_arena *arena, dfl_arena *scratch, dfl_einsum_classes *k, bool plain, uint32_t threads,
                              dfl_deadline *halt);

#endif
