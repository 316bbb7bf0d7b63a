/*
 * Choices of what ranks are spread over the axes of a problem, best first by an estimate. The estimate takes the largest useful
 * blocks in the memories inside of each memory, and adds a tenth of all times to the longest one: choices with equal work
 * differ in what the ports outside of the arrays pass. It bounds nothing; the model judges what a search makes of a choice.
 */
#ifndef DFL_MAPPER_FIRST_FAN_H
#define DFL_MAPPER_FIRST_FAN_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/objective.h"
#include "support/deadline.h"

/* How much a search for a first mapping looks at: all of it, in some tenths of a second; fewer starts; only fewer starts, without
   neighbours of the best, in some milliseconds. */
typedef enum { DFL_FIRST_WIDE, DFL_FIRST_NARROW, DFL_FIRST_STRAIGHT } dfl_first_breadth;

typedef struct {
    int64_t parts[DFL_PROBLEM_AXES][DFL_PROBLEM_RANKS]; /* at least 1; their product on an axis is at most its size */
    double score;                                 /* estimate of the objective */
} dfl_fan;

/* Estimated value of a choice. `may_stay`: in each memory one operand stays while the loops over ranks outside of it run, that
   for which this saves the most. */
double dfl_fan_score(const dfl_problem *problem, const dfl_objective *objective, const dfl_fan *fan, bool may_stay);
/* The best choices by both scores, by turns, at most `most`, in `arena`; sets their number, at least 1.
   With less breadth fewer choices are looked at, and also once `halt`, which may be NULL, has passed. */
const dfl_fan *dfl_fans_find(dfl_arena *arena, const dfl_problem *problem, const dfl_objective *objective, uint32_t most,
                             dfl_first_breadth breadth, dfl_deadline *halt, uint32_t *n);

#endif
