/*
 * Repeats whose iterations differ: a `where` has the iteration, as in an elimination, whose rest shrinks in each step. Each
 * iteration has its own times of einsums and bits of exchanges; all have the same einsums and exchanges in the same order.
 */
#ifndef DFL_PLAN_PASS_ITERATIONS_H
#define DFL_PLAN_PASS_ITERATIONS_H

#include "plan/pass/chunk.h"

/* Sets `work->of_iteration`, if iterations differ; `layouts` NULL: without exchanges. `times` then have the means over the
   iterations, and each exchange is that of the iteration that moves most. False after a report. */
bool dfl_iterations_find(dfl_plan_work *work, const dfl_layouts *layouts, dfl_chip_time *times, dfl_plan_exchanges *exchanges);
/* The work of an iteration of a repeat. */
static inline const dfl_plan_work *dfl_iteration_work(const dfl_plan_work *work, int64_t iteration)
{
    return work->of_iteration == NULL ? work : &work->of_iteration[iteration < work->n_iterations ? iteration : 0];
}

#endif
