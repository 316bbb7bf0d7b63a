/*
 * The judge of one problem: a DFL text whose only mapping has holes. The judge runs the search, and enumerates the mappings
 * that the holes allow (enumerate.h). The problem fails
 *   - if an enumerated mapping is below the lower bound of the search, or below a result that the search calls optimal;
 *   - if the enumeration finds a mapping where the search reports that nothing fits;
 *   - if the enumeration is complete for one einsum, for braces or for amounts of loops, and its best mapping is worse than
 *     that of the search;
 *   - if the search of one einsum finds a mapping below its own bound, and so has no bound;
 *   - if the checks refuse the mapping of the search, or the oracle disagrees with a count of it.
 */
#ifndef DFL_TESTS_MAPPER_JUDGE_H
#define DFL_TESTS_MAPPER_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/session.h"

typedef struct {
    uint64_t seed, most;        /* as in enumerate_options */
    uint32_t structures;        /* as in enumerate_options */
    bool file;                  /* the enumeration must find nothing better than the search, even if the search admits a gap */
    bool imperfect;             /* also tile sizes that do not divide their rank */
    bool just_above;            /* as in enumerate_options */
    bool sharing;               /* as in enumerate_options: spatial factors as a search chooses them by default */
    bool charges;               /* compare what the search counts with the model, too */
    /* results: */
    uint64_t evaluated;
    double gap;                 /* relative gap between value and lower bound that the search admits */
    double value;               /* value of the mapping of the search */
    double beaten;              /* this value over the best enumerated value, at least 1 */
    bool complete;              /* the enumeration covered all mappings of its space */
    uint64_t fronts;            /* fronts that the search calls complete */
    uint64_t advised;           /* memory sizes that the search advised, and that were verified */
    uint64_t together;          /* problems compared with the same einsums in braces of their own */
    uint64_t charged;           /* mappings whose costs in the search were compared with those of the model */
    bool drawn;                 /* the text is a legal problem */
    bool fits;                  /* the search found a mapping */
    char why[400];              /* the reason of a failure */
} judge;

/* A session for searches. They spread any rank over any axis, as the enumeration does; with `sharing`, as by default. */
dfl_session *judge_session(bool imperfect, bool sharing);
/* Judges a problem; true if it fails. `why` begins with "unread" if the text is no legal problem. */
bool judge_fails(judge *j, const char *text);
/* Judges the same text with a front over energy and `by`, "latency" or "peak(m1)", in place of its objective. If the search
   calls the front complete, a point of the front must dominate or equal each enumerated mapping. */
bool judge_front_fails(judge *j, const char *text, const char *by);
/* Searches the same text, without stalls, for the best mappings of some kinds, for energy, latency and their product. True if one
   of them is worth less in the model than the best is in the search, or than its bound where windows slide: the bounds of
   searches are made of what they count. */
bool judge_charges_fail(judge *j, const char *text);
/* Reads the text of a mapping back, checks it and compares all counts, peaks and values with the oracle. If false, `why`, of `n`
   bytes, gets the first difference. */
bool judge_proves(const char *mapped, char *why, size_t n);

#endif
