/*
 * The part of libdfl that fills the holes of mappings; include dfl/dfl.h. A search tells how far it is if it is asked to, from
 * one thread at a time, at most ten times a second.
 */
#ifndef DFL_DFL_SEARCH_H
#define DFL_DFL_SEARCH_H

#ifndef DFL_DFL_H
#error "include dfl/dfl.h"
#endif

typedef struct {
    const char *mapping;    /* the one that is filled */
    const char *phase;      /* what is being done, a word or two */
    uint64_t evaluated;     /* choices that were looked at */
    double best, bound;     /* of the objective: the best found, and what cannot be beaten; NAN = not known yet */
} dfl_progress;

/* `now` is NULL when a search that has told something ends. It must not use the session. */
typedef void dfl_progress_told(void *context, const dfl_progress *now);

/* Kinds of mappings outside of the space that is searched for all lines, each of which may be looked at, too. */
enum {
    DFL_SEARCH_ORDER = 1,      /* einsums in another order */
    DFL_SEARCH_RECOMPUTE = 2,  /* intermediates computed again */
    DFL_SEARCH_SPILL = 4,      /* intermediates on the chip for some readers and at home for others */
    DFL_SEARCH_SPLIT = 8,      /* two shared loops of a rank */
    DFL_SEARCH_PIPELINE = 16,  /* einsums at the same time */
    DFL_SEARCH_WINDOW = 32,    /* shared loops along which windows slide */
};

/* How holes of mappings are filled. Zero means the default; members are only ever added at the end. */
typedef struct {
    size_t size;            /* sizeof(dfl_search_options) */
    bool imperfect;         /* tiles that do not divide, too */
    uint64_t evaluations;   /* about the most to evaluate for each mapping that is filled; default 20 million for amounts of
                               loops, any number for lines */
    double seconds;         /* stop then, with the best so far; default: never */
    unsigned jobs;          /* threads; results do not depend on it */
    dfl_progress_told *progress; /* NULL: nobody is told */
    void *progress_context;
    bool certificate;       /* remember what proves the result */
    unsigned beyond;        /* DFL_SEARCH_... */
    unsigned max_fused;     /* 1 + the most loops that einsums share, where all lines are open; default: as many as there are */
    unsigned top;           /* of mappings that leave all lines open the best of so many kinds, at most 64; 0 = the best alone.
                               The best of all keeps the name of the mapping */
    bool spread;            /* any rank over any axis of an array, not just those that share transfers there */
} dfl_search_options;

void dfl_session_set_search(dfl_session *session, const dfl_search_options *options);
/* Fills the holes of the mappings of the file, or of the one called `only`, with what is best for their objective.
   DFL_EXIT_INFEASIBLE when nothing fits, DFL_EXIT_STOPPED after a limit or an interrupt, with the best so far. */
dfl_exit dfl_session_map(dfl_session *session, const char *only);
/* The file with what was found in the place of what was open; what nothing was found for, or was not asked for, is as it was.
   Empty when nothing was found, though something was asked for, or the file is wrong. */
const char *dfl_session_mapped(dfl_session *session, size_t *len);
/* Some lines for each search of dfl_session_map, or one that nothing was open. */
const char *dfl_session_searches(dfl_session *session, size_t *len);
/* The certificate of the only mapping that was filled, or of the one called `only`; NULL after reporting that there is none. */
const char *dfl_session_certificate(dfl_session *session, const char *only, size_t *len);
/* Certificates are no larger than this. */
#define DFL_MAX_CERTIFICATE ((size_t)1 << 30)

/* Verifies a certificate, whose text is called `name` in messages, against the file, without the search. `effort` is how
   many choices of tiles to look at in all; 0: 1000000. Threads, a limit on time (then, and after an interrupt,
   DFL_EXIT_STOPPED) and who is told how far it is are those of dfl_session_set_search. */
dfl_exit dfl_session_check_certificate(dfl_session *session, const char *name, const char *text, size_t len,
                                       uint64_t effort);
/* What the last dfl_session_check_certificate has found to hold, until it was stopped, a line; empty when something does
   not. */
const char *dfl_session_certified(dfl_session *session, size_t *len);

#endif
