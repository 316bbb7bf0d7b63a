/* The value of a mapping by the cost model. */
#ifndef DFL_MAPPER_PROBLEM_EVALUATE_H
#define DFL_MAPPER_PROBLEM_EVALUATE_H

#include "mapper/problem/objective.h"

/* The first term of the objective; INFINITY if the model does not take the mapping, or a requirement is not met. */
double dfl_mapping_value(dfl_budget *budget, const dfl_intern *names, const dfl_mapping *m, const dfl_objective *o);

#endif
