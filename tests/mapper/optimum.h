/*
 * Optima of peers, compared with the results of the search for the specifications of the peers. The result of the
 * search must never be worse. It may be better, because the space of the search is larger: homes, the number of shared
 * loops, the ranks of an axis. A better mapping must leave the space of the peer in a way that the specification
 * excludes (freedom.c). The mapping is read back from the text that `dflc map` writes, checked and evaluated again.
 */
#ifndef DFL_TESTS_MAPPER_OPTIMUM_H
#define DFL_TESTS_MAPPER_OPTIMUM_H

#include "ir/mapping.h"
#include "support/json.h"

typedef struct { char text[300]; } optimum_text;

typedef enum {
    VERDICT_EQUAL,   /* to 1e-6 */
    VERDICT_LOWER,   /* lower, with a mapping outside of the space of the peer: `why` */
    VERDICT_SKIPPED, /* the objective or the import is not supported: `why` */
    VERDICT_FAILED
} optimum_verdict;

typedef struct {
    optimum_verdict verdict;
    optimum_text why;
    const char *objective;   /* static; NULL = unknown */
    bool repaired;           /* the optimum of the peer cannot be executed; `peer` is the best that can */
    double peer, ours;       /* value of the objective, in its unit */
    bool optimal;
    double gap;              /* value / lower bound - 1 */
    int64_t evaluated;
    double seconds, peer_seconds; /* processor time, s; 0 = unknown */
} optimum_result;

/* The ways in which a mapping leaves the space of the peer; "" = none. `leaves_home`: a tensor is not kept in the only home
   that the specification allows, which the import writes as a line. */
typedef struct { char text[240]; bool leaves_home; } optimum_freedom;

/* Compares one case of AccelForge. `stem`: path of specification and report without their suffixes. `prove`: also run the
   oracle. */
void optimum_accelforge(const char *stem, bool verbose, bool prove, optimum_result *out);
/* Compares one run of Timeloop: energy * cycles by the rules of Timeloop, for the best mapping by the rules of dflc. */
void optimum_timeloop(const char *directory, optimum_result *out);

/* freedom.c: `source` is the session that imported the specification. */
struct dfl_session;
bool optimum_freedom_of(struct dfl_session *source, const dfl_intern *names, const dfl_mapping *m, int64_t max_fused,
                      optimum_freedom *out);

#endif
