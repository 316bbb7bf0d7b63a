/*
 * The session of dfl/dfl.h, for the files of this room. A session owns three arenas: one for the session itself, one for
 * all files, programs and texts, and one for the costs of filled mappings. An interrupt does not stop the third one.
 */
#ifndef DFL_API_SESSION_H
#define DFL_API_SESSION_H

#include "api/given.h"
#include "api/load.h"
#include "diag/lints.h"
#include "dfl/dfl.h"
#include "ir/path/path.h"
#include "report/report.h"
#include "report/explain/explain.h"
#include "sema/sema.h"
#include "solve/filled.h"
#include "solve/solve.h"
#include "syntax/syntax.h"
#include "support/blocks.h"
#include "support/vec.h"

struct dfl_session {
    dfl_arena *home;           /* holds the session itself */
    dfl_block_store blocks;    /* of `budget` and of all budgets made from it */
    dfl_budget budget;         /* limits of `arena` */
    bool user_step_limit;       /* the caller set the step limit of `budget`; else it is the default */
    dfl_arena *arena;          /* files, programs, results and texts */
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    dfl_lint_levels lints;
    dfl_given_list given;      /* values of parameters, in the order in which the caller gave them */
    DFL_VEC(bool *) given_found; /* for each of them: the open file or an import declares it */
    bool is_lenient;           /* a file without a given parameter, or without the mapping to process, has no error */
    const char *stdlib;        /* directory of the standard library, or NULL */
    size_t max_file;           /* largest file (in bytes) */
    bool verbose;              /* texts about searches include the search space and the numbers of evaluated choices */
    DFL_VEC(dfl_loaded *) loaded;
    dfl_loaded *root;          /* the file that was opened; NULL = none */
    bool analysed;             /* the analysis has run and set `program` and `results` */
    const dfl_program *program; /* NULL before the analysis, and if the syntax of the root is broken */
    dfl_results results;       /* results of the last evaluation */
    const char *proof;         /* text of the last proof, or NULL */
    const char *certified;     /* line on the last certificate that was verified, or NULL */
    const dfl_explanation *why; /* the last explanation; NULL = none, or dfl_session_explain failed */
    DFL_VEC(const dfl_results *) kept; /* results that dfl_session_keep has kept */
    DFL_VEC(dfl_sink *) kept_sinks;    /* diagnostics that dfl_session_keep has kept */
    size_t max_diagnostics;
    dfl_search_options search;
    dfl_budget after_budget;   /* limits of `after` */
    dfl_arena *after;          /* costs of filled mappings; NULL until a mapping is filled */
    dfl_filled_list filled;    /* all filled mappings */
    struct dfl_plan_memo *memo; /* `memo` of the solvers; NULL until there is a solver */
    bool nothing_open;         /* the last dfl_session_map found no mapping with holes */
    dfl_stop limited;          /* `limited` of the solver (solve/solve.h) */
};

/* Parses and analyses the root at the first call. False if no file is open. */
bool dfl_session_analyse(dfl_session *s);
/* Fills the holes of a mapping and adds the filled mappings to `filled` (dfl_solve_mapping). */
const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped);
/* Checks the types of all checks and objectives before any evaluation (report/check/check.h). */
void dfl_session_preview_checks(dfl_session *s);
/* Whether the search of the selected mapping can produce the certificate that the options ask for; true if they ask for
   none. False after reporting E0808. */
bool dfl_session_may_certify(dfl_session *s, const char *only);
/* A solver that borrows its members from the session. */
dfl_solver dfl_session_solver(dfl_session *s);
/* The arena for evaluating the result of a search. No interrupt stops it, so the incumbent of an interrupted search is
   still reported. */
dfl_arena *dfl_session_after(dfl_session *s);
/* Reports why there is nothing to process: E0201 if no mapping is called `only`; a template that lacks values; a sweep. Reports
   nothing if `only` is NULL and the file has none of them, and in a lenient session. */
void dfl_session_refuse_nothing(dfl_session *s, const char *only);
/* Reports E0201: no mapping is called `only`. */
void dfl_session_unknown_mapping(dfl_session *s, const char *only);
/* Reports that the template called `only`, or for NULL the first template, lacks values of parameters. False if the file
   has no such template. */
bool dfl_session_refuse_template(dfl_session *s, const char *only);
/* Reports E0609 for a file with a sweep and without a mapping: there is nothing to evaluate. False if this is another file. */
bool dfl_session_refuse_sweep(dfl_session *s);
/* Returns `text` and sets *len to its length in bytes, unless `len` is NULL. */
const char *dfl_session_give(const dfl_strbuf *text, size_t *len);
/* The exit status of the session: a stop of the budget takes precedence over an internal error, an internal error over
   findings. */
dfl_exit dfl_session_status(dfl_session *s);

#endif
