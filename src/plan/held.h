/*
 * What a chip of a stage holds at the peak of a step, by part. All numbers are exact; the parts sum to the peak.
 */
#ifndef DFL_PLAN_HELD_H
#define DFL_PLAN_HELD_H

#include "plan/chunk.h"

/* A stage, as far as its memory depends on it. */
typedef struct {
    int64_t layers;            /* iterations of the repeat in the stage */
    int64_t chunk_layers;      /* those of its largest chunk */
    int64_t chunks_in_flight, interleave;
    bool has_first, has_last;  /* the einsums before and behind the repeat run in it */
} dfl_stage_shape;

/* What the stage holds in every memory, [memory]. NULL after a report: a count overflows. */
dfl_plan_memory *dfl_held_find(const dfl_plan_work *work, const dfl_layouts *layouts, const dfl_stage_shape *stage);
/* Bits of the home of a tensor of the pass on one chip; true on overflow. */
bool dfl_held_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out);
/* The same on the chips of the slots `joined` together, each as large as the largest one. */
bool dfl_held_joined_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint64_t joined, dfl_i128 *out);
/* Layers of which a chip of the largest stage holds a part of a tensor; 1 for a tensor without layers. */
int64_t dfl_held_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor);
/* Bits of `layers` layers of the home of a tensor on the chips of the slots `joined` together; true on overflow. The tensor is no
   gathered one. */
bool dfl_held_home_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, int64_t layers, uint64_t joined,
                        dfl_i128 *out);

#endif
