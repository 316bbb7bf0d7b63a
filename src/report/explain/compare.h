/* Two results of one session compared, as `dflc diff` compares two reports. */
#ifndef DFL_REPORT_EXPLAIN_COMPARE_H
#define DFL_REPORT_EXPLAIN_COMPARE_H

#include "report/diff/diff.h"
#include "report/report.h"

/* How the mappings and the costs of two results differ, in `arena`. Both are written as reports and read again. NULL after
   reporting. */
dfl_diff_pair *dfl_compare_results(dfl_arena *arena, const dfl_results *results, const dfl_result_item *from,
                                   const dfl_result_item *to);

#endif
