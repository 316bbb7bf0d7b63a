/*
 * `require`, `expect` and `assume`: expressions over the figures of a report, and whether they hold.
 *
 * `a == b` of counts and other exact integers is exact; of computed numbers it allows 1e-12 of relative difference,
 * which is rounding, not meaning. `a within p of b` is |a - b| <= p |b| for a plain number p, and |a - b| <= p for a
 * p of their dimension; `a exactly b` is equality of exact integers or of doubles, without allowance.
 */
#ifndef DFL_REPORT_CHECK_VERDICT_H
#define DFL_REPORT_CHECK_VERDICT_H

#include "report/report.h"

/*
 * Evaluates one check. A check that does not hold is reported: E0610 for `require`, E0611 for `expect` and `assume`;
 * what cannot be evaluated by E0613, E0302, E0305 and their like. A check on a mapping without a result is UNKNOWN,
 * without a report.
 */
dfl_check_outcome dfl_check_judge(const dfl_results *results, const dfl_check *check);

/* Whether a check is known not to hold; says nothing about that. */
bool dfl_check_fails(const dfl_results *results, const dfl_check *check);
/* How it does not: "512 == 500 is false", "is 512, not 500"; NULL where it holds, or there are no values to be told. Lives as
   long as the reports of the results. */
const char *dfl_check_failure(const dfl_results *results, const dfl_check *check);

/* The value of an expression in SI units, for one that stands in `scope`. False after reporting, or, without a report,
   when it is about a mapping that has no result. */
bool dfl_figure(const dfl_results *results, dfl_sym scope, const dfl_val *expr, double *out);
/* The same with its dimension. */
bool dfl_figure_quantity(const dfl_results *results, dfl_sym scope, const dfl_val *expr, dfl_quantity *out);
/* The dimension of an expression that stands in a mapping, whatever that costs; none when it has no value. */
dfl_dim dfl_figure_dim(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping, const dfl_val *expr);

/*
 * Looks at all checks and objectives of the program before anything is evaluated: paths that lead nowhere, dimensions
 * that do not go together, expressions that are no condition, each with the code that it would have with results. Silent
 * about what depends on figures, on templates, and on declarations with errors. Works in `scratch`.
 */
void dfl_checks_preview(dfl_arena *scratch, const dfl_results *results);
/* The same for what one mapping minimizes, or compares in a front, before it is searched; false after reporting. */
bool dfl_objective_preview(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping);

#endif
