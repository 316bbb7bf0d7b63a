/*
 * One problem, a text whose only mapping has holes, through the search and through an enumeration of what they leave
 * open (enumerate.h). It fails when the enumeration gets below the bound of the search, or below what it says is optimal; when it
 * finds anything where the search says that nothing fits; and when, of one einsum, of braces or of amounts of loops, it looked at
 * everything there is and does not get to what the search found. That must be taken by the checks and proven by the oracle, too.
 */
#ifndef DFL_TESTS_MAPPER_JUDGE_H
#define DFL_TESTS_MAPPER_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/session.h"

typedef struct {
    uint64_t seed, most;        /* of enumerate_options, as the next one */
    uint32_t structures;
    bool file;                  /* look for anything better, whatever the search admits */
    bool imperfect;             /* amounts of tiles that do not divide, too */
    bool just_above;            /* of enumerate_options */
    bool sharing;               /* of them, too: spreads as searches choose them if they are not told otherwise */
    /* what was found out: */
    uint64_t evaluated;
    double gap;                 /* that the search admits */
    double value, beaten;       /* of what it found; how many times as much that is as the best that was enumerated, at least 1 */
    bool complete;              /* the enumeration looked at everything */
    uint64_t fronts;            /* that are said to be complete */
    uint64_t advised;           /* sizes with which lines fit */
    uint64_t together;          /* compared with braces apart */
    bool drawn;                 /* it is a problem */
    bool fits;                  /* the search found something */
    char why[400];              /* it fails */
} judge;

/* A session in which searches spread any rank over any axis, as the enumeration does, or, `sharing`, as by default. */
dfl_session *judge_session(bool imperfect, bool sharing);
/* Whether the problem fails; `why` begins with "unread" when it is none. */
bool judge_fails(judge *j, const char *text);
/* The same for the file with a front over energy and `by`, "latency" or "peak(m1)", in place of what it minimizes: nothing that was
   looked at is undercut by no mapping of the front, if the search says so. */
bool judge_front_fails(judge *j, const char *text, const char *by);
/* What was found, read back, is checked, and executed as it is: every count, peaks, values. `why` has room for `n` if not. */
bool judge_proves(const char *mapped, char *why, size_t n);

#endif
