/*
 * What dflc has to say to its user. A pass reports into a sink; it never prints. A report is a record: a code that
 * keeps its meaning for ever (codes.def), a severity, a message, the place it is about with a label, further places,
 * notes, one help line and machine-applicable edits. Renderers (render.h) turn a sink into text, short lines, JSON
 * or SARIF. Messages: lower case, no full stop, names in backticks; the message says what is wrong, labels show
 * where, only the help says what to do.
 */
#ifndef DFL_DIAG_DIAG_H
#define DFL_DIAG_DIAG_H

#include <stdarg.h>
#include <stdbool.h>

#include "support/arena.h"
#include "support/intern.h"
#include "support/span.h"

typedef enum {
#define DFL_DIAG(number, severity, name, title) DFL_##name = (number),
#define DFL_RETIRED(number)
#include "diag/codes.def"
#undef DFL_DIAG
#undef DFL_RETIRED
    DFL_CODE_NONE = 0
} dfl_code;

typedef enum { DFL_NOTE, DFL_WARNING, DFL_ERROR, DFL_INTERNAL } dfl_severity;
/* Whether an edit may be applied without asking (`--fix`). */
typedef enum { DFL_FIX_SURE, DFL_FIX_MAYBE } dfl_certainty;

typedef struct dfl_label { dfl_span span; const char *text; struct dfl_label *next; } dfl_label;
typedef struct dfl_note { const char *text; struct dfl_note *next; } dfl_note;
typedef struct dfl_edit { dfl_span span; const char *text; dfl_certainty certainty; struct dfl_edit *next; } dfl_edit;

typedef struct dfl_diag {
    dfl_code code;
    dfl_severity severity;
    const char *lint;      /* lint name, or NULL */
    const char *message;
    dfl_span span;
    const char *label;     /* text under the primary span; may be NULL */
    dfl_label *labels;     /* secondary places, in order of adding */
    dfl_note *notes;
    const char *help;      /* may be NULL */
    dfl_edit *edits;
} dfl_diag;

/* Levels of lints, as -A, -W, -D or the source set them. */
typedef enum { DFL_LEVEL_ALLOW, DFL_LEVEL_WARN, DFL_LEVEL_DENY } dfl_level;

typedef struct dfl_sink dfl_sink;

dfl_sink *dfl_sink_new(dfl_arena *arena, const dfl_source_map *sources);
dfl_arena *dfl_sink_arena(const dfl_sink *sink);
const dfl_source_map *dfl_sink_sources(const dfl_sink *sink);
/* Keeps at most `limit` records (default 200); further ones are counted and end in one E0607 record. */
void dfl_sink_limit(dfl_sink *sink, size_t limit);
size_t dfl_sink_count(const dfl_sink *sink);
/* Whether the last report over the limit was dropped and the next will be: nobody reads what is attached to them. */
bool dfl_sink_drops(const dfl_sink *sink);
dfl_diag *dfl_sink_at(const dfl_sink *sink, size_t i);
size_t dfl_sink_errors(const dfl_sink *sink);
size_t dfl_sink_warnings(const dfl_sink *sink);
/* Code of the last report, kept or not; 0 before the first. */
dfl_code dfl_sink_last(const dfl_sink *sink);
/* Takes back the records from number `first` on that repeat another: the same code, place, message and label. */
void dfl_sink_fold(dfl_sink *sink, size_t first);
/* Takes back the records of one code from number `first` on. */
void dfl_sink_withdraw(dfl_sink *sink, size_t first, dfl_code code);
/* Orders records by place, then code; stable. Renderers call it. */
void dfl_sink_sort(dfl_sink *sink);

/* Severity comes from codes.def. Never returns NULL; a record over the limit is a scratch one. */
dfl_diag *dfl_report(dfl_sink *sink, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A lint: `level` decides warning or error; ALLOW yields a scratch record that is not kept. */
dfl_diag *dfl_report_lint(dfl_sink *sink, const char *lint, dfl_level level, dfl_code code, dfl_span span,
                          const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The text under the primary span. */
void dfl_diag_here(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dfl_diag_label(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void dfl_diag_note(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dfl_diag_help(dfl_sink *sink, dfl_diag *d, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* An edit that `--fix` applies; without a help line the renderer writes "replace with `text`". */
void dfl_diag_fix(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *text, dfl_certainty certainty);

/* E0601..E0604 for a stopped budget, once per sink; returns false so that callers can `return dfl_report_stop()`. */
bool dfl_report_stop(dfl_sink *sink, const dfl_budget *budget);

/* "E0301"; static storage per code. Title from codes.def. */
const char *dfl_code_text(dfl_code code, char out[6]);
const char *dfl_code_title(dfl_code code);
dfl_severity dfl_code_severity(dfl_code code);
/* Whether the report is that a mapping is illegal, E04xx but for warnings. */
bool dfl_code_is_illegal_mapping(dfl_code code);

/* The candidate nearest to `word` by edit distance (at most a third of its length; 1 for words of two letters; for
 * one letter only its other case), or 0. Ties: first wins. */
dfl_sym dfl_suggest(const dfl_intern *names, const char *word, const dfl_sym *candidates, size_t n);

#endif
