/* Why a mapping costs what it does: its sensitivities, and the best mapping of another kind. The texts are report/explain. */
#ifndef DFL_SOLVE_EXPLANATION_H
#define DFL_SOLVE_EXPLANATION_H

#include "report/explain/explain.h"
#include "solve/solve.h"

/* Fills the holes of a mapping, evaluates it, and derives its objective, latency and energy with respect to the numbers of the
   system. A mapping that leaves all lines open is compared with the best mapping of another kind. NULL after reporting.
   `*stopped` tells which limit ended a search early. */
const dfl_explanation *dfl_explanation_find(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped);

#endif
