/*
 * A table of chosen figures, with one row for each mapping: the report of `dflc eval --columns latency,energy,l2.reuse`.
 *
 * A column is a path below a mapping, as in checks (check/figure_lookup.h), or the name of a column of the CSV report about a
 * mapping. A name that the place does not have stands for one column for each part below the place that has this figure: `reuse`
 * stands for `l1.A.reuse`, `l1.B.reuse` and so on, `l1.reuse` for the tensors of `l1`. Parts without a value in all mappings have
 * no column. A mapping without a value has an empty cell.
 */
#ifndef DFL_REPORT_COLUMNS_COLUMNS_H
#define DFL_REPORT_COLUMNS_COLUMNS_H

#include "report/report.h"

/* Prints the table as text, or as CSV in SI units. `columns` is a list of names separated by commas. If a mapping has costs and a
   name is no figure of any such mapping, prints nothing, sets `*unknown` to a message, and returns false. */
bool dfl_report_columns(dfl_strbuf *out, const dfl_results *results, const char *columns, bool csv, const char **unknown);

#endif
