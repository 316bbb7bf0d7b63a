/*
 * The session of dfl/dfl.h, for the files of this room. It owns three arenas: one for itself, one for all files, programs and
 * texts, and one for the costs of filled mappings, which a stop of the session does not stop.
 */
#ifndef DFL_API_SESSION_H
#define DFL_API_SESSION_H

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
#include "support/vec.h"

struct dfl_session {
    dfl_arena *home;           /* holds the session itself */
    dfl_budget budget;         /* of `arena` */
    bool counted;              /* the caller set a step limit */
    dfl_arena *arena;          /* files, programs, results and texts */
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    dfl_lint_levels lints;
    const char *stdlib;        /* directory of the standard library, or NULL */
    size_t max_file;           /* largest file, bytes */
    bool verbose;              /* texts about searches include the search space and the effort */
    DFL_VEC(dfl_loaded *) loaded;
    dfl_loaded *root;          /* the file that was opened; NULL = none */
    bool analysed;             /* `program` and `results` are made */
    const dfl_program *program; /* NULL before the analysis, and if the syntax of the root is broken */
    dfl_results results;       /* of the last evaluation */
    const char *proof;         /* text of the last proof, or NULL */
    const char *certified;     /* line on the last certificate that was verified, or NULL */
    const dfl_explanation *why; /* the last explanation; NULL = none, or it failed */
    dfl_search_options search;
    dfl_budget after_budget;   /* of `after` */
    dfl_arena *after;          /* costs of filled mappings; NULL until a mapping is filled */
    dfl_filled_list filled;    /* all mappings that were filled */
    bool nothing_open;         /* the last dfl_session_map found no mapping with holes */
    dfl_stop limited;          /* `limited` of the solver (solve/solve.h) */
};

/* Parses and analyses the root at the first call. False if no file is open. */
bool dfl_session_analyse(dfl_session *s);
/* Fills the holes of a mapping and adds the filled mappings to `filled` (dfl_solve_mapping). */
const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped);
/* Checks the types of all checks and objectives before any evaluation (report/check/check.h). */
void dfl_session_preview_checks(dfl_session *s);
/* Whether there can be a certificate of the mapping that is to be filled, if one is asked for; false after E0808. */
bool dfl_session_may_certify(dfl_session *s, const char *only);
/* What the solver borrows from the session. */
dfl_solver dfl_session_solver(dfl_session *s);
/* Arena for evaluating the result of a search; not cancellable, so that an interrupted search is still reported. */
dfl_arena *dfl_session_after(dfl_session *s);
/* Reports E0201: no mapping is called `only`. */
void dfl_session_unknown_mapping(dfl_session *s, const char *only);
/* Reports that the template called `only`, or the first one for NULL, has no values. False if there is no such template. */
bool dfl_session_refuse_template(dfl_session *s, const char *only);
/* The text, with its length in *len unless `len` is NULL. */
const char *dfl_session_give(const dfl_strbuf *text, size_t *len);
/* The status of the session: an internal error before a stop, a stop before findings. */
dfl_exit dfl_session_status(dfl_session *s);

#endif
