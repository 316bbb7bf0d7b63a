/* Time of a mapping: stall time, time of an einsum, time of the whole mapping (MODEL.md, section 4). */
#ifndef DFL_MODEL_COST_TIME_H
#define DFL_MODEL_COST_TIME_H

#include "model/cost/time_plan.h"

/* Sets the latency of every einsum and of the whole mapping, and the ports or units that bound them. False after
   E0602. */
bool dfl_time_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories);

#endif
