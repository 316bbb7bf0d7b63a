/* Causes for which numbers of the peer may differ from the exact ones. Each cause follows from the run alone (problem,
   architecture, mapping) and has a set of numbers that it may change; a difference in any other number is unexplained. */
#ifndef DFL_TESTS_TIMELOOP_CAUSES_H
#define DFL_TESTS_TIMELOOP_CAUSES_H

#include "tests/timeloop/peer.h"

typedef enum { PEER_READS, PEER_FILLS, PEER_UPDATES, PEER_CAPACITY, PEER_FIELDS } peer_field;

typedef enum {
    PEER_PADS,         /* imperfect factors: the peer runs the full trips of every temporal loop */
    PEER_AVERAGES,     /* instances with unequal pieces: the peer counts the first instance, or the mean, for all */
    PEER_RESETS,       /* the peer fetches a whole window anew if it turns back or jumps by less than its size */
    PEER_HALOS,        /* windows of two instances overlap: the peer charges the overlap to both instances */
    PEER_PASSES,       /* a window moves from one instance to the next, which passes it on over a link */
    PEER_PARTLY,       /* links reach only some members of a multicast group of multipliers */
    PEER_EXTRAPOLATES, /* the peer extrapolates from one iteration of a loop, although a window may wrap around in others */
    PEER_BOXES,        /* tiles with gaps of a tensor with `no_temporal_reuse`: the peer fetches bounding boxes */
    PEER_RESPILLS,     /* an output with `no_temporal_reuse`: the peer spills it at every step */
    PEER_DISTRIBUTES,  /* M:N network: parts of a multicast are fetched once and exchanged between siblings */
    PEER_CAUSES
} peer_cause;

/* The name of the cause, for tables: a few words. */
const char *peer_cause_text(peer_cause cause);
/* Whether the run is plain, so that all numbers must be equal: perfect factors, no artifacts, no directives that DFL
   cannot express, no sliding windows, and no multicast group of multipliers with links to some members only. */
bool peer_plain(const peer_run *run);
/* Whether a dimension is spread over instances in pieces that are not all equal. */
bool peer_uneven(const peer_run *run);
/* Whether each cause of the set can only raise the numbers of the peer. */
bool peer_causes_add(uint32_t causes);
/* Causes that may change the number, as a bit set. */
uint32_t peer_causes_of(const peer_run *run, uint32_t level, uint32_t tensor, peer_field field);
/* Cycles that the peer counts: the full trips of all temporal loops if some factor is imperfect, else 0. */
int64_t peer_padded_cycles(const peer_run *run);

#endif
