/* Explanations of the costs of a mapping: sensitivities, and a comparison with the best mapping of another structure.
   report/explain prints explanations. */
#ifndef DFL_SOLVE_EXPLANATION_H
#define DFL_SOLVE_EXPLANATION_H

#include "report/explain/explain.h"
#include "solve/solve.h"

/* Fills the holes of a mapping, evaluates it, and derives its objective, latency and energy with respect to the numbers of
   the system. Compares a mapping whose lines were all open with the best mapping of another structure. NULL after
   reporting. `*stopped` is the limit that ended a search early. */
const dfl_explanation *dfl_explanation_find(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped);

#endif
