/*
 * What the rest of a mapping costs at least, given where the operands that are alive are exchanged. Einsums are relaxed to
 * their cheapest way for every choice of memories that their shared operands are exchanged in (a pattern): no loops need
 * to match and no room is shared. Neighbours still must agree on the memories, so the sums are found by going through the
 * einsums forwards and backwards with the memories of what is alive as the state, every measure (cost.h) for itself.
 */
#ifndef DFL_MAPPER_EXACT_BOUNDS_H
#define DFL_MAPPER_EXACT_BOUNDS_H

#include "mapper/problem/cost.h"
#include "mapper/problem/space.h"

/* One choice of an einsum. */
typedef struct {
    uint32_t memory[DFL_JOB_OPERANDS]; /* of operands that are exchanged, else 0 */
    double fetch[DFL_JOB_OPERANDS];    /* joules to bring one there that others may have brought already, else 0 */
    dfl_cost least;
} dfl_pattern;

typedef struct {
    const dfl_job *job;
    const dfl_pattern *patterns;
    uint32_t n;
} dfl_bound_step;

typedef struct dfl_bounds dfl_bounds;

/* `steps` by einsum. */
dfl_bounds *dfl_bounds_make(dfl_arena *arena, const dfl_workload *w, const dfl_bound_step *steps);
/* Of the whole mapping. */
dfl_cost dfl_bounds_all(const dfl_bounds *b);
/* Of everything but `einsum`, if it follows pattern `p`, and what that needs to fetch; INFINITY where nothing goes with it. */
dfl_cost dfl_bounds_others(const dfl_bounds *b, uint32_t einsum, uint32_t p);
/* Of `einsum` and those behind it, when tensor t that is alive is exchanged in memory[t]. */
dfl_cost dfl_bounds_behind(const dfl_bounds *b, uint32_t einsum, const uint32_t *memory);
/* The tensor that is behind a later einsum what another is behind an earlier one, DFL_NONE = none. */
typedef struct {
    uint32_t (*tensor)(const void *context, uint32_t tensor);
    const void *context;
} dfl_later;

/* Whether, whatever is alive, what stands behind `late` and `by` together are at least what stands behind `early`. */
bool dfl_bounds_fall_by(const dfl_bounds *b, uint32_t early, uint32_t late, const dfl_later *later, const dfl_cost *by);
/* Of those behind it when it follows pattern `p`, and what that needs to fetch; INFINITY where nothing goes with it. */
dfl_cost dfl_bounds_after(const dfl_bounds *b, uint32_t einsum, const uint32_t *memory, uint32_t p);

#endif
