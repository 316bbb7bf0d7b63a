/*
 * Tuning numbers and fixed capacities of the model. The header is in the lowest sub-room, so that all other sub-rooms
 * can include it. None of these numbers changes a result. Beyond a capacity, the model refuses the mapping (E0609), or
 * computes the same count in a slower way. Exceptions are stated at their entry.
 */
#ifndef DFL_MODEL_SETS_LIMITS_H
#define DFL_MODEL_SETS_LIMITS_H

enum {
    /* Limit on the steps of a path (step_numbers.h). A set of steps is one 64-bit word. A longer path is refused
       (E0609). */
    DFL_MAX_STEPS = 64,
    /* Limit on the temporal steps, and on the spatial steps, of one group (footprint.h). Arrays of a group have this
       size. A group with more steps is refused (E0609). */
    DFL_MAX_GROUP = 16,
    /* Limit on the terms of an index of a restricted dimension. An index with more terms is counted with interval
       sets. */
    DFL_WINDOW_TERMS = 16,
    /* Limit on the bits of the largest absolute value of an index, summed over its terms. Twice this value still fits
       in an int64_t. A larger index is refused (E0609). */
    DFL_INDEX_BITS = 61,
    /* Number of buckets of the table of known demand sets (rank_piece.c). The top 8 bits of a 64-bit hash select a
       bucket. */
    DFL_DEMAND_BUCKETS = 256,
    /* Limit on the length classes of one rank chain (rank_chain.c). A rank has one class if all its loops divide the
       pieces that they cut. With more classes the group sums give the count (group_sums.h). */
    DFL_LENGTH_CLASSES = 16,
    /* Limit on the bits of a count in product form (product_form.h). Counts are int64_t, and no product exceeds the
       number of points of the einsum. Larger counts come from the group sums, in 128 bits. */
    DFL_PRODUCT_BITS = 62,
    /* Limit on the bounds on indices of one einsum that some point violates (padding.c). Bounds beyond this number are
       ignored. */
    DFL_PADDING_BOUNDS = 64,
    /* Limit on the mixed axes of one memory, over which only some of the live tiles are spread (occupancy.c). Each
       mixed axis doubles the number of instances to compare. On axes beyond this number, every instance is assumed to
       hold all tiles. */
    DFL_MIXED_AXES = 8,
    /* Limit on the live tiles that are compared jointly (joint_peak.c). A larger set is refused (E0609). */
    DFL_JOINT_TILES = 64,
    /* Limit on the bits of a count in the quick check (quick_check.c). A count has 127 bits; sums over keeps, loops and
       instances use the remaining ones. */
    DFL_SAFE_BITS = 110,
    /* Limit on the iterations of Newton's method at the end of a piece (sensitivity.c). If these iterations do not find
       the end, the reported piece is the part that was proven straight. */
    DFL_NEWTON_STEPS = 200,
    /* Limit on the halvings of a step until three points lie on a line (sensitivity.c): 2^-30 of the first step is
       close to the rounding of a latency. */
    DFL_SLOPE_HALVINGS = 30,
    /* Largest exponent e of a searched value, 4^e times or 4^-e times the present value (sensitivity.c). */
    DFL_FARTHEST_POWER = 16
};

/* Relative difference below which two latencies count as equal; larger than the rounding of the sums in a latency. */
#define DFL_LATENCY_TOLERANCE 1e-12
/* Difference below which two latencies count as equal, relative to the present latency: about 45 units of the last
   place. */
#define DFL_LATENCY_ROUNDING 1e-14
/* Step in (present value / value) - 1 for the first estimate of a slope (sensitivity.c): a power of two, so that the
   product is exact. */
#define DFL_SLOPE_STEP 0x1p-10
/* Step in (present value / value) - 1 that determines the parameter for which an einsum waits most: small enough to
   stay on one piece. */
#define DFL_BOUND_STEP 0x1p-20

#endif
