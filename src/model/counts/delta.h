/*
 * Delta of a footprint: the elements that enter and leave a tile from one step to the next (change of temporal reuse),
 * summed over all steps. Let S be the tile of an instance at a step, and O the part of S that was in the tile at the
 * previous step. Elements enter at a step at which some loop j advances. The groups are independent. Let hold(j) be the
 * sums of a group over the positions of its loops outside j, and adv(j) the sums of the group of j over the advances of
 * j. Then
 *     enter = prod A(first) + sum_j ( prod A(j) - prod B(j) ),   A = |U|,  B = |U| - |union of S \ O over instances|,
 * where U is the union of S over the instances that share a transfer; other instances are summed. An element x enters
 * none of these instances iff, in every instance whose tile has x, each coordinate of x was in the instance's tile at
 * the previous step. So the product form holds for unions, too (derivation: MODEL.md, section 2). The formula for
 * leaving elements is that for entering elements with time reversed. The counts come from products (product_form.h),
 * rank chains (rank_chain.h), or sums of the groups (group_sums.h). The three give equal counts; the first that applies
 * at the present sizes is used.
 */
#ifndef DFL_MODEL_COUNTS_DELTA_H
#define DFL_MODEL_COUNTS_DELTA_H

#include "model/counts/footprint.h"

/* Delta of one footprint under one way of sharing. Each run counts a delta on first use. Most runs read only the first
   two cache lines of this struct. */
typedef struct dfl_delta {
    _Alignas(64) dfl_footprint *footprint;
    uint32_t run;                        /* serial number of the run that computed the counts */
    bool moving;                         /* entering and leaving elements are requested; if false, only `present` and
                                            `largest` */
    bool has_product_form;               /* counts are products at sizes that divide, or chains at ragged sizes where
                                            `footprint->product.bounded` holds */
    /* The following members hold values of the present sizes. */
    bool is_even;                        /* counts are products; `size` elements then enter and leave at each load */
    bool peaks_first;                    /* the first tile, at coordinate 0, is the largest; if this holds for several deltas,
                                            their largest tiles occur at one step */
    bool is_widened;                     /* a bounding box holds more than the touched indices */
    bool late;                           /* an element enters one instance of a union while it stays in another */
    int64_t size;
    /* Bit set of temporal steps with an advance that moves an element; bit set of temporal steps with an advance at
       which no element of the tile stays. */
    uint64_t active, whole;
    /* With product form, independent of the sizes: bit set of spatial steps whose instances add up; bit set of those of
       these steps whose instances make up one tile. */
    uint64_t counted, joined;
    /* The following members hold values of the present sizes. */
    dfl_i128 enter, leave;
    dfl_i128 present;                    /* sum of the tile sizes over all steps, in elements */
    dfl_i128 largest;                    /* elements of the largest tile of one instance */
    dfl_i128 *entering_by_step, *leaving_by_step; /* [step]: elements that enter and leave when the step advances, if requested
                                                     and not `is_even`; entry [footprint->n] is for the first and the last
                                                     tile */
    /* The following members do not depend on the sizes. */
    dfl_sharing how;                     /* way of sharing, reduced to the parts that affect the footprint */
    struct dfl_group_sums_entry **parts; /* [group of the footprint]: sums of the group */
    struct dfl_rank_chain **chains;      /* with product form, [group of the footprint]: chain of the group */
    const struct dfl_rank_chain_sum **at; /* [group]: sum of the group's chain that the product at hand uses */
    struct dfl_delta *next;
} dfl_delta;

/* The delta of a footprint under a way of sharing; a new delta if there is none yet. `by_loop` also requests the counts by
   step. NULL after E0609. */
dfl_delta *dfl_delta_of(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, bool by_loop);
/* The delta of a footprint, if the caller needs only `present` and `largest`. */
dfl_delta *dfl_delta_of_size(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how);
/* Counts a delta at the present sizes, even if it is counted already. False after E0602, E0608 or E0609. */
bool dfl_delta_count(dfl_nest *nest, dfl_delta *delta);
/* Counts a delta at the present sizes unless this run has counted it. False after E0602, E0608 or E0609. */
static inline bool dfl_delta_fill(dfl_nest *nest, dfl_delta *delta)
{
    return delta->run == nest->run || dfl_delta_count(nest, delta);
}
/* Counts under a restriction. `distinct`: as the result of dfl_delta_disjoint. */
typedef struct { dfl_i128 enter, leave, present, distinct; } dfl_restricted_counts;

/* The sums of one group under a restriction, at the present sizes. NULL after E0602. */
const struct dfl_group_sums *dfl_delta_group(dfl_nest *nest, dfl_footprint *footprint, uint32_t group, const dfl_sharing *how,
                                             const dfl_restriction *only);
/* Counts a footprint at some coordinates only. False after E0602 or E0608. */
bool dfl_delta_restrict(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, const dfl_restriction *only,
                        dfl_restricted_counts *out);
/* Number of distinct elements in the tiles of all positions and instances: the product of one factor
   per dimension, which is the sum over the positions of the loops of the dimension. The number is exact if an element is
   in two tiles only because of loops that do not index the tensor; else it is too large. False after E0602 or E0608. */
bool dfl_delta_disjoint(dfl_nest *nest, dfl_delta *delta, dfl_i128 *out);
/* Tells whether some element of the tile stays at an advance of some loop. The delta must be counted, with `moving`
   set. */
bool dfl_delta_has_stationary(const dfl_nest *nest, const dfl_delta *delta);
/* Size of the largest set of one group, over all positions. 0 if the budget is spent. */
int64_t dfl_delta_largest_factor(dfl_nest *nest, const dfl_delta *delta, uint32_t group);
#endif
