/*
 * What a chip of a stage holds at the peak of a step, by part. All numbers are exact; the parts sum to the peak.
 */
#ifndef DFL_PLAN_MEMORY_HELD_H
#define DFL_PLAN_MEMORY_HELD_H

#include "plan/memory/lives.h"

/* A stage, as far as its memory depends on it. */
typedef struct {
    int64_t layers;            /* iterations of the repeat in the stage */
    const int64_t *chunks;     /* [chunk * stages of the flight]: those of each chunk */
    dfl_flight flight;
    bool has_first, has_last;  /* the einsums before and behind the repeat run in it */
} dfl_stage_shape;

/* What the stage holds in every memory, [memory]. NULL after a report: a count overflows. */
dfl_plan_memory *dfl_held_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_lives *lives,
                               const dfl_stage_shape *stage);
/* Reports that a count overflows. */
void dfl_held_report(const dfl_frame *f);

#endif
