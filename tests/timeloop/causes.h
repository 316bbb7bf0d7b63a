/*
 * Why numbers of the peer may differ from the exact ones. Every cause is decided from the run alone - problem,
 * architecture, mapping - and says which numbers it may change; a difference in any other number is unexplained.
 */
#ifndef DFL_TESTS_TIMELOOP_CAUSES_H
#define DFL_TESTS_TIMELOOP_CAUSES_H

#include "tests/timeloop/peer.h"

typedef enum { PEER_READS, PEER_FILLS, PEER_UPDATES, PEER_CAPACITY, PEER_FIELDS } peer_field;

typedef enum {
    PEER_PADS,         /* imperfect factors: every temporal loop runs its full trips */
    PEER_AVERAGES,     /* instances with unequal pieces: the first, or the mean, stands for all */
    PEER_RESETS,       /* a window that turns or jumps by less than its size is fetched anew */
    PEER_HALOS,        /* windows of two instances overlap: each fetches the overlap */
    PEER_PASSES,       /* a window moves from one instance to the next, which passes it on over a link */
    PEER_PARTLY,       /* links within a group of multipliers reach some of its members */
    PEER_EXTRAPOLATES, /* one iteration of a loop stands for all, also where a window wraps around */
    PEER_BOXES,        /* bounding boxes of a tensor that is told not to be reused in time */
    PEER_RESPILLS,     /* an output that is told not to be reused in time is spilled at every step */
    PEER_DISTRIBUTES,  /* M:N network: parts of a multicast are fetched once and exchanged between siblings */
    PEER_CAUSES
} peer_cause;

/* What the cause is, in a few words. */
const char *peer_cause_text(peer_cause cause);
/* Whether the numbers of this run have to be equal: perfect factors, no artifacts, no directives that the language has
   no word for, no sliding windows, no multicast to multipliers that links reach in part. */
bool peer_plain(const peer_run *run);
/* Whether a dimension is spread over instances in pieces that are not all equal. */
bool peer_uneven(const peer_run *run);
/* Whether all these causes can only make the peer count more. */
bool peer_causes_add(uint32_t causes);
/* Causes that may change the number, as a bit set. */
uint32_t peer_causes_of(const peer_run *run, uint32_t level, uint32_t tensor, peer_field field);
/* Cycles that the peer counts: the full trips of all temporal loops if some factor is imperfect, else 0. */
int64_t peer_padded_cycles(const peer_run *run);

#endif
