/*
 * `require`, `expect` and `assume`: expressions over the figures of a report, and whether they hold.
 *
 * `a == b` of counts and other exact integers is exact; of computed numbers it allows 1e-12 of relative difference,
 * which is rounding, not meaning. `a within p of b` is |a - b| <= p |b| for a plain number p, and |a - b| <= p for a
 * p of their dimension; `a exactly b` is equality of exact integers or of doubles, without allowance.
 */
#ifndef DFL_REPORT_CHECK_CHECK_H
#define DFL_REPORT_CHECK_CHECK_H

#include "report/report.h"

/*
 * Evaluates one check. A check that does not hold is reported: E0610 for `require`, E0611 for `expect` and `assume`;
 * what cannot be evaluated by E0613, E0302, E0305 and their like. A check on a mapping without a result is UNKNOWN,
 * without a report.
 */
dfl_check_outcome dfl_check_evaluate(const dfl_results *results, const dfl_check *check);

/* Whether a check is known not to hold; says nothing about that. */
bool dfl_check_is_violated(const dfl_results *results, const dfl_check *check);
/* How it does not: "512 == 500 is false", "is 512, not 500"; NULL where it holds, or there are no values to be told. Lives as
   long as the reports of the results. */
const char *dfl_check_violation(const dfl_results *results, const dfl_check *check);

/* The value of an expression in SI units, for one that stands in `scope`. False after reporting, or, without a report,
   when it is about a mapping that has no result. */
bool dfl_check_number(const dfl_results *results, dfl_sym scope, const dfl_val *expr, double *out);
/* The same with its dimension. */
bool dfl_check_quantity(const dfl_results *results, dfl_sym scope, const dfl_val *expr, dfl_quantity *out);
/* The dimension of an expression that stands in a mapping, whatever that costs; none when it has no value. */
dfl_dim dfl_check_dim(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping, const dfl_val *expr);

/*
 * Looks at all checks and objectives of the program before anything is evaluated: paths that lead nowhere, dimensions
 * that do not go together, expressions that are no condition, each with the code that it would have with results. Silent
 * about what depends on figures, on templates, and on declarations with errors. Works in `scratch`.
 */
void dfl_check_types(dfl_arena *scratch, const dfl_results *results);
/* The same for what one mapping minimizes, or compares in a front, before it is searched; false after reporting. */
bool dfl_check_objective_types(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping);

#endif
