/*
 * libdfl: what the command `dflc` is made of. A session reads one file and works on it; everything that a session
 * returns belongs to it and is good until the next call of the same function or dfl_session_free. Sessions share
 * nothing: each thread may have its own. No function prints, ends the process, reads the environment, or opens other
 * files than the one asked for and those that it imports.
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

/* How a piece of work ended; the exit statuses of `dflc`. */
typedef enum {
    DFL_EXIT_OK = 0,
    DFL_EXIT_FINDINGS = 1,   /* errors, denied lints, differences, checks that do not hold */
    DFL_EXIT_USAGE = 2,
    DFL_EXIT_IO = 3,         /* something cannot be read or written */
    DFL_EXIT_INFEASIBLE = 4, /* nothing fits */
    DFL_EXIT_STOPPED = 5,    /* a limit or a signal; what was found so far is reported */
    DFL_EXIT_INTERNAL = 70,  /* a defect of dflc */
} dfl_exit;

typedef enum { DFL_FORMAT_TEXT, DFL_FORMAT_SHORT, DFL_FORMAT_JSON, DFL_FORMAT_SARIF, DFL_FORMAT_CSV } dfl_format;
typedef enum { DFL_DUMP_TOKENS, DFL_DUMP_AST, DFL_DUMP_IR } dfl_dump;

/* Zero means the default. Members are only ever added at the end; `size` says how many the caller knows. */
typedef struct {
    size_t size;            /* sizeof(dfl_session_options) */
    const char *stdlib;     /* directory of std.*; NULL: imports of std.* are not found */
    size_t memory_limit;    /* bytes; default 4 GiB */
    uint64_t step_limit;    /* loop iterations of all passes; default 100 million, but for searches with a limit on time */
    size_t max_diagnostics; /* default 200 */
    dfl_flag *cancel;       /* set it (from a signal handler or another thread) to stop; may be NULL */
    size_t max_file;        /* bytes of a file; default 16 MiB */
    bool verbose;           /* texts about searches have the search space and the effort, too */
} dfl_session_options;

/* `options` may be NULL. Never NULL: without memory the process ends with status 70. */
dfl_session *dfl_session_new(const dfl_session_options *options);
void dfl_session_free(dfl_session *session);
/* 'A'llow, 'W'arn or 'D'eny the lint `name` ("all" for all of them); false when there is no such lint or level. */
bool dfl_session_set_lint(dfl_session *session, const char *name, char level);

/* Reads the file. DFL_EXIT_IO with a diagnostic when it cannot be read, is a directory, is empty or exceeds `max_file`. */
dfl_exit dfl_session_open(dfl_session *session, const char *path);
/* The text of a file that the caller has read; `name` is what diagnostics call it, and imports are relative to it. */
dfl_exit dfl_session_open_text(dfl_session *session, const char *name, const char *text, size_t len);

/* Parses the file and nothing more. */
dfl_exit dfl_session_syntax(dfl_session *session);
/* Everything that can be wrong with the file, its templates, and its complete mappings. */
dfl_exit dfl_session_check(dfl_session *session);
/* Evaluates the mappings of the file, or the one called `only`, and judges `require` and `assume`. Holes are filled. */
dfl_exit dfl_session_eval(dfl_session *session, const char *only);
/* Also judges `expect`, those inside workloads included. */
dfl_exit dfl_session_test(dfl_session *session);

#include "dfl/search.h"

typedef struct {
    const char *name;       /* "m", or "conv1.m": a rank, or "" for all */
    int64_t extent;
} dfl_size;

/* Runs the complete mappings, or the one called `only`, at small sizes by the execution oracle and by the model and
   compares every count. Ranks that `sizes` names get that extent (or keep theirs, if smaller); the others are made
   as small as needed. The text of dfl_session_proof says what was compared. */
dfl_exit dfl_session_prove(dfl_session *session, const char *only, const dfl_size *sizes, size_t n_sizes);
const char *dfl_session_proof(dfl_session *session, size_t *len);

/* Evaluates the mapping called `name`, its holes filled, and finds out what its costs depend on. */
dfl_exit dfl_session_explain(dfl_session *session, const char *name);
/* That as text or JSON, empty when there is no result; NULL for other formats. */
const char *dfl_session_explanation(dfl_session *session, dfl_format format, size_t *len);

/* The report of the last evaluation as text, JSON or CSV; NULL for other formats. Up to `detailed` mappings get a
   screen of text each (0: 4). `len` may be NULL, here and below. */
const char *dfl_session_report(dfl_session *session, dfl_format format, unsigned detailed, size_t *len);
/* Everything reported so far as text, short lines, JSON lines or SARIF; NULL for other formats. */
const char *dfl_session_diagnostics(dfl_session *session, dfl_format format, bool color, size_t *len);
size_t dfl_session_errors(const dfl_session *session);
size_t dfl_session_warnings(const dfl_session *session);

/* The verdicts of the last evaluation. */
typedef struct {
    const char *kind;       /* "require", "expect", "assume" */
    const char *text;       /* as written */
    const char *outcome;    /* "passed", "failed", "unknown" */
    const char *value;      /* the left side in readable units, or NULL */
    uint32_t line;
} dfl_verdict;

size_t dfl_session_verdicts(const dfl_session *session);
dfl_verdict dfl_session_verdict(const dfl_session *session, size_t i);

/* The text of the file in the one layout there is; NULL when it has syntax errors. */
const char *dfl_session_formatted(dfl_session *session, size_t *len);
/* The text of the file with the sure edits of all diagnostics so far; `applied` gets the number of them. */
const char *dfl_session_fixed(dfl_session *session, size_t *applied, size_t *len);
const char *dfl_session_source(const dfl_session *session, size_t *len);
const char *dfl_session_dumped(dfl_session *session, dfl_dump what, size_t *len);
/* The file read as a mapping of MAESTRO, with its hardware in `hardware_path` (may be NULL), as DFL; NULL after
   errors, with *status saying of which kind. */
const char *dfl_session_import_maestro(dfl_session *session, const char *hardware_path, dfl_exit *status, size_t *len);
/* The file read as a specification for AccelForge, with `n` further files that hold parts of it. */
const char *dfl_session_import_accelforge(dfl_session *session, char *const *more_paths, size_t n, dfl_exit *status,
                                          size_t *len);
/* The file read as a run of Timeloop. */
const char *dfl_session_import_timeloop(dfl_session *session, dfl_exit *status, size_t *len);

/* One side of a comparison: a JSON report, its name in messages, and the mapping to compare, or NULL for all. */
typedef struct { const char *name, *report; size_t len; const char *only; } dfl_side;

/* What differs between two reports, as text, with all parts of energy and time if `details`, or as JSON. *status is
   DFL_EXIT_FINDINGS when something does. NULL when a side is no report or has no such mapping. */
const char *dfl_session_diff(dfl_session *session, const dfl_side *from, const dfl_side *to, dfl_format format,
                             bool details, dfl_exit *status, size_t *len);

const char *dfl_version(void);

#ifdef __cplusplus
}
#endif

#endif
