/*
 * A part of a workload: einsums that stand in neighbouring branches below the root of a mapping that has no loops. It is a
 * problem of its own, with homes written for what it takes from the others and gives to them; a mapping of it takes the
 * place of those branches.
 */
#ifndef DFL_MAPPER_PROBLEM_SEGMENT_H
#define DFL_MAPPER_PROBLEM_SEGMENT_H

#include "ir/mapping.h"

typedef struct {
    const dfl_mapping *base;
    uint32_t first, n;           /* branches below its root */
    const uint32_t *einsums;     /* in the order they run; the part numbers them by it */
    uint32_t n_einsums;
} dfl_segment;

/* Parts of two einsums or more, of one branch or of two, but not of all; `*n` of them. */
const dfl_segment *dfl_segments_find(dfl_arena *arena, const dfl_mapping *base, uint32_t *n);
/* The part as a problem: all of its lines are open but for homes. `given`: the problem of the base. */
const dfl_mapping *dfl_segment_problem(dfl_arena *arena, const dfl_mapping *given, const dfl_segment *part);
/* The base with `found`, a mapping of that problem, in the place of the part. */
dfl_mapping *dfl_segment_put(dfl_arena *arena, const dfl_mapping *given, const dfl_segment *part, const dfl_mapping *found);

#endif
