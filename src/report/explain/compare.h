/* Comparison of two results of one session by the method of `dflc diff`. */
#ifndef DFL_REPORT_EXPLAIN_COMPARE_H
#define DFL_REPORT_EXPLAIN_COMPARE_H

#include "report/diff/diff.h"
#include "report/report.h"

/* Compares the mappings and the costs of two results; the comparison lies in `arena`. Writes both results as reports and
   reads the reports. NULL after reporting. */
dfl_diff_pair *dfl_compare_results(dfl_arena *arena, const dfl_results *results, const dfl_result_item *from,
                                   const dfl_result_item *to);

#endif
