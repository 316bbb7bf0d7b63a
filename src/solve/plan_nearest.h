/* The nearest plans over chips that work, if a written plan has a mistake. */
#ifndef DFL_SOLVE_PLAN_NEAREST_H
#define DFL_SOLVE_PLAN_NEAREST_H

#include "solve/solve_internal.h"

/* Adds to the first error from number `first` on that is about a mistake of the plan, else to the first such warning, the plans
   with one other decision that work, the fastest first; two decisions if no single one is enough. Mistakes: a memory that is
   exceeded (E0406), parts that pass an axis (E0405), are empty (E0419) or leave chips without work (E0423), stages that do not
   fit the layers or the micro-batches (E0429), parts of a table without a row (E0432). */
void dfl_plan_tell_nearest(const dfl_solver *solver, const dfl_mapping *m, size_t first);

#endif
