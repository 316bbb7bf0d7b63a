/* Time. */
#ifndef DFL_MODEL_COST_TIME_H
#define DFL_MODEL_COST_TIME_H

#include "model/cost/time_plan.h"

/* Latency of every einsum and of the whole, and what bounds them; false when the budget stopped. */
bool dfl_time_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories);

#endif
