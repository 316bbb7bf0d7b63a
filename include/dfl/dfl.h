/*
 * libdfl: the library below the command `dflc`. A session reads one file and works on it. The session owns every result; a
 * result is valid until the next call of the same function or dfl_session_free. Sessions share nothing, so each thread may
 * have one of its own. No function prints, ends the process (except without memory), reads the environment, or opens files
 * other than the one named and those that it imports.
 *
 *     dfl_session *s = dfl_session_new(NULL);
 *     if (dfl_session_open(s, "attention.dfl") == DFL_EXIT_OK && dfl_session_eval(s, NULL) == DFL_EXIT_OK)
 *         puts(dfl_session_report(s, DFL_FORMAT_JSON, 0, NULL));
 *     else
 *         fputs(dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL), stderr);
 *     dfl_session_free(s);
 */
#ifndef DFL_DFL_H
#define DFL_DFL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<bool> dfl_flag;
extern "C" {
#else
#include <stdatomic.h>
typedef atomic_bool dfl_flag;
#endif

typedef struct dfl_session dfl_session;

/* The outcome of a call; also the exit status of `dflc`. */
typedef enum {
    DFL_EXIT_OK = 0,
    DFL_EXIT_FINDINGS = 1,   /* errors, denied lints, differences, failed checks */
    DFL_EXIT_USAGE = 2,      /* a wrong command line, or a call without an open file */
    DFL_EXIT_IO = 3,         /* a file cannot be read or written */
    DFL_EXIT_INFEASIBLE = 4, /* no mapping is feasible */
    DFL_EXIT_STOPPED = 5,    /* a limit or a signal; the results so far are reported */
    DFL_EXIT_INTERNAL = 70,  /* a defect of dflc */
} dfl_exit;

typedef enum { DFL_FORMAT_TEXT, DFL_FORMAT_SHORT, DFL_FORMAT_JSON, DFL_FORMAT_SARIF, DFL_FORMAT_CSV } dfl_format;
typedef enum { DFL_DUMP_TOKENS, DFL_DUMP_AST, DFL_DUMP_IR } dfl_dump;

/* Limits of a session. Zero means the default. New members are added at the end; the library reads only the first `size`
   bytes, so callers that were compiled with fewer members keep working. */
typedef struct {
    size_t size;            /* sizeof(dfl_session_options) */
    const char *stdlib;     /* directory of std.*; NULL = imports of std.* are errors */
    size_t memory_limit;    /* bytes; default 4 GiB */
    uint64_t step_limit;    /* loop iterations of all passes; default 100 million, but without limit for searches */
    size_t max_diagnostics; /* default 200 */
    dfl_flag *cancel;       /* the session stops when a signal handler or another thread sets it; NULL = never */
    size_t max_file;        /* largest file, bytes; default 16 MiB */
    bool verbose;           /* texts about searches include the search space and the numbers of evaluated choices */
    bool lenient;           /* a given `param` that a file lacks has no effect there, and a mapping `only` that it lacks no result:
                               neither is an error, because another file has them */
} dfl_session_options;

/* Creates a session; NULL `options` mean the defaults. Never returns NULL: without memory the process ends with status 70. */
dfl_session *dfl_session_new(const dfl_session_options *options);
void dfl_session_free(dfl_session *session);
/* Sets the level of the lint `name`, or of all lints for "all": 'A'llow, 'W'arn or 'D'eny. False if the name or the level
   is unknown. */
bool dfl_session_set_lint(dfl_session *session, const char *name, char level);

/* Gives the `param` called `name` a value, in place of the one in its declaration: an expression in DFL over the constants of the
   opened file. `name` is NAME, or ALIAS.NAME for a `param` of an import. Each name may be given once. The next analysis reports
   a name that is no `param`, and a value of another dimension. */
void dfl_session_set_param(dfl_session *session, const char *name, const char *value);

/* Whether the open file or an import of it declares the `param` called `name`, to which dfl_session_set_param gave a value. False
   if the syntax of the file is broken. */
bool dfl_session_has_param(dfl_session *session, const char *name);
/* Whether the open file declares a mapping or a template called `name`. */
bool dfl_session_has_mapping(dfl_session *session, const char *name);

/* Reads the file. DFL_EXIT_IO after a diagnostic if the file cannot be read, is a directory, is empty or exceeds `max_file`. */
dfl_exit dfl_session_open(dfl_session *session, const char *path);
/* Opens the text of a file that the caller has read. `name` is the path of the file in diagnostics; imports are relative to
   `name`. */
dfl_exit dfl_session_open_text(dfl_session *session, const char *name, const char *text, size_t len);

/* Parses the file and nothing more. */
dfl_exit dfl_session_syntax(dfl_session *session);
/* Reports all errors and lints of the file, including its templates and its mappings without holes. Computes no costs. */
dfl_exit dfl_session_check(dfl_session *session);
/* Fills the holes of the mappings of the file, or of the one called `only`, evaluates the mappings and judges `require` and
   `assume`. */
dfl_exit dfl_session_eval(dfl_session *session, const char *only);
/* Evaluates all mappings and judges `require`, `assume` and `expect`, also those of workloads. */
dfl_exit dfl_session_test(dfl_session *session);

#include "dfl/search.h"

/* An extent for a rank. */
typedef struct {
    const char *name;       /* a rank, "m" or "conv1.m"; "" = all ranks */
    int64_t extent;
} dfl_size;

/* Executes the mappings without holes, or the one called `only`, at small sizes and compares every count with the model.
   `sizes` limits the extents of the ranks that it names; all other extents are reduced until the execution is short.
   dfl_session_proof lists the sizes and the counts. */
dfl_exit dfl_session_prove(dfl_session *session, const char *only, const dfl_size *sizes, size_t n_sizes);
const char *dfl_session_proof(dfl_session *session, size_t *len);

/* Fills the holes of the mapping called `name`, or for NULL of the only mapping of the file, evaluates it, and derives how its
   costs depend on each number of the system. */
dfl_exit dfl_session_explain(dfl_session *session, const char *name);
/* The last explanation as text or JSON; "" if dfl_session_explain found none. NULL for other formats. */
const char *dfl_session_explanation(dfl_session *session, dfl_format format, size_t *len);

/* Keeps the results and diagnostics of the open file, and closes the file: further files may follow, each with the step limit of
   the session. Reports are then those of all kept files, with the file of each result; dfl_session_diagnostics has the diagnostics
   of all. */
void dfl_session_keep(dfl_session *session);

/* The report of the last evaluation as text, JSON or CSV; NULL for other formats. The text has one screen for each mapping
   if the file has at most `detailed` mappings, else one line for each; 0 stands for 4. `*len` is the length of the text;
   `len` may be NULL, here and below. */
const char *dfl_session_report(dfl_session *session, dfl_format format, unsigned detailed, size_t *len);
/* What a report contains. Zero means the default. New members are added at the end; the library reads only the first `size`
   bytes. */
typedef struct {
    size_t size;            /* sizeof(dfl_report_options) */
    dfl_format format;      /* text, JSON or CSV */
    unsigned detailed;      /* as for dfl_session_report */
    bool sum;               /* add the sum of latency, energy and operations over all mappings with costs */
    const char *columns;    /* text and CSV: figures separated by commas, for a table with one row for each mapping; NULL = the
                               whole report */
    bool plans;             /* CSV: one row for each mapping, with what a search decided about a plan over chips */
} dfl_report_options;

/* As dfl_session_report, with further options. If a name among `columns` is no figure, reports this at the place of the name in a
   source called `--columns`, sets *status to DFL_EXIT_USAGE and returns NULL; else *status is DFL_EXIT_OK. */
const char *dfl_session_report_with(dfl_session *session, const dfl_report_options *options, dfl_exit *status, size_t *len);
/* All diagnostics of the session as text, short lines, JSON lines or SARIF; NULL for other formats. */
const char *dfl_session_diagnostics(dfl_session *session, dfl_format format, bool color, size_t *len);
/* The diagnostics of `n` sessions as one SARIF log with one run for each session; NULL for n = 0. The text belongs to the first
   session. */
const char *dfl_sessions_sarif(dfl_session *const *sessions, size_t n, size_t *len);
size_t dfl_session_errors(const dfl_session *session);
size_t dfl_session_warnings(const dfl_session *session);

/* The verdict on one check. */
typedef struct {
    const char *kind;       /* "require", "expect", "assume" */
    const char *text;       /* text of the check in the file */
    const char *outcome;    /* "passed", "failed", "unknown" */
    const char *value;      /* the value of the left side, in readable units; or NULL */
    uint32_t line;
} dfl_verdict;

/* The number of verdicts of the last evaluation, and verdict `i`, from 0. */
size_t dfl_session_verdicts(const dfl_session *session);
dfl_verdict dfl_session_verdict(const dfl_session *session, size_t i);

/* The text of the file as the formatter lays it out; NULL if it has syntax errors. */
const char *dfl_session_formatted(dfl_session *session, size_t *len);
/* The text of the file with all edits applied that diagnostics mark as safe; *applied is the number of these edits. */
const char *dfl_session_fixed(dfl_session *session, size_t *applied, size_t *len);
/* The original text of the file; NULL if no file is open. */
const char *dfl_session_source(const dfl_session *session, size_t *len);
/* A stage of the compiler as text; NULL if no file is open. */
const char *dfl_session_dumped(dfl_session *session, dfl_dump what, size_t *len);
/* The tool that the open file and `n` further ones are for: "maestro", "accelforge" or "timeloop", to be imported by the functions
   below. NULL after reporting that the files do not tell. */
const char *dfl_session_foreign_tool(dfl_session *session, char *const *more_paths, size_t n, dfl_exit *status);
/* Translates the open file, a mapping of MAESTRO, and its hardware file `hardware_path` (NULL = none) into DFL. Returns
   NULL after errors; *status is the outcome. */
const char *dfl_session_import_maestro(dfl_session *session, const char *hardware_path, dfl_exit *status, size_t *len);
/* Translates the open file, a specification for AccelForge with parts in `n` further files, into DFL. */
const char *dfl_session_import_accelforge(dfl_session *session, char *const *more_paths, size_t n, dfl_exit *status,
                                          size_t *len);
/* Translates the open file, the application of a run of Calculon, with its execution and its system in two further files, into
   DFL. */
const char *dfl_session_import_calculon(dfl_session *session, char *const *more_paths, size_t n, dfl_exit *status,
                                        size_t *len);
/* Translates the open file, a run of Timeloop with parts in `n` further files, into DFL. */
const char *dfl_session_import_timeloop(dfl_session *session, char *const *more_paths, size_t n, dfl_exit *status,
                                        size_t *len);

/* One side of a comparison: a JSON report of `len` bytes, its name in messages, and the mapping to compare, or NULL for all. */
typedef struct { const char *name, *report; size_t len; const char *only; } dfl_side;

/* The differences of two reports as text or JSON. With `details` the text lists all parts of energy and time. *status is
   DFL_EXIT_FINDINGS if the reports differ. Returns NULL if a side is no report or lacks the selected mapping. */
const char *dfl_session_diff(dfl_session *session, const dfl_side *from, const dfl_side *to, dfl_format format,
                             bool details, dfl_exit *status, size_t *len);

/* The declarations of the open file as text, one per line, or as JSON (grammar/dfl-list-1.schema.json). Nothing is analysed. NULL
   for other formats, and if no file is open. */
const char *dfl_session_list(dfl_session *session, dfl_format format, size_t *len);

const char *dfl_version(void);

#ifdef __cplusplus
}
#endif

#endif
