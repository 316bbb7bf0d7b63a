/*
 * Traffic: the five counts of every keep (serve, drain, accumulate, fill, update), in elements, at the present sizes.
 */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_H
#define DFL_MODEL_COUNTS_TRAFFIC_H

#include "model/counts/traffic_plan.h"

/* Counts the traffic of all keeps and operands, over the whole system and for one instance. False after E0414, E0602,
   E0608 or E0609. */
bool dfl_traffic_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out);

#endif
