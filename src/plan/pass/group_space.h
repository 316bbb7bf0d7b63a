/*
 * The einsums of an open brace that belong to one pass and repeat, as the numbers on which the time of a group of them depends
 * under perfect overlap: what each einsum adds to the engines of a chip (plan/pass/engines.h), and within which groups.
 */
#ifndef DFL_PLAN_PASS_GROUP_SPACE_H
#define DFL_PLAN_PASS_GROUP_SPACE_H

#include "groups/groups.h"
#include "plan/pass/chunk.h"
#include "support/known.h"

/* Time of a port of a memory that a group needs, unless the data stay on the chip. */
typedef struct {
    double seconds;
    uint32_t port;                   /* 2 * memory + is_write */
    dfl_einsum_set ends;             /* nodes that make or read all of the data; the group needs no port if it has them all;
                                        empty = it always needs it */
    dfl_einsum_set beside;           /* nodes that read the same before; the group needs no port if it has one of them */
} dfl_group_transfer;

/* An einsum in one pass. */
typedef struct {
    uint32_t node, compute;
    double least_seconds, work_seconds, launch_seconds;
    const double *on_units;          /* as in chip_time.h */
    uint32_t first, end;             /* its transfers */
} dfl_group_member;

/* An exchange before or behind an einsum in one pass. */
typedef struct {
    uint32_t node, network;
    double seconds;
} dfl_group_exchange;

/* The weights that an einsum reads in one pass. */
typedef struct {
    uint32_t node;
    uint32_t weight;                 /* counted from 0 */
    dfl_i128 bits;
} dfl_group_weight;

/* What runs: the einsums in workload order, or the recomputed ones alone as the backward pass runs them. */
typedef struct {
    DFL_VEC(dfl_group_member) runs;
    DFL_VEC(dfl_group_transfer) transfers;
    DFL_VEC(dfl_group_exchange) exchanges;
} dfl_group_pass;

/* A node is an einsum with the copies of its result. */
typedef struct {
    const dfl_plan_work *work;
    uint32_t n;                      /* nodes */
    uint32_t *members; uint32_t n_members; /* einsums, in workload order */
    uint32_t *node_of;               /* [einsum]: its node; DFL_NONE = not in the space */
    dfl_einsum_set working;          /* nodes with an einsum that is no copy */
    dfl_einsum_set before[DFL_GROUPS_MOST];
    double *floors; uint32_t n_floors; /* [engine * n + node]: what each engine does for a node in any group, s */
    dfl_i128 room;                   /* bits of weights that the memory on the chip holds; -1 = any */
    dfl_group_pass passes[2];      /* the pass itself; what the backward pass recomputes of it */
    DFL_VEC(dfl_group_weight) weights;
    uint32_t n_weights;              /* different ones */
    dfl_known_key key;               /* all numbers of the search of groups */
    bool *counted;                   /* scratch: [weight] */
    double *units, *ports, *nets;    /* scratch: [compute], [port], [network]: busy time */
    const double **on_units;         /* scratch: [member] */
    int64_t *taken;                  /* scratch: [member] */
} dfl_group_space;

/* An empty space. `room` as above. */
dfl_group_space *dfl_group_space_new(const dfl_plan_work *work, dfl_i128 room);
/* Adds an einsum, those before it in the workload having been added, as a node, or to the node whose result it copies: the space
   keeps copies with their einsums, since each copy apart would double the down-sets. False if there are too many nodes. */
bool dfl_group_space_add(dfl_group_space *s, uint32_t einsum);
/* Sets passes, floors, weights and key, all einsums having been added. */
void dfl_group_space_finish(dfl_group_space *s);
/* Seconds of a group, and of its recomputed einsums in the backward pass, as a branch of its own takes them; INFINITY if its
   weights do not fit. `space` is a dfl_group_space that is finished; its scratch is overwritten. */
double dfl_group_space_seconds(void *space, dfl_einsum_set group);

#endif
