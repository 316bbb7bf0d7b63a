/* The nearest plans over chips that fit, if a written plan exceeds a memory. */
#ifndef DFL_SOLVE_PLAN_NEAREST_H
#define DFL_SOLVE_PLAN_NEAREST_H

#include "solve/solve_internal.h"

/* Adds to the report `d` that a plan exceeds a memory the plans with one other decision that fit, the fastest first; two
   decisions if no single one is enough. */
void dfl_plan_tell_nearest(const dfl_solver *solver, const dfl_mapping *m, dfl_diag *d);

#endif
