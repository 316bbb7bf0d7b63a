/*
 * The best plans of a search, best first; or its Pareto set: the plans of which no other one is at least as good in all terms of
 * the objective and better in one. Of plans with equal terms, the one with the least number stands for all.
 */
#ifndef DFL_SOLVE_PLAN_RANKING_H
#define DFL_SOLVE_PLAN_RANKING_H

#include "mapper/problem/objective.h"
#include "support/vec.h"

/* A plan that was evaluated. */
typedef struct {
    const double *terms;               /* of the objective */
    uint64_t number;                   /* of the combination (solve/plan_space.h) */
} dfl_ranked_plan;

typedef struct {
    dfl_arena *arena;
    const dfl_objective *objective;
    bool is_front;                     /* a Pareto set */
    uint32_t most;                     /* else the number of plans that are listed */
    DFL_VEC(dfl_ranked_plan) plans;    /* best first; a Pareto set in the order of its terms */
} dfl_plan_ranking;

/* Puts an evaluated plan among the best ones, or into the Pareto set, if it belongs there. */
void dfl_plan_ranking_add(dfl_plan_ranking *ranking, const double *terms, uint64_t number);
/* Whether no plan with these lower bounds of its terms is listed. Of the best plans, only the first bound counts. */
bool dfl_plan_ranking_excludes(const dfl_plan_ranking *ranking, const double *floors);

#endif
