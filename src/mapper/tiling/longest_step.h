/*
 * Transfers that take longer than a step of the work. A memory with two buffers asks for the tiles of a step only when the step
 * before it begins, so what moves there at few of the steps is not hidden beside all of the work (lemma B24 of SEARCH.md).
 */
#ifndef DFL_MAPPER_TILING_LONGEST_STEP_H
#define DFL_MAPPER_TILING_LONGEST_STEP_H

#include "mapper/tiling/form.h"

struct dfl_box;

/* The place of the outermost memory with two buffers, if the lemma holds there; DFL_NONE = it does not. No memory is a stream. */
uint32_t dfl_longest_step_place(const dfl_problem *problem);

/* What is known of a node. */
typedef struct {
    uint32_t place;           /* as above */
    const double *moved;      /* elements by count of the form, at least */
    const double *value;      /* products of the form, at least */
    bool is_point;            /* `moved` is exact */
} dfl_longest_step_node;

/* Lower bound of the time, in s, without launch and latencies. */
double dfl_longest_step_time(const dfl_form *f, struct dfl_box *const *boxes, const dfl_longest_step_node *node);

#endif
