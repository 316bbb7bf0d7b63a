/* The costs and the value of a mapping by the cost model, and whether its tiles divide. */
#ifndef DFL_MAPPER_PROBLEM_EVALUATE_H
#define DFL_MAPPER_PROBLEM_EVALUATE_H

#include "mapper/problem/objective.h"
#include "model/model.h"

/* NULL if the model does not take the mapping; reports nothing. */
const dfl_result *dfl_mapping_costs(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m);
/* The first term of the objective; INFINITY if the model does not take the mapping, or a requirement is not met. */
double dfl_mapping_value(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m, const dfl_objective *o);
/* Whether the tile of each loop divides the piece above it; false for a mapping that is not legal. */
bool dfl_mapping_divides(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m);

#endif
