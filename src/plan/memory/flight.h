/*
 * Micro-batches in flight in a stage: how much waits at once for the backward pass and for the gradients of weights. The orders
 * are those of `pipeline/PIPELINE.md`.
 */
#ifndef DFL_PLAN_MEMORY_FLIGHT_H
#define DFL_PLAN_MEMORY_FLIGHT_H

#include "ir/mapping.h"
#include "support/checked.h"

/* The place of a stage in its schedule. */
typedef struct {
    dfl_schedule schedule;
    uint32_t stages, stage, interleave;
    int64_t micro_batches;
    bool trains;               /* there is a backward pass */
} dfl_flight;

/* Bits that one micro-batch leaves in memory in a chunk of layers, from the start of one operation to the end of another one. */
typedef struct {
    dfl_i128 until_backward;   /* from the forward operation to the backward one */
    dfl_i128 until_weights;    /* from the forward operation to that of the gradients of weights (zero_bubble) */
    dfl_i128 from_backward;    /* from the backward operation to that of the gradients of weights (zero_bubble) */
} dfl_stored;

/* The most bits at once; `stored` = [chunk]. True on overflow. */
bool dfl_flight_peak(const dfl_flight *flight, const dfl_stored *stored, dfl_i128 *out);

#endif
