/*
 * Expressions over the figures of a report: checks (`require`, `expect`, `assume`) and objectives.
 *
 * `a == b` is exact for exact integers; for other numbers it allows a relative difference of 1e-12 for rounding. `a within
 * p of b` is |a - b| <= p |b| for a number p without dimension, and |a - b| <= p for a p of the dimension of a and b. `a
 * exactly b` is equality of exact integers or of doubles, without allowance.
 */
#ifndef DFL_REPORT_CHECK_CHECK_H
#define DFL_REPORT_CHECK_CHECK_H

#include "report/report.h"

/* ---- evaluation (check.c) ---- */

/*
 * The outcome of a check. Reports a check that does not hold: E0610 for `require`, E0611 for `expect` and `assume`. Reports
 * expressions without a value: E0613, E0302, E0305 or another code. A check on a mapping without a result is UNKNOWN,
 * without a report.
 */
dfl_check_outcome dfl_check_evaluate(const dfl_results *results, const dfl_check *check);
/* Whether the check has a value and is violated. Does not report the violation. */
bool dfl_check_is_violated(const dfl_results *results, const dfl_check *check);
/* Text on the violation of a check: "512 == 500 is false", "is 512, not 500". NULL if the check holds or if no comparison
   of values failed. The text is valid as long as the diagnostics of the results. */
const char *dfl_check_violation(const dfl_results *results, const dfl_check *check);

/* The value of an expression in SI units; `scope` is the mapping or workload that the expression stands in, 0 = the file. False
   after reporting. False without a report if the expression is about a mapping without a result. */
bool dfl_check_number(const dfl_results *results, dfl_sym scope, const dfl_val *expr, double *out);
/* The value of an expression as dfl_check_number computes it, with its dimension. */
bool dfl_check_quantity(const dfl_results *results, dfl_sym scope, const dfl_val *expr, dfl_quantity *out);

/* ---- type check (type_check.c) ---- */

/*
 * Type-checks all checks, objectives and sweeps of the program before the evaluation of any mapping. Reports unknown paths, wrong
 * dimensions, and checks that are no condition, with the codes of dfl_check_evaluate. Reports nothing that depends on the
 * values of figures, on templates, or on declarations with errors. With `only_expected` checks only `expect`. Allocates in
 * `scratch` alone.
 */
void dfl_check_types(dfl_arena *scratch, const dfl_results *results, bool only_expected);
/* Checks the types of the objectives of one mapping before its search; false after reporting. */
bool dfl_check_objective_types(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping);
/* The dimension of an expression in a mapping; the dimension of a plain number if the expression has no value. */
dfl_dim dfl_check_dim(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping, const dfl_val *expr);

#endif
