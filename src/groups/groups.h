/*
 * Groups of einsums that a chip runs one after the other. The einsums of a group run together: what they exchange stays on the
 * chip, what passes from one group to another goes through memory. So the groups form a partition of the graph of einsums, and
 * an order in which no group reads what a later one writes. The first k groups of such an order are a down-set: a set of
 * einsums that contains all einsums before each of its members. So orders of groups are chains of down-sets
 *
 *     {} = D(0) < D(1) < ... < D(k) = all, group i = D(i) without D(i - 1),
 *
 * and the cost of a group depends on its members alone. The search is a dynamic program over down-sets: the least cost of a
 * down-set is the minimum, over the down-sets in it, of their least cost plus that of the group between them. Graphs of layers
 * are narrow: the 18 einsums of the forward pass of a transformer layer have 26 down-sets, the 23 of its backward pass 1146.
 */
#ifndef DFL_GROUPS_GROUPS_H
#define DFL_GROUPS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

enum {
    DFL_GROUPS_MOST = 128,         /* einsums of one search: bits of a set */
    /* Down-sets of one search. The search looks at all pairs of them, which takes tenths of a second at this limit; a layer of a
       network has about a thousand. */
    DFL_GROUPS_DOWN_SETS = 1 << 14,
};

/* Bit i is set if einsum i is a member. */
__extension__ typedef unsigned __int128 dfl_einsum_set;

#define DFL_EINSUM_BIT(i) ((dfl_einsum_set)1 << (i))

typedef struct {
    uint32_t n;                    /* einsums, <= DFL_GROUPS_MOST */
    uint32_t most;                 /* largest number of groups; 0 = any */
    const dfl_einsum_set *before;  /* [einsum]: einsums whose results it reads; they have smaller indices */
    /* Cost of a group, >= 0; INFINITY if it does not fit. Called at most once per group. */
    double (*cost)(void *context, dfl_einsum_set group);
    void *context;
    /* [row * n + einsum]: `n_floors` lower bounds of the cost. For each row, the cost of a group is at least the sum over its
       members, but for rounding. Groups that cannot lead to a lower cost than the best one so far are not evaluated. */
    const double *floors;
    uint32_t n_floors;             /* 0 = no lower bounds */
} dfl_group_problem;

typedef struct {
    uint32_t n;
    dfl_einsum_set *groups;        /* [group], in an order in which they can run; NULL if nothing fits */
    double cost;                   /* sum over the groups; INFINITY if nothing fits */
    bool proven;                   /* the cost is the minimum (or nothing fits); false if the graph has more than
                                      DFL_GROUPS_DOWN_SETS down-sets, or the budget of the arena stopped: then groups are cut
                                      from the given order of the einsums */
    uint64_t down_sets, evaluated; /* down-sets of the search; calls of `cost` */
} dfl_groups;

/* Groups of the least cost. Costs must be the same in every call for the same group. */
dfl_groups dfl_groups_find(dfl_arena *arena, const dfl_group_problem *problem);

#endif
