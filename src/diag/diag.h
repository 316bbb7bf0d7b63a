/*
 * Diagnostics: reports to the user. A pass reports into a sink and never prints. A report is a record: a code that keeps
 * its meaning for ever (codes.h), a severity, a message, a primary place with a label, further places, notes, one help
 * line, and edits that a machine can apply. The renderers (render.h) turn a sink into text, short lines, JSON or SARIF.
 *
 * Messages are lower case without a full stop, with names in backticks. The message says what is wrong, labels show
 * where, only the help says what to do.
 */
#ifndef DFL_DIAG_DIAG_H
#define DFL_DIAG_DIAG_H

#include <stdarg.h>
#include <stdbool.h>

#include "diag/codes.h"
#include "diag/lints.h"
#include "diag/suggest.h"
#include "support/arena.h"
#include "support/intern.h"
#include "support/span.h"

/* SURE edits are applied by `--fix` without asking. */
typedef enum { DFL_FIX_SURE, DFL_FIX_MAYBE } dfl_certainty;

typedef struct dfl_label { dfl_span span; const char *text; struct dfl_label *next; } dfl_label;
typedef struct dfl_note { const char *text; struct dfl_note *next; } dfl_note;
typedef struct dfl_edit { dfl_span span; const char *text; dfl_certainty certainty; struct dfl_edit *next; } dfl_edit;

typedef struct dfl_diag {
    dfl_code code;
    dfl_severity severity;
    const char *lint;      /* name of the lint, or NULL */
    const char *message;
    dfl_span span;         /* primary place */
    const char *label;     /* text under the primary span, or NULL */
    dfl_label *labels;     /* further places with labels, in order of adding */
    dfl_note *notes;
    const char *help;      /* or NULL */
    dfl_edit *edits;
} dfl_diag;

typedef struct dfl_sink dfl_sink;

/* An empty sink; its records live in the arena. `sources` resolves the places and must outlive the sink. */
dfl_sink *dfl_sink_new(dfl_arena *arena, const dfl_source_map *sources);
/* A sink that keeps no records: whoever reports to it is only asked whether there is something to report. */
dfl_sink *dfl_sink_quiet(dfl_arena *arena);
dfl_arena *dfl_sink_arena(const dfl_sink *sink);
const dfl_source_map *dfl_sink_sources(const dfl_sink *sink);
/* Sets the number of records to keep (default 200). Reports over the limit are counted in one E0607 record. */
void dfl_sink_limit(dfl_sink *sink, size_t limit);
/* Number of records, including the E0607 record. */
size_t dfl_sink_count(const dfl_sink *sink);
/* Whether the limit is reached, so that the next record will be dropped: attaching notes to it is wasted work. */
bool dfl_sink_drops(const dfl_sink *sink);
/* The record with index `i`; NULL behind the last. */
dfl_diag *dfl_sink_at(const dfl_sink *sink, size_t i);
/* Number of reported errors, and of warnings, including dropped ones. */
size_t dfl_sink_errors(const dfl_sink *sink);
size_t dfl_sink_warnings(const dfl_sink *sink);
/* Code of the last report by dfl_report, kept or dropped; 0 before the first. */
dfl_code dfl_sink_last(const dfl_sink *sink);
/* Whether a record of the code at this place is kept. */
bool dfl_sink_has(const dfl_sink *sink, dfl_code code, dfl_span span);
/* From index `first` on, removes each record that repeats another one: same code, place, message and label. */
void dfl_sink_fold(dfl_sink *sink, size_t first);
/* From index `first` on, removes the records of one code. */
void dfl_sink_withdraw(dfl_sink *sink, size_t first, dfl_code code);
/* Orders records by place, then code; stable. Every renderer sorts first. */
void dfl_sink_sort(dfl_sink *sink);

/* Reports with the severity of codes.def. Never returns NULL; a record over the limit is a scratch one. */
dfl_diag *dfl_report(dfl_sink *sink, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports a lint: its level decides between warning and error. At level ALLOW the record is a scratch one, and so is a
   second record of the lint at a place: a declaration that many mappings use is told once. */
dfl_diag *dfl_report_lint(dfl_sink *sink, const dfl_lint_levels *levels, dfl_lint lint, dfl_span span,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Sets the text under the primary span. */
void dfl_diag_here(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dfl_diag_label(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void dfl_diag_note(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dfl_diag_help(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds an edit that `--fix` applies. Without a help line the renderer writes "replace with `text`". */
void dfl_diag_fix(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *text, dfl_certainty certainty);

/* From here on a stop is reported at this place, the mapping at work; the empty span is no place. */
void dfl_sink_work_on(dfl_sink *sink, dfl_span mapping);
/* From here on the budget limits the reading of the input: once it has stopped, errors and lints are not kept, because they
   may follow from what was not read. NULL = the input is read. */
void dfl_sink_reading(dfl_sink *sink, const dfl_budget *budget);
/* Reports why a budget stopped, E0601 to E0604 or E0620, once per sink. Returns false, so that a caller can return it. */
bool dfl_report_stop(dfl_sink *sink, const dfl_budget *budget);
/* The same as a warning: a limit that was asked for ended a search, which has a result. */
void dfl_report_limited(dfl_sink *sink, dfl_stop why);

#endif
