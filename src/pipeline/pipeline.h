/*
 * The stages of a pipeline in time. Each stage runs its operations one at a time in the order of the schedule: forward and
 * backward passes of micro-batches through its chunks of layers. An operation starts at the larger of the end of the previous
 * operation of its stage and the end of its dependency plus the time of the message between them. This recurrence is the
 * definition; it costs stages x micro-batches x chunks steps.
 */
#ifndef DFL_PIPELINE_PIPELINE_H
#define DFL_PIPELINE_PIPELINE_H

#include "ir/mapping.h"
#include "support/arena.h"

/* Times are in seconds per micro-batch. Chunk c of stage p has the index c * stages + p, which is also the order in which a
   micro-batch passes the chunks forward. Where micro-batches take other times, [chunk index] is [kind * chunks + chunk index]. */
typedef struct {
    dfl_schedule schedule;
    uint32_t stages, interleave, micro_batches; /* all >= 1 */
    const double *forward;         /* [chunk index] */
    const double *backward;        /* [chunk index]; with zero_bubble: of the input gradients alone; NULL = no backward pass */
    const double *weight_gradient; /* [chunk index], zero_bubble; else NULL */
    const double *send_forward;    /* [chunk index]: message from this chunk to the next one; the last is 0, but for `joined` */
    const double *send_backward;   /* [chunk index]: message of the gradient from this chunk to the one before; the first is 0,
                                      but for `joined` */
    const uint32_t *kind;          /* [micro-batch]; NULL = all are of kind 0 */
} dfl_pipeline;

typedef struct {
    double end;                    /* end of the last operation (in s) */
    double busy;                   /* sum of the operations (in s) */
    double waits_for_messages;     /* idle time between the end of a dependency and the arrival of its message (in s) */
    double idle;                   /* all other idle time until the end of the last stage to end (in s) */
    int64_t in_flight;             /* largest number of chunks whose forward pass has begun and whose backward pass (with
                                      zero_bubble: weight gradient) has not ended; 1 without a backward pass */
    double last_backward_start;    /* start of the last backward operation (in s) */
    double *last_starts;           /* [chunk of the stage]: start of its last operation that makes gradients of weights; without
                                      a backward pass, of its last one (in s) */
} dfl_stage_times;

/* What an operation of a stage computes: the forward pass of a chunk, its backward pass (with zero_bubble its input gradients),
   its weight gradients. */
typedef enum { DFL_STAGE_FORWARD, DFL_STAGE_BACKWARD, DFL_STAGE_WEIGHT } dfl_stage_pass;

typedef struct {
    dfl_stage_pass pass;
    uint32_t chunk, micro_batch;   /* the chunk index; the micro-batch, from 0 */
    double start, end;             /* in s */
} dfl_stage_operation;

typedef struct {
    double seconds;                /* end of the stage that ends last */
    uint32_t last;                 /* this stage; the first among equals */
    dfl_stage_times *stages;       /* [stage] */
} dfl_pipeline_times;

/* Why a schedule cannot run; NULL if it can. */
const char *dfl_pipeline_conflict(const dfl_pipeline *pipeline);
/* The times of a pipeline without conflict. */
dfl_pipeline_times dfl_pipeline_run(dfl_arena *arena, const dfl_pipeline *pipeline);
/* A lower bound of `in_flight` of a stage, exact but for zero_bubble: the forward operations before the first backward one. */
int64_t dfl_pipeline_in_flight(const dfl_pipeline *pipeline, uint32_t stage);
/* Number of operations of one stage. */
uint64_t dfl_pipeline_operations(const dfl_pipeline *pipeline);
/* The operations of every stage in their order, [stage][operation]: the schedule that dfl_pipeline_run sums up. */
dfl_stage_operation **dfl_pipeline_list(dfl_arena *arena, const dfl_pipeline *pipeline);

#endif
