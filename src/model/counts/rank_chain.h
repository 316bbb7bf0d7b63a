/*
 * Rank chain: a rank with the loops that cut it above a footprint. The sums over the positions of these loops have a
 * closed form, whether or not the loops divide the pieces that they cut. At any position, the pieces of all instances
 * have few different lengths: a loop makes full tiles, and from each length of piece at most one shorter tile, and
 * possibly empty ones. Iterations at which no length changes are counted once. A chain applies if one rank decides a
 * group of a footprint (product_form.h). Pieces at different positions and coordinates are then disjoint. Footprints
 * whose groups are cut by the same loops share a chain.
 */
#ifndef DFL_MODEL_COUNTS_RANK_CHAIN_H
#define DFL_MODEL_COUNTS_RANK_CHAIN_H

#include "model/sets/nest.h"

/* The set of a group that the chain decides. */
typedef enum {
    DFL_RANK_CHAIN_ELEMENTS, /* a dimension of the tensor: the set is the piece */
    DFL_RANK_CHAIN_WORKING,  /* no dimension: the set is {0} in instances with a piece */
    DFL_RANK_CHAIN_ALL        /* no dimension: the set is {0} in every instance */
} dfl_rank_chain_kind;

/* A and B of delta.h, for entering and for leaving elements, as 64-bit sums. */
typedef struct dfl_rank_chain_sum { int64_t enter, kept, leave, left_kept; } dfl_rank_chain_sum;

/* Chain of one rank. */
typedef struct dfl_rank_chain {
    dfl_rank_chain_kind kind;
    uint32_t einsum;
    int64_t extent;             /* extent of the rank */
    uint64_t temporal, spatial; /* bit sets: temporal and spatial steps that cut the rank */
    uint64_t counted;           /* bit set: spatial steps whose instances add up */
    uint64_t joined;            /* bit set: the steps in `counted` whose pieces make up one tile */
    uint64_t united;            /* bit set: spatial steps whose instances count as one; empty for
                                   DFL_RANK_CHAIN_ELEMENTS */
    struct dfl_rank_chain *next;
    /* The following members hold values of the present sizes. */
    uint32_t run;
    bool known;                 /* the sums are known; false if there are too many length classes */
    uint32_t n;                 /* number of loops with more than one iteration */
    dfl_rank_chain_sum *sums;   /* sums for k = 0 .. n: [2k] over the positions of the first k loops, with the other loops
                                   wrapping; [2k - 1] over the positions at which the k-th loop advances */
    int64_t present;            /* sum of the sizes over all positions */
    int64_t largest;            /* elements of the largest tile of one instance */
} dfl_rank_chain;

/* The chain of the nest with the same cuts as `like`, found or new. */
dfl_rank_chain *dfl_rank_chain_of(dfl_nest *nest, const dfl_rank_chain *like);
/* Computes the sums of a chain. The sums, and all products of sums, must be below 2^62. False if the sums remain
   unknown. */
bool dfl_rank_chain_count(dfl_nest *nest, dfl_rank_chain *chain);
/* Computes the sums of a chain unless this run has computed them. False if the sums remain unknown. */
static inline bool dfl_rank_chain_fill(dfl_nest *nest, dfl_rank_chain *chain)
{
    return chain->run == nest->run ? chain->known : dfl_rank_chain_count(nest, chain);
}

#endif
