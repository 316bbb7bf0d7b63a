/*
 * The Pareto set of a search over amounts: the choices of which no other one is at most as large in all terms of the objective.
 * Terms that differ by rounding alone are equal, and of choices with equal terms the first one stays (SEARCH.md, D15).
 */
#ifndef DFL_MAPPER_SIZES_SIZE_FRONT_H
#define DFL_MAPPER_SIZES_SIZE_FRONT_H

#include "mapper/problem/objective.h"
#include "support/vec.h"

/* A choice: `terms`, one value per term of the objective, and `amounts`, one per open loop. */
typedef struct { double *terms; int64_t *amounts; } dfl_size_point;

typedef struct {
    dfl_arena *arena;                  /* owns the points */
    const dfl_objective *objective;
    uint32_t n_amounts;                /* open loops */
    DFL_VEC(dfl_size_point) points;    /* in ascending order of the terms, the first one as the first key */
} dfl_size_front;

/* Whether no choice belongs to the set whose terms are at least `floors`: a point of the set is at most these in all terms. */
bool dfl_size_front_excludes(const dfl_size_front *front, const double *floors);
/* Adds a choice that the set does not exclude, and removes those that it undercuts. */
void dfl_size_front_add(dfl_size_front *front, const double *terms, const int64_t *amounts);

#endif
