/*
 * Optima that peers published, against what the search finds in their specifications. The search is free where the peer
 * is not (what must be kept where, how many loops are shared, which ranks go along an axis), so it may be better, but
 * then the mapping found must leave the peer's space in some way that its specification names (freedom.c). It is never
 * worse. The mapping itself is read back from the text that `dflc map` writes, checked and evaluated again.
 */
#ifndef DFL_TESTS_MAPPER_OPTIMUM_H
#define DFL_TESTS_MAPPER_OPTIMUM_H

#include "ir/mapping.h"
#include "support/json.h"

typedef struct { char text[300]; } optimum_text;

typedef enum {
    VERDICT_EQUAL,   /* to 1e-6 */
    VERDICT_LOWER,   /* with a mapping that the peer may not choose: `why` */
    VERDICT_SKIPPED, /* cannot be asked for, or not imported: `why` */
    VERDICT_FAILED
} optimum_verdict;

typedef struct {
    optimum_verdict verdict;
    optimum_text why;
    const char *objective;
    bool repaired;           /* the peer's own optimum cannot be executed; `peer` is the best that can */
    double peer, ours;       /* values of the objective */
    bool optimal;
    double gap;              /* value / lower bound - 1 */
    int64_t evaluated;
    double seconds, peer_seconds; /* processor time; 0 = not known */
} optimum_result;

/* What the mapping does that the peer's mapper may not; "" = nothing. */
typedef struct { char text[240]; } optimum_freedom;

/* `stem`: path of the specification and the report without their endings. `prove`: execute the mapping, too. */
void optimum_accelforge(const char *stem, bool verbose, bool prove, optimum_result *out);
/* `directory`: of the run; energy * cycles as the peer counts, by the mapping that is best as we count. */
void optimum_timeloop(const char *directory, optimum_result *out);

/* freedom.c: the specification of `source` must have been imported by that session. */
struct dfl_session;
bool optimum_freedom_of(struct dfl_session *source, const dfl_intern *names, const dfl_mapping *m, int64_t max_fused,
                      optimum_freedom *out);

#endif
