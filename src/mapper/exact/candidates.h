/* What the forms of a class cost at least. */
#ifndef DFL_MAPPER_EXACT_CANDIDATES_H
#define DFL_MAPPER_EXACT_CANDIDATES_H

#include "mapper/exact/classes.h"

/* Sets the bounds of all candidates, and puts them in order. */
void dfl_classes_bound(dfl_arena *scratch, dfl_classes *k, bool plain, uint32_t threads, dfl_deadline *halt);

#endif
