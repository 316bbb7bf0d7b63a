/*
 * A good first mapping of one einsum, for any number of memories and axes, in some thousand evaluations of the model. The model
 * alone judges, so nothing here is a bound, and what the model refuses is only left out. The result does not depend on time
 * unless a deadline ends the search.
 *
 *   1. units, that with the least floor first: one whose floor is above what is known is left out;
 *   2. choices of axes, best first by an estimate (fan.h);
 *   3. for the best of them the canonical plan (plan.h) from its smallest tiles: a descent over the amounts (descent.h);
 *   4. the best plans and their neighbours: one keep dropped, or moved past the loops above or below it, another innermost loop,
 *      other choices of axes. The first that is better is the next plan.
 *
 * The model judges the best starts of a small batch before the next, larger one begins. A limit ends this, and nothing before
 * depends on it, so that from the first mapping on a larger limit finds no worse.
 */
#ifndef DFL_MAPPER_FIRST_FIRST_H
#define DFL_MAPPER_FIRST_FIRST_H

#include "mapper/first/descent.h"
#include "mapper/first/fan.h"
#include "mapper/problem/options.h"

typedef struct {
    dfl_mapping *mapping;         /* without holes; NULL = the model takes none of those tried */
    double value, joules, seconds;
    double lower_bound;           /* of the value, over all mappings (dfl_first_bound); 0 = not known */
    uint64_t evaluated;
} dfl_first_result;

/* Whether there is a search: one einsum, all lines open, an objective over energy and latency. */
bool dfl_first_handles(const dfl_mapping *mapping, const dfl_objective *objective);
/* Searches with the problems of the einsum on its units. `evaluations`: limit, at least 1. The mapping lies in `arena`. */
dfl_first_result dfl_first_search(dfl_arena *arena, const dfl_prepared_for *what, const dfl_problem *const *problems,
                                  uint32_t n_problems,
                                  uint64_t evaluations, dfl_first_breadth breadth, dfl_deadline *halt);

/* The search with all problems of the only einsum of a mapping, and the limits of a request. `any_spread`: any rank over any
   axis. No mapping if dfl_first_handles is false or no unit can be searched. */
dfl_first_result dfl_first_find(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                const dfl_objective *objective, const dfl_search_limits *limits, bool any_spread,
                                dfl_first_breadth breadth);
/* A lower bound of the first term of the objective over all mappings with the homes that dfl_problem_make finds (floor.h); 0 if
   some unit that can run the einsum cannot be searched. */
double dfl_first_bound(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_objective *objective);
/* Whether the einsum has so many keeps to choose that a search over all skeletons does not end in useful time. */
bool dfl_first_is_deep(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping);

#endif
