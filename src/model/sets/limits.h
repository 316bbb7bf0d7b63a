/*
 * Tuning numbers and fixed capacities of the model. The header stands in the lowest sub-room, so that all others can
 * include it. None of them changes a number in a result. A mapping that exceeds a capacity is refused (E0609), or the same
 * count is taken in a slower way, unless the entry says something else.
 */
#ifndef DFL_MODEL_SETS_LIMITS_H
#define DFL_MODEL_SETS_LIMITS_H

enum {
    /* Steps of a path (step_numbers.h). A set of steps is one 64-bit word. A longer path is refused (E0609). */
    DFL_MAX_STEPS = 64,
    /* Temporal steps, and spatial steps, of one group (footprint.h). Arrays of a group have this size. More are
       refused (E0609). */
    DFL_MAX_GROUP = 16,
    /* Terms of an index of a restricted dimension. An index with more terms is counted with interval sets. */
    DFL_WINDOW_TERMS = 16,
    /* Bits of the largest absolute value of an index, summed over its terms. Twice that still fits in an int64_t. A
       larger index is refused (E0609). */
    DFL_INDEX_BITS = 61,
    /* Buckets of the table of known demand sets (rank_piece.c). The top 8 bits of a 64-bit hash select one of them. */
    DFL_DEMAND_BUCKETS = 256,
    /* Length classes of one rank chain (rank_chain.c). A rank whose loops all divide what they cut has one. With
       more classes the group sums give the count (group_sums.h). */
    DFL_LENGTH_CLASSES = 16,
    /* Bits of a count in product form (product_form.h). Counts are int64_t, and no product passes the number of
       points of the einsum. Larger counts come from the group sums, in 128 bits. */
    DFL_PRODUCT_BITS = 62,
    /* Bounds on indices of one einsum that some point violates (padding.c). Bounds beyond this number are ignored. */
    DFL_PADDING_BOUNDS = 64,
    /* Axes of one memory over which only some of the live tiles are spread (occupancy.c). Each doubles the number of
       instances that are compared; on axes beyond this number every instance is taken to hold all of the tiles. */
    DFL_MIXED_AXES = 8,
    /* Live tiles that are compared together (joint_peak.c). More are refused (E0609). */
    DFL_JOINT_TILES = 64,
    /* Bits of a count that the quick check lets through (quick_check.c). A count has 127; sums over keeps, loops and
       instances take the rest. */
    DFL_SAFE_BITS = 110,
    /* Iterations of Newton's method at the end of a piece (sensitivity.c). A piece whose end is not found within
       them is reported as far as it was proven straight. */
    DFL_NEWTON_STEPS = 200,
    /* Halvings of a step until three points lie on a line (sensitivity.c): a step of 2^-30 of the first one is close
       to the rounding of a latency. */
    DFL_SLOPE_HALVINGS = 30,
    /* Largest exponent e of a value that is 4^e times, or a 4^e-th of, the present value (sensitivity.c). */
    DFL_FARTHEST_POWER = 16
};

/* Relative difference of two latencies that counts as none: above the rounding of the sums that make up a latency. */
#define DFL_LATENCY_TOLERANCE 1e-12
/* Difference of two latencies that counts as none, relative to the present latency: about 45 units of the last
   place. */
#define DFL_LATENCY_ROUNDING 1e-14
/* Step in (present value / value) - 1 that first estimates a slope (sensitivity.c): a power of two, so that the
   product is exact. */
#define DFL_SLOPE_STEP 0x1p-10
/* Step in (present value / value) - 1 that finds the parameter for which an einsum waits most: small enough to stay
   on one piece. */
#define DFL_BOUND_STEP 0x1p-20

#endif
