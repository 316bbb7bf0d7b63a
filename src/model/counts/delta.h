/*
 * Delta of a footprint: the elements that enter and leave a tile from one step to the next (temporal reuse change),
 * summed over all steps.
 * At a step let S be the tile of an instance, and O the part of the tile that was there at the step before. Elements
 * enter at a step at which some loop j advances. Groups are independent. With hold(j) = sums of a group over the
 * positions of its loops outside j, and adv(j) = sums of the group of j over its advances,
 *     enter = prod A(first) + sum_j ( prod A(j) - prod B(j) ),   A = |U|,  B = |U| - |union of S \ O over instances|,
 * U being the union of S over the instances that share a transfer; other instances are summed. An element x enters in
 * none of them iff in every instance that wants x each coordinate of x was there before, so the product form holds for
 * unions, too (derivation: MODEL.md, section 2). Leaving is the same with time reversed.
 * Three ways give the same counts: products (product_form.h), rank chains (rank_chain.h), sums of the groups
 * (group_sums.h). The first that applies at the present sizes is taken.
 */
#ifndef DFL_MODEL_COUNTS_DELTA_H
#define DFL_MODEL_COUNTS_DELTA_H

#include "model/counts/footprint.h"

/* Delta of one footprint under one way of sharing. Each run counts it on first use. Most runs read only the first two
   cache lines. */
typedef struct dfl_delta {
    _Alignas(64) dfl_footprint *footprint;
    uint32_t run;                        /* number of the run whose sizes the counts are of */
    bool moving;                         /* entering and leaving elements are wanted; if false, only `present` and
                                            `largest` */
    bool has_product_form;               /* counts are products at sizes that divide, or chains at ragged sizes where
                                            `footprint->product.bounded` holds */
    /* Of the present sizes. */
    bool is_even;                        /* counts are products; `size` elements then enter and leave at each load */
    bool peaks_first;                    /* the largest tile is the first one, at coordinate 0, as for all such
                                            deltas: their largest tiles meet */
    bool is_widened;                     /* a bounding box holds more than the touched indices */
    bool late;                           /* an element enters an instance of a union while it stays in another one */
    int64_t size;
    /* Temporal steps with an advance that moves something; temporal steps with advances at which no element of the tile
       stays. */
    uint64_t active, whole;
    /* Whatever the sizes, with product form: spatial steps whose instances add up; those of them whose instances make
       one tile. */
    uint64_t counted, joined;
    /* Of the present sizes. */
    dfl_i128 enter, leave;
    dfl_i128 present;                    /* sum of the tile sizes over all steps, in elements */
    dfl_i128 largest;                    /* elements of the largest tile of one instance */
    dfl_i128 *entering_by_step, *leaving_by_step; /* elements that enter and leave when a step advances, by step, if
                                                     asked for and not `is_even`; entry [footprint->n] holds the
                                                     first and the last tile */
    /* Whatever the sizes. */
    dfl_sharing how;                     /* way of sharing, without what makes no difference to the footprint */
    struct dfl_group_sums_entry **parts; /* sums by group of the footprint */
    struct dfl_rank_chain **chains;      /* with product form: chain by group of the footprint */
    const struct dfl_rank_chain_sum **at; /* scratch, by group */
    struct dfl_delta *next;
} dfl_delta;

/* The delta of a footprint under a way of sharing, found or new. `by_loop` asks for the counts by step, too. NULL after
   E0609. */
dfl_delta *dfl_delta_of(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, bool by_loop);
/* The same delta if only `present` and `largest` are wanted. */
dfl_delta *dfl_delta_of_size(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how);
/* Counts a delta at the present sizes. False after E0602, E0608 or E0609. */
bool dfl_delta_count(dfl_nest *nest, dfl_delta *delta);
/* Counts a delta once per run. False after E0602, E0608 or E0609. */
static inline bool dfl_delta_fill(dfl_nest *nest, dfl_delta *delta)
{
    return delta->run == nest->run || dfl_delta_count(nest, delta);
}
/* Number of elements in the tiles of all positions and instances, each element once: the product over the dimensions of
   the sums over the positions of their loops. Exact if no element is in two tiles but for loops that do not index the
   tensor; else too large. False after E0602 or E0608. */
bool dfl_delta_disjoint(dfl_nest *nest, dfl_delta *delta, dfl_i128 *out);
/* Tells whether some element of the tile stays at an advance of some loop. The delta must be counted, with `moving`. */
bool dfl_delta_has_stationary(const dfl_nest *nest, const dfl_delta *delta);
/* Size of the largest set of one group, over all positions. 0 if the budget is spent. */
int64_t dfl_delta_largest_factor(dfl_nest *nest, const dfl_delta *delta, uint32_t group);
#endif
