/*
 * What an exchange between chips costs. A collective is a sequence of steps, and a step is a set of messages. All groups of
 * the collective run at the same time and share the links. The time of a step is the overhead of a rank, plus the largest
 * latency of a message, plus the time of the busiest link. `collective/step_rule.h` computes this by definition, message by
 * message; the closed forms of this room equal it.
 */
#ifndef DFL_COLLECTIVE_COLLECTIVE_H
#define DFL_COLLECTIVE_COLLECTIVE_H

#include "diag/diag.h"
#include "collective/stage_ways.h"
#include "ir/system.h"

typedef enum {
    DFL_COLLECTIVE_ALL_REDUCE,
    DFL_COLLECTIVE_REDUCE_SCATTER,
    DFL_COLLECTIVE_ALL_GATHER,
    DFL_COLLECTIVE_ALL_TO_ALL,
    DFL_COLLECTIVE_BROADCAST,
    DFL_COLLECTIVE_POINT_TO_POINT, /* every instance but the last of its part sends one message to the instance `stride`
                                      further along the only part */
    DFL_N_COLLECTIVES,
} dfl_collective_kind;

/* Some instances of an axis: `count` of them, `stride` apart. Groups repeat every `period` instances, and those that start at the
   first period - stride * (count - 1) instances of a period exchange data; the other instances are idle. */
typedef struct {
    uint32_t axis;
    int64_t stride, count;
    int64_t period;              /* 0 = stride * count: no instance is idle. At most that */
} dfl_group_part;

/* The ranks of one group are all combinations of the instances of its parts. The other coordinates of all axes give the
   other groups, which run at the same time. */
typedef struct {
    dfl_collective_kind kind;
    double bits;                 /* all-reduce, reduce-scatter, all-gather, broadcast: the whole result; all-to-all: what one
                                    rank has; point to point: one message */
    const dfl_group_part *parts; /* outer ones first, n_parts in all */
    uint32_t n_parts;
    uint32_t element;            /* the chip: the ranks are the instances of this element, which holds the homes. All parts lie
                                    outside of it. The axes between a part and it tell how many ranks share a port */
    double memory_rate;          /* bits of a piece over the time in which a rank reads two pieces and writes one to reduce
                                    them (in bit/s); 0 = no time */
} dfl_collective;

typedef struct {
    bool contention_none;        /* every message as if it were alone */
    uint32_t chunks;             /* pieces of every collective, 0 = the best of 1, 2, 4 ... 64 */
} dfl_collective_options;

/* Use of one class of links of a network: links of one kind in one direction. */
typedef struct {
    uint32_t network;
    uint32_t class;              /* dfl_fabric_class_name numbers them */
    const char *name;            /* "port", "level 2", "global", "axis x+", ...; one for both directions of ports and levels */
    double largest_bits;         /* bits on the busiest link of the class */
    double seconds;              /* time that this link needs for them (in s) */
    double running;              /* time of the exchanges that use this link (in s) */
} dfl_link_use;

/* What a rank sends over one network of its group, as a share of the bits of the collective; the mean over the ranks. */
typedef struct { uint32_t network; double share; } dfl_network_share;

typedef struct {
    dfl_algorithm algorithm;
    uint32_t chunks;
    uint32_t network;            /* network that takes the largest part of the time */
    double seconds;              /* time of the collective (in s) */
    const dfl_link_use *links;   /* n_links classes */
    uint32_t n_links;
    const dfl_network_share *shares; /* n_shares networks, outer ones first */
    uint32_t n_shares;
} dfl_collective_cost;

/* The cost of a collective by its best legal algorithm; ties go to the first in the order of dfl_algorithm. A group of one rank
   costs nothing. False after a report at `span`: the group has no network, or no permitted algorithm is legal. */
bool dfl_collective_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_system *system, dfl_span span,
                         const dfl_collective *collective, const dfl_collective_options *options, dfl_collective_cost *out);
/* Messages between the stages of a pipeline in one micro-batch. */
typedef struct {
    dfl_group_part stages;       /* no instance is idle */
    uint32_t element;            /* the chip */
    double bits;                 /* of one message */
    dfl_stage_traffic traffic;
} dfl_stage_messages;

/* The links that the messages of one stage use. */
typedef struct { const dfl_link_use *links; uint32_t n_links; } dfl_stage_uses;

/* Sets the links of each stage, `out`: [stage]. False after a report: no formula holds, and the network is too large for the step
   rule. */
bool dfl_stage_links_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_system *system, dfl_span span,
                          const dfl_stage_messages *messages, dfl_stage_uses *out);
/* The word of the report for a kind: "all_reduce". */
const char *dfl_collective_name(dfl_collective_kind kind);

#endif
