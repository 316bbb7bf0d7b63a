/*
 * The exact evaluator: from resolved paths to counts, occupancy, time and energy, in closed form. Pure: same input,
 * same result; memory from the given arena; what cannot be counted exactly is refused with a diagnostic.
 */
#ifndef DFL_MODEL_MODEL_H
#define DFL_MODEL_MODEL_H

#include "ir/path.h"
#include "model/result.h"

/* NULL after reporting (E0406 capacity, E0414 release, E0608 overflow, E0609 unsupported). */
const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/*
 * Whether an evaluation is sure to report nothing but E0609, by a cheap bound of its counts and of the room that its
 * tiles take. False when the bound does not tell, as for every mapping with branches.
 */
bool dfl_model_surely_fits(const dfl_paths *paths);

#endif
