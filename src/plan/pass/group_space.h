/*
 * The search space of groups (plan/pass/grouping.h): the einsums of one open brace, pass and repeat, and the numbers on which the
 * time of a group of them depends. Under perfect overlap this time is that of the busiest engine of a chip (plan/pass/engines.h).
 * The numbers are the seconds that each einsum adds to each engine, and the groups in which it does. Times of groups, their lower
 * bounds and the key of the memo table follow from them. A node of the space is an einsum with the copies of its result.
 */
#ifndef DFL_PLAN_PASS_GROUP_SPACE_H
#define DFL_PLAN_PASS_GROUP_SPACE_H

#include "groups/groups.h"
#include "plan/pass/chunk.h"
#include "support/memo.h"

/* The time of a port of a memory for one transfer of an einsum. A group needs it unless the data stay on the chip. */
typedef struct {
    double seconds;
    uint32_t port;                   /* 2 * memory + is_write */
    dfl_einsum_set ends;             /* nodes that make the data, or those that read all of them; a group that has
                                        all these nodes does not need the transfer; empty = every group needs it */
    dfl_einsum_set beside;           /* nodes before the reader that read the same data; a group with one of them does not
                                        need the transfer */
} dfl_group_transfer;

/* The run of an einsum in one pass. */
typedef struct {
    uint32_t node, compute;
    double least_seconds, work_seconds, launch_seconds; /* as in plan/pass/chip_time.h */
    const double *on_units;          /* as in plan/pass/chip_time.h */
    uint32_t first, end;             /* its transfers: first .. end - 1 */
} dfl_branch_run;

/* An exchange before or behind an einsum in one pass. */
typedef struct {
    uint32_t node, network;
    double seconds;
} dfl_group_exchange;

/* A weight that an einsum reads in one pass. */
typedef struct {
    uint32_t node;
    uint32_t weight;                 /* number of the tensor among the weights of the space */
    dfl_i128 bits;                   /* that the einsum reads */
} dfl_group_weight;

/* The runs of one pass in workload order, with their transfers and exchanges. */
typedef struct {
    DFL_VEC(dfl_branch_run) runs;
    DFL_VEC(dfl_group_transfer) transfers;
    DFL_VEC(dfl_group_exchange) exchanges;
} dfl_group_pass;

/* A search space of groups. dfl_group_space_finish completes it. */
typedef struct {
    const dfl_plan_work *work;
    uint32_t n;                      /* nodes */
    uint32_t *members; uint32_t n_members; /* einsums, in workload order */
    uint32_t *node_of;               /* [einsum]: its node; DFL_NONE = not in the space */
    dfl_einsum_set working;          /* nodes with an einsum that is no copy */
    dfl_einsum_set before[DFL_GROUPS_MOST]; /* [node]: nodes that must not run in a later group */
    double *floors; uint32_t n_floors; /* [engine * n + node]: s of the engine that the node takes in every group */
    dfl_i128 room;                   /* bits of weights that the memory on the chip can hold; -1 = any number */
    dfl_group_pass passes[2];        /* the pass itself; what the backward pass recomputes of it */
    DFL_VEC(dfl_group_weight) weights;
    uint32_t n_weights;              /* number of different weights */
    dfl_memo_key key;               /* of the memo table: all numbers on which the result of the search depends */
    bool *counted;                   /* scratch: [weight]: its bits have been added */
    double *units, *ports, *nets;    /* scratch: [compute], [port], [network]: busy time, s */
    const double **on_units;         /* scratch: [einsum of the group] */
    int64_t *taken;                  /* scratch: [einsum of the group] */
} dfl_group_space;

/* An empty space, in the arena of the plan; `room` as the member. */
dfl_group_space *dfl_group_space_new(const dfl_plan_work *work, dfl_i128 room);
/* Adds an einsum as a node, or to the node whose result it copies: a node for each copy would double the down-sets. Einsums are
   added in the order of the workload. False if there are too many nodes. */
bool dfl_group_space_add(dfl_group_space *s, uint32_t einsum);
/* Sets passes, floors, weights and key. To be called once, after the last einsum was added. */
void dfl_group_space_finish(dfl_group_space *s);
/* Seconds of a group as a branch of its own, and of its recomputed einsums in the backward pass; INFINITY if its weights do not
   fit. `space` is a finished dfl_group_space, whose scratch is overwritten: it is the `cost` of a dfl_group_problem. */
double dfl_group_space_seconds(void *space, dfl_einsum_set group);

#endif
