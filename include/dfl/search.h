/* The part of libdfl that fills the holes of mappings. Include dfl/dfl.h instead of this file. */
#ifndef DFL_DFL_SEARCH_H
#define DFL_DFL_SEARCH_H

#ifndef DFL_DFL_H
#error "include dfl/dfl.h"
#endif

/* The progress of a search. */
typedef struct {
    const char *mapping;    /* the mapping that is filled */
    const char *phase;      /* the present step, in a word or two */
    uint64_t evaluated;     /* number of choices that were evaluated */
    double best, bound;     /* the best objective value found, and a lower bound of all; NAN = not known yet */
} dfl_progress;

/* A callback for progress. One thread at a time calls it, at most ten times a second; `now` is NULL when a search that called it
   ends. It must not use the session. */
typedef void dfl_progress_told(void *context, const dfl_progress *now);

/* Extensions of the space that is searched where all lines are open. */
enum {
    DFL_SEARCH_ORDER = 1,      /* other orders of the einsums */
    DFL_SEARCH_RECOMPUTE = 2,  /* intermediates that are recomputed */
    DFL_SEARCH_SPILL = 4,      /* intermediates that some readers take from the chip and others from their home */
    DFL_SEARCH_SPLIT = 8,      /* two shared loops over one rank */
    DFL_SEARCH_PIPELINE = 16,  /* einsums that run at the same time */
    DFL_SEARCH_WINDOW = 32,    /* sliding windows along shared loops */
};

/* Options of searches. Zero means the default. New members are added at the end. */
typedef struct {
    size_t size;            /* sizeof(dfl_search_options) */
    bool imperfect;         /* also search tile sizes that do not divide their rank */
    uint64_t evaluations;   /* approximate limit per mapping; default 20 million for tile sizes, none for lines */
    double seconds;         /* time limit per mapping, after which the best so far is the result; default: none */
    unsigned jobs;          /* number of threads; results do not depend on it */
    dfl_progress_told *progress; /* NULL = no progress is reported */
    void *progress_context;
    bool certificate;       /* keep a certificate of the result */
    unsigned beyond;        /* DFL_SEARCH_...: extensions of the space */
    unsigned max_fused;     /* where all lines are open: 1 + largest number of loops that einsums share; 0 = default (4 loops) */
    unsigned top;           /* where all lines are open: number of kinds, at most 64, of which the best mapping is listed. The
                               best of all keeps the name of the mapping. 0 = the best of all alone */
    bool spread;            /* map any rank to any axis of an array, not only ranks that share transfers there */
} dfl_search_options;

void dfl_session_set_search(dfl_session *session, const dfl_search_options *options);
/* Fills the holes of the mappings of the file, or of the one called `only`, so that their objectives are least.
   DFL_EXIT_INFEASIBLE if no mapping fits, DFL_EXIT_STOPPED after a limit or an interrupt, with the best so far. */
dfl_exit dfl_session_map(dfl_session *session, const char *only);
/* The text of the file with the holes filled. Mappings that were not filled are unchanged. An empty string if the search found no
   mapping or the file has errors. */
const char *dfl_session_mapped(dfl_session *session, size_t *len);
/* Some lines of text for each search of dfl_session_map, or one line if no mapping had holes. */
const char *dfl_session_searches(dfl_session *session, size_t *len);
/* The certificate of the only mapping that was filled, or of the one called `only`. NULL after reporting E0808. */
const char *dfl_session_certificate(dfl_session *session, const char *only, size_t *len);
/* Largest certificate, bytes. */
#define DFL_MAX_CERTIFICATE ((size_t)1 << 30)

/* Verifies a certificate against the file, without a search. `name` is its path in messages; `effort` is the number of tile
   choices to evaluate in all (0: 1000000). Threads, time limit and progress are those of dfl_session_set_search.
   DFL_EXIT_STOPPED after the time limit or an interrupt. */
dfl_exit dfl_session_check_certificate(dfl_session *session, const char *name, const char *text, size_t len,
                                       uint64_t effort);
/* A line on the claims that the last dfl_session_check_certificate verified before it ended or was stopped. An empty string if a
   claim is wrong. */
const char *dfl_session_certified(dfl_session *session, size_t *len);

#endif
