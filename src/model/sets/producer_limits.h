/*
 * Demands on restricted producers: the loops above a branch that make an einsum compute only the indices that its
 * consumers read (MODEL.md, rule 11). Demands depend on the lines; with `recompute`, also on the set of loops with more
 * than one iteration.
 */
#ifndef DFL_MODEL_SETS_PRODUCER_LIMITS_H
#define DFL_MODEL_SETS_PRODUCER_LIMITS_H

#include "model/sets/nest.h"

/* Fills the demands, gates and triggers of a nest (nest.h). False after E0609. */
bool dfl_producer_limits_find(dfl_nest *nest);

#endif
