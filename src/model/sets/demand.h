/*
 * What a restricted producer computes of one dimension at a position of the loops above its branch, as a set
 * (MODEL.md, rule 11). Place.c handles windows that move up one after another with intervals; here readers may leave
 * indices out, go back, or stand in several branches. The positions of a branch's own loops are gone through once, in
 * the order of execution, and what was found is kept.
 */
#ifndef DFL_MODEL_SETS_DEMAND_H
#define DFL_MODEL_SETS_DEMAND_H

#include "model/sets/position.h"

/* What is computed of dimension `d` below the first `n` steps, as far as these decide; lives in the arena. */
const dfl_runs *dfl_want_set(const dfl_setting *set, uint32_t e, uint32_t d, uint32_t n, const int64_t *pos);

#endif
