/* The part of libdfl that fills the holes of mappings. Include dfl/dfl.h instead of this file. */
#ifndef DFL_DFL_SEARCH_H
#define DFL_DFL_SEARCH_H

#ifndef DFL_DFL_H
#error "include dfl/dfl.h"
#endif

/* The progress of a search. */
typedef struct {
    const char *mapping;    /* the mapping that is filled */
    const char *phase;      /* name of the present step, one or two words */
    uint64_t evaluated;     /* number of evaluated choices of lines or tile sizes */
    double best, bound;     /* value of the incumbent, and a lower bound of the objective; NAN = not known yet */
} dfl_progress;

/* A callback for progress. One thread at a time calls it, at most ten times a second; `now` is NULL at the end of a search
   that reported progress. The callback must not use the session. */
typedef void dfl_progress_told(void *context, const dfl_progress *now);

/* Extensions of the search space of mappings whose lines are all open. */
enum {
    DFL_SEARCH_ORDER = 1,      /* other orders of the einsums */
    DFL_SEARCH_RECOMPUTE = 2,  /* intermediates that are recomputed */
    DFL_SEARCH_SPILL = 4,      /* intermediates that some einsums read on the chip and other einsums read from the home of the
                                  intermediate */
    DFL_SEARCH_SPLIT = 8,      /* two shared loops over one rank */
    DFL_SEARCH_PIPELINE = 16,  /* einsums that run at the same time */
    DFL_SEARCH_WINDOW = 32,    /* sliding windows along shared loops */
    DFL_SEARCH_KEEP = 64,      /* keeps of single einsums above branches */
};

/* Options of searches. Zero means the default. New members are added at the end. */
typedef struct {
    size_t size;            /* sizeof(dfl_search_options) */
    bool imperfect;         /* search also tile sizes that do not divide the extent of their rank */
    uint64_t evaluations;   /* approximate limit per mapping; default 20 million if only tile sizes are open */
    double seconds;         /* time limit per mapping; the incumbent at this time is the result; default: see `endless` */
    unsigned jobs;          /* number of threads; results do not depend on it */
    dfl_progress_told *progress; /* NULL = no progress is reported */
    void *progress_context;
    bool certificate;       /* produce a certificate of the result */
    unsigned beyond;        /* extensions of the search space: bits DFL_SEARCH_... */
    unsigned max_fused;     /* all lines open: 1 + largest number of loops that einsums share; 0 = default (4 loops) */
    unsigned top;           /* all lines open: number of structures whose best mappings are listed, at most 64; the first one
                               keeps the name of the mapping. 0 = the best mapping alone */
    bool spread;            /* map any rank to any axis of an array, not only ranks that share transfers there */
    double gap;             /* the search stops when its value is at most 1 + gap times its lower bound; this is no limit, and
                               so DFL_EXIT_OK; 0 = it stops at the least value */
    bool perfect;           /* search only tile sizes that divide; without it and `imperfect`, a single einsum with an extent of
                               few or of many divisors is searched as with `imperfect` */
    bool endless;           /* no limit at all; without it a search with neither `seconds` nor `evaluations` nor a limit on
                               steps ends after a fixed amount of work, some 30 s. That was not asked for, and so
                               DFL_EXIT_OK */
    bool counted;           /* `seconds` count work and not time, so that the result is the same everywhere */
} dfl_search_options;

void dfl_session_set_search(dfl_session *session, const dfl_search_options *options);
/* Fills the holes of the mappings of the file, or of the one called `only`, and minimizes their objectives.
   DFL_EXIT_INFEASIBLE if no mapping fits; DFL_EXIT_STOPPED after a limit or an interrupt: the incumbents are the results. */
dfl_exit dfl_session_map(dfl_session *session, const char *only);
/* The text of the file with the holes filled. Mappings that were not filled are unchanged. An empty string if the search found no
   mapping or the file has errors. */
const char *dfl_session_mapped(dfl_session *session, size_t *len);
/* Some lines of text for each search of dfl_session_map, or one line if no mapping had holes. */
const char *dfl_session_searches(dfl_session *session, size_t *len);
/* The certificate of the only mapping that was filled, or of the one called `only`. NULL after reporting E0808. */
const char *dfl_session_certificate(dfl_session *session, const char *only, size_t *len);
/* Largest size of a certificate, bytes. */
#define DFL_MAX_CERTIFICATE ((size_t)1 << 30)

/* Verifies a certificate against the file, without a search. `name` is the path of the certificate in messages; `effort` is
   the total number of assignments of tile sizes to evaluate (0: 1000000). Threads, time limit and progress are those of
   dfl_session_set_search. DFL_EXIT_STOPPED after the time limit or an interrupt. */
dfl_exit dfl_session_check_certificate(dfl_session *session, const char *name, const char *text, size_t len,
                                       uint64_t effort);
/* One line that names the claims verified by the last dfl_session_check_certificate, also if a limit stopped it. An empty
   string if a claim is wrong. */
const char *dfl_session_certified(dfl_session *session, size_t *len);

#endif
