/*
 * A rank and the loops that cut it above a point: sums over the positions of the loops in closed form, whether or not
 * they divide what they cut. At any position the pieces of all instances have few different lengths: each loop makes full
 * tiles, and of every length that it finds at most one shorter tile and nothing. Iterations at which no length changes are
 * counted once.
 *
 * This holds where one rank decides a group of a point (product_form.c); pieces at different positions and coordinates then are
 * disjoint. Points whose groups are cut alike share the chain.
 */
#ifndef DFL_MODEL_COUNTS_RANK_CHAIN_H
#define DFL_MODEL_COUNTS_RANK_CHAIN_H

#include "model/sets/nest.h"

typedef enum {
    DFL_RANK_CHAIN_ELEMENTS,  /* a dimension: the set is the piece */
    DFL_RANK_CHAIN_WORKING,   /* {0} in instances that have a piece */
    DFL_RANK_CHAIN_ALL        /* {0} in every instance */
} dfl_rank_chain_kind;

/* Sums of |U|, of what was there before, and both with time reversed (delta.h). */
typedef struct dfl_rank_chain_sum { int64_t enter, kept, leave, left_kept; } dfl_rank_chain_sum;

typedef struct dfl_rank_chain {
    dfl_rank_chain_kind kind;
    uint32_t einsum;
    int64_t extent;          /* of the rank */
    uint64_t temporal, spatial; /* steps that cut it */
    uint64_t counted;        /* spatial steps whose instances are added up */
    uint64_t joined;         /* those of them whose pieces make one tile */
    uint64_t united;         /* spatial steps whose instances count as one; none if elements are counted */
    struct dfl_rank_chain *next;
    /* of the present sizes */
    uint32_t run;
    bool known;              /* else the lengths are too many */
    uint32_t n;              /* loops with more than one iteration */
    dfl_rank_chain_sum *sums;     /* for k = 0 .. n: [2k] first k fixed; [2k - 1] the k-th advances */
    int64_t present;         /* over all positions */
    int64_t largest;            /* largest tile of one instance */
} dfl_rank_chain;

/* The chain that is cut like this, from the list of the setting or new. */
dfl_rank_chain *dfl_rank_chain_of(dfl_nest *nest, const dfl_rank_chain *like);
/* Takes the sums; they and all that follow from them must be below 2^62. False if they are not known. */
bool dfl_rank_chain_count(dfl_nest *nest, dfl_rank_chain *c);
/* The same, once per run. */
static inline bool dfl_rank_chain_fill(dfl_nest *nest, dfl_rank_chain *c)
{
    return c->run == nest->run ? c->known : dfl_rank_chain_count(nest, c);
}

#endif
