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

/* A name among the columns that is no figure. */
typedef struct {
    size_t at, len;      /* place of the unknown word in the list of columns, bytes */
    const char *message;
    const char *near;    /* the nearest name in place of the word; NULL = none is near */
    const char *help;    /* what to write, if no name is near; NULL = nothing is known */
    bool is_part;        /* the name is that of a part, and not unknown */
} dfl_unknown_column;

/* Prints the table as text, or as CSV in SI units. `columns` is a list of names separated by commas. If a mapping has costs and a
   name is no figure of any such mapping, prints nothing, describes the first such name in `*unknown`, and returns false. */
bool dfl_report_columns(dfl_strbuf *out, const dfl_results *results, const char *columns, bool csv, dfl_unknown_column *unknown);

#endif
