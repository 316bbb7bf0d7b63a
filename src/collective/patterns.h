/*
 * The steps of an algorithm as patterns of messages, one for equal steps, from which the closed forms follow.
 */
#ifndef DFL_COLLECTIVE_PATTERNS_H
#define DFL_COLLECTIVE_PATTERNS_H

#include "collective/algorithms.h"

enum { DFL_PATTERNS = 128 }; /* patterns of one exchange: two for each power of two among the ranks */

typedef enum {
    DFL_PATTERN_NEXT,   /* every rank to the next one, the last one to the first */
    DFL_PATTERN_BOTH,   /* half of the bits to the next one and half to the one before */
    DFL_PATTERN_SWAP,   /* every rank with the one `distance` away: the bit `distance` of the rank differs */
    DFL_PATTERN_ALL,    /* every rank to every other one */
    DFL_PATTERN_ONWARD, /* the first `senders` ranks to those `distance` further */
    DFL_PATTERN_CHAIN,  /* neighbours as ONWARD in all steps; which of them send differs between steps */
} dfl_pattern_kind;

typedef struct {
    dfl_pattern_kind kind;
    int64_t distance, senders;
    double bits;        /* of one message; with BOTH: of the two together */
    int64_t times, uses; /* number of steps; number of steps in which a certain link is used */
    bool reduces;
} dfl_round;

typedef struct { uint32_t n; dfl_round at[DFL_PATTERNS]; } dfl_rounds;

/* Adds the time of all steps of a pattern: the farthest message crosses `hops` links, and the busiest link carries `load`
   bits. */
static inline void dfl_pattern_add_time(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_round *p,
                                        double hops, double load, dfl_exchange_cost *out)
{
    double largest = p->kind == DFL_PATTERN_BOTH ? p->bits / 2 : p->bits;
    double arrived = p->kind == DFL_PATTERN_ALL ? p->bits * (double)(team->ranks - 1) : p->bits;
    double step = f->overhead + hops * f->latency + (e->alone ? largest : load) / e->rate;

    step += p->reduces && e->memory_rate > 0 ? arrived / e->memory_rate : 0;
    out->seconds += step * (double)p->times;
}

/* Adds the bits that all steps of a pattern bring over the busiest port, up and down. The senders of ONWARD are the first ones in
   each step, and the receivers others in each. */
static inline void dfl_pattern_add_port(const dfl_round *p, double bits, dfl_exchange_cost *out)
{
    out->bits[0] += bits;
    if (p->kind != DFL_PATTERN_ONWARD)
        out->bits[1] += bits;
    else if (bits > out->bits[1])
        out->bits[1] = bits;
}

#endif
