/* Evaluation of the mappings of a file: the holes are filled, the model computes the costs, the checks get their verdicts. */
#ifndef DFL_SOLVE_EVALUATE_H
#define DFL_SOLVE_EVALUATE_H

#include "solve/solve.h"

typedef enum {
    DFL_PURPOSE_CHECK, /* diagnostics alone; holes stay open */
    DFL_PURPOSE_EVAL,  /* costs, `require` and `assume` */
    DFL_PURPOSE_TEST,  /* costs and all checks */
} dfl_purpose;

/* Evaluates the mappings of the root file, or only the mapping called `only`, and reports the lints of their lines. Sets the
   items of `results`; DFL_PURPOSE_CHECK leaves them empty. A stop of the budget ends the evaluation before the next mapping. */
void dfl_evaluate_mappings(const dfl_solver *solver, const char *only, dfl_purpose purpose, dfl_results *results);
/* Computes the outcomes of the checks of the file from the items of `results`. Only DFL_PURPOSE_TEST includes `expect`. */
void dfl_evaluate_checks(const dfl_solver *solver, dfl_purpose purpose, dfl_results *results);

#endif
