/*
 * The result of a plan over chips: what a step takes, what of it is exposed communication and bubble, and what each stage
 * holds. Times are in seconds, data in bits.
 */
#ifndef DFL_IR_PLAN_RESULT_H
#define DFL_IR_PLAN_RESULT_H

#include "ir/mapping.h"

/* Kinds of parallelism, by what the ranks of a part divide. */
typedef enum {
    DFL_PARALLEL_DATA,      /* a rank that no weight has: of the micro-batches, or one whose parts exchange nothing in a pass */
    DFL_PARALLEL_TENSOR,    /* a rank of weights */
    DFL_PARALLEL_SEQUENCE,  /* a rank of activations that no weight has, beside ranks of weights on the same instances */
    DFL_PARALLEL_EXPERT,    /* the rows of a gathered tensor */
    DFL_PARALLEL_CONTEXT,   /* a rank of activations that no weight has, whose parts exchange some in a pass */
    DFL_PARALLEL_PIPELINE,  /* the iterations of a repeat, as stages */
    DFL_PARALLEL_OPTIMIZER, /* only the steps of the optimizer */
} dfl_parallel;

/* The ranks that one group of instances of an axis divides among itself. */
typedef struct {
    uint32_t axis;
    int64_t degree, stride;  /* number of parts; distance of two instances with neighbouring parts */
    const dfl_sym *ranks; uint32_t n_ranks; /* as the lines name them, each once */
    dfl_parallel kind;
} dfl_plan_part;

/* Parts of the time of a step; exposed time only, so that the parts sum to the step. */
typedef enum {
    DFL_STEP_FORWARD, DFL_STEP_BACKWARD, DFL_STEP_RECOMPUTE, DFL_STEP_UPDATE, DFL_STEP_COLLECTIVES,
    DFL_STEP_POINT_TO_POINT, DFL_STEP_OFFLOAD, DFL_STEP_BUBBLE, DFL_N_STEP_PARTS
} dfl_step_part;

/* Parts of what a memory holds. */
typedef enum {
    DFL_HELD_WEIGHTS, DFL_HELD_GRADIENTS, DFL_HELD_MOMENTS, DFL_HELD_ACTIVATIONS, DFL_HELD_WORKING, DFL_HELD_CACHE,
    DFL_HELD_OTHER, DFL_N_HELD
} dfl_held;

/* An exchange of a tensor between chips. */
typedef struct {
    uint32_t tensor, einsum;   /* the einsum that asks for the exchange, or that made the tensor */
    const char *kind;          /* "all_reduce", ... */
    const char *axes;          /* names of the axes: "node, gpu" */
    int64_t group;             /* number of ranks */
    dfl_i128 bits;             /* whole result of one rank; of one message for point to point */
    dfl_i128 part_bits;        /* largest part that one rank sends to another one; -1 = equal parts, or not counted */
    const char *algorithm;
    uint32_t chunks;
    dfl_i128 count;            /* per chip of the stage that ends last, and step */
    dfl_i128 all_bits;         /* of all of them: iterations of a repeat may differ, and `bits` is of the largest */
    double seconds;            /* of one; the mean if they differ */
    double exposed_seconds;    /* of all, in the stage that ends last */
    uint32_t network;
} dfl_plan_collective;

/* Use of one class of links in a step. */
typedef struct {
    uint32_t network;
    const char *name;
    double largest_bits;       /* bits on the busiest link of the class in a step */
    double busy_seconds;       /* time that this link needs for them */
    double load;               /* busy_seconds as a share of the time in which its exchanges run */
} dfl_plan_link;

typedef struct {
    dfl_i128 peak_bits;
    dfl_i128 held[DFL_N_HELD]; /* sums to peak_bits */
} dfl_plan_memory;

typedef struct {
    int64_t layers;            /* iterations of the divided repeat in it; 0 = no line divides one */
    double forward_seconds, backward_seconds; /* of one micro-batch */
    double end_seconds;        /* end of its last work in the step */
    dfl_plan_memory *memories; /* [memory] */
} dfl_plan_stage;

/* What the chip with most does in one micro-batch of an einsum, summed over the iterations of its repeats. */
typedef struct {
    dfl_i128 points;
    const dfl_i128 *read;      /* [input]: elements that it touches, with all accesses that differ by offsets */
    dfl_i128 made;             /* elements of the result */
} dfl_plan_work_count;

typedef struct {
    int64_t chips;
    const dfl_plan_work_count *work; /* [einsum] */
    const char *chip;          /* how the work of a chip was found: "roofline", "search" or "written" */
    uint32_t branches;         /* groups of einsums that a chip runs one after another */
    const dfl_plan_part *parts; uint32_t n_parts;
    uint32_t pipeline_axis;    /* DFL_NONE = one stage */
    dfl_schedule schedule;
    int64_t n_stages, interleave, micro_batches;
    double bubble_seconds;
    double step[DFL_N_STEP_PARTS]; /* sums to the latency */
    uint32_t last_stage;       /* the stage that ends last */
    const dfl_plan_collective *collectives; uint32_t n_collectives;
    const dfl_plan_link *links; uint32_t n_links;
    const dfl_plan_stage *stages; /* [n_stages] */
    double tokens_per_second;  /* 0 = no einsum takes whole rows of a table at positions that are an input */
    double peak_flops;         /* of one chip (FLOP/s): the highest full rate at which its units run a product of the step;
                                  0 = the step has no product */
    double model_utilization, hardware_utilization; /* shares of the peak of all chips; hardware includes recomputed work */
} dfl_plan_result;

/* The words of the report: "data", "point_to_point", "weights". */
const char *dfl_parallel_name(dfl_parallel kind);
const char *dfl_step_part_name(dfl_step_part part);
const char *dfl_held_name(dfl_held part);

#endif
