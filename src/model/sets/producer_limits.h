/*
 * Demands on restricted producers: which loops above a branch make an einsum compute only what its consumers read
 * (MODEL.md, rule 11). They depend on the lines; for `recompute` also on which loops have more than one iteration.
 */
#ifndef DFL_MODEL_SETS_PRODUCER_LIMITS_H
#define DFL_MODEL_SETS_PRODUCER_LIMITS_H

#include "model/sets/nest.h"

/* Fills the demands, gates and triggers of a nest (nest.h). False after E0609. */
bool dfl_producer_limits_find(dfl_nest *nest);

#endif
