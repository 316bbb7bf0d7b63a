/*
 * The work of one pass with `option overlap = perfect`: a branch takes the longest of its units, memories and networks, and
 * branches run one after another. An exchange that runs once in a step runs beside all micro-batches.
 */
#ifndef DFL_PLAN_PASS_PERFECT_H
#define DFL_PLAN_PASS_PERFECT_H

#include "plan/pass/chunk.h"

/* The time of a chunk. */
dfl_chunk_time dfl_chunk_run_perfect(const dfl_plan_work *work, const dfl_chunk *chunk);

#endif
