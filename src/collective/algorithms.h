/*
 * The steps of the algorithms for one group of ranks. A step is a set of messages between ranks; it ends when all have arrived.
 * COLLECTIVES.md lists the algorithms.
 */
#ifndef DFL_COLLECTIVE_ALGORITHMS_H
#define DFL_COLLECTIVE_ALGORITHMS_H

#include "collective/collective.h"
#include "collective/fabric.h"
#include "support/vec.h"

/* What the double trees of one group have in common (dfl_fat_tree_loads): computed once, and kept in the arena. */
typedef struct { dfl_arena *arena; double *loads; } dfl_tree_loads;

/* One collective of one group by one algorithm on one network. */
typedef struct {
    dfl_collective_kind kind;
    dfl_algorithm algorithm;
    dfl_algorithm inner;    /* rotated: the algorithm in each dimension */
    double bits;            /* as in dfl_collective */
    int64_t pieces;         /* chain, double tree: pieces that follow each other, >= 1 */
    int64_t sharers;        /* ranks of other groups that send over the same port, this one counted */
    double rate;            /* bandwidth of a link times its efficiency (in bit/s) */
    double memory_rate;     /* as in dfl_collective */
    bool alone;             /* every message as if it were alone */
    dfl_tree_loads *tree_loads; /* shared by all exchanges of the group; NULL = computed for each */
} dfl_team_exchange;

/* What an exchange costs. */
typedef struct {
    double seconds;
    double bits[DFL_LINK_CLASSES]; /* bits on the busiest link of every class */
} dfl_exchange_cost;

typedef struct { int64_t from, to; double bits; } dfl_message; /* ranks of the group */

/* A step that follows itself `times` times. */
typedef struct {
    const dfl_message *messages;
    size_t n;
    int64_t times;
    bool reduces;           /* the receiver adds what arrives to what it has */
} dfl_step;

typedef DFL_VEC(dfl_step) dfl_steps;

/* Whether the algorithm exists for this kind of collective, this network and this group. */
bool dfl_algorithm_legal(const dfl_fabric *f, const dfl_team *team, dfl_collective_kind kind, dfl_algorithm algorithm);
/* Number of messages of one group in all different steps. */
double dfl_algorithm_messages(const dfl_team *team, const dfl_team_exchange *e);
/* The steps of a legal algorithm. */
void dfl_algorithm_steps(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out);
/* The parent of a rank in the first tree of p = 2^k ranks: rank 0 is the root and has one child; the others are a complete tree
   in symmetric order, whose leaves are the odd ranks. A rank of height h has the lowest bit 2^h. */
int64_t dfl_tree_parent(int64_t rank, int64_t p);
/* The ranks in an order in which neighbours lie next to each other, [ranks]; `closed`: also the last and the first one. */
void dfl_team_order(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, bool closed, int64_t *order);

#endif
