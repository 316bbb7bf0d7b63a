/*
 * The report of an evaluation: as text for people, as JSON `dfl-report/1` for programs, as CSV for spreadsheets. Reports name
 * files without directories and carry no time, so equal results are equal bytes.
 */
#ifndef DFL_REPORT_PRINT_PRINT_H
#define DFL_REPORT_PRINT_PRINT_H

#include "report/report.h"

/* Prints one screen for each mapping if the results have at most `detailed` mappings, else one line for each; then the
   comparison and the checks. Does not print diagnostics. */
void dfl_report_text(dfl_strbuf *out, const dfl_results *results, uint32_t detailed);
/* Prints what is special to a plan over chips: its groups, its pipeline, the parts of the step, the exchanges, the links and
   what the stages hold. */
void dfl_plan_text(dfl_strbuf *out, const dfl_results *results, const dfl_result *result);
/* Prints CSV with one row for each mapping: the decisions of a plan over chips, the parts of its step, peaks, price and power. */
void dfl_plans_csv(dfl_strbuf *out, const dfl_results *results);
/* Prints one `dfl-report/1` object, which includes the diagnostics. */
void dfl_report_json(dfl_strbuf *out, const dfl_results *results);
/* Prints CSV by RFC 4180: a header, then one row for each mapping, memory and tensor. */
void dfl_report_csv(dfl_strbuf *out, const dfl_results *results);
/* Prints a text as one field of CSV: with quotes if it contains a comma, a quote or a line end. NULL is an empty field. */
void dfl_csv_cell(dfl_strbuf *out, const char *text);
/* Prints the lines about a search: objective, proof status, value, lower bound, gap, and the first reason why the result is
   not proven. `verbose` adds all other reasons, the search space and the numbers of evaluated choices. */
void dfl_search_text(dfl_strbuf *out, const dfl_search_summary *search, bool verbose);

#endif
