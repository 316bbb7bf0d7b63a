/*
 * The report of an evaluation: as text for people, as JSON `dfl-report/1` for programs, as CSV for spreadsheets. Reports name
 * files without directories and carry no time, so equal results are equal bytes.
 */
#ifndef DFL_REPORT_RUN_RUN_H
#define DFL_REPORT_RUN_RUN_H

#include "report/report.h"

/* One screen for each mapping if there are at most `detailed` of them, else one line for each; then the comparison and the
   checks. Diagnostics are not part of the text. */
void dfl_report_text(dfl_strbuf *out, const dfl_results *results, uint32_t detailed);
/* One `dfl-report/1` object, diagnostics included. */
void dfl_report_json(dfl_strbuf *out, const dfl_results *results);
/* RFC 4180: a header, then one row for each mapping, memory and tensor. */
void dfl_report_csv(dfl_strbuf *out, const dfl_results *results);
/* The lines about a search in the text: objective and proof status, value, lower bound and gap, and why the result is not proven;
   `verbose` adds the further reasons, the search space and the effort. */
void dfl_search_text(dfl_strbuf *out, const dfl_search_summary *search, bool verbose);

#endif
