/*
 * The inside of a session, for the files of this room. A session owns one arena; everything that was read and made
 * lives in it. Files are read once each: the same file, however it was named, is one source.
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
    dfl_arena *home;           /* of the session itself */
    dfl_budget budget;
    bool counted;              /* a limit on steps was asked for */
    dfl_arena *arena;
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    dfl_lint_levels lints;
    const char *stdlib;        /* or NULL */
    size_t max_file;           /* bytes of each file */
    bool verbose;              /* texts about searches have the search space and the effort, too */
    DFL_VEC(dfl_loaded *) loaded;
    dfl_loaded *root;          /* NULL until a file is open */
    bool analysed;
    const dfl_program *program; /* what sema made of the root; NULL before, and when its syntax is broken */
    dfl_results results;
    const char *proof;
    const char *certified;     /* what a certificate was found to prove, or NULL */
    const dfl_explanation *why;        /* of the last mapping that was explained; NULL = none, or it has no result */
    dfl_search_options search;
    dfl_budget after_budget;   /* what is done with the best so far when a limit has stopped the search */
    dfl_arena *after;          /* NULL until a mapping is filled */
    const dfl_mapping *known;  /* the best of what is filled next, when that is searched for kinds; NULL = not known */
    dfl_filled_list filled;
    bool nothing_open;         /* none of the mappings that dfl_session_map was to fill had a hole */
    dfl_stop limited;          /* why a search ended early that left others to be done */
};

/* Parses and analyses the root once; false when nothing was opened. */
bool dfl_session_analyse(dfl_session *s);
/* The mapping with its holes filled, of which the session remembers it; NULL after reporting. `*stopped` says why the
   search ended early, for dfl_session_stopped once the best so far was evaluated in dfl_session_after. */
const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped);
/* A search has ended early: limits that are for each search let the next one begin, all else stops the session. */
void dfl_session_stopped(dfl_session *s, dfl_stop why);
/* Looks at all checks and objectives before anything is evaluated (report/verdict.h). */
void dfl_session_preview_checks(dfl_session *s);
/* Whether there can be a certificate of the mapping that is to be filled, if one is asked for; false after E0808. */
bool dfl_session_may_certify(dfl_session *s, const char *only);
/* What the solver borrows from the session. */
dfl_solver dfl_session_solver(dfl_session *s);
/* Arena for evaluating the result of a search; not cancellable, so that an interrupted search is still reported. */
dfl_arena *dfl_session_after(dfl_session *s);
/* E0201: no mapping is called so. */
void dfl_session_unknown_mapping(dfl_session *s, const char *only);
/* Reports that the template called `only`, or the first one for NULL, has no values; false when there is none. */
bool dfl_session_refuse_template(dfl_session *s, const char *only);
/* The text, with its length in *len unless `len` is NULL. */
const char *dfl_session_give(const dfl_strbuf *text, size_t *len);
/* The status of the session: an internal error before a stop, a stop before findings. */
dfl_exit dfl_session_status(dfl_session *s);

#endif
