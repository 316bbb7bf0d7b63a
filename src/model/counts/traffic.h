/*
 * Traffic: the five counts of every keep (serve, drain, accumulate, fill, update), in elements, for the present sizes.
 */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_H
#define DFL_MODEL_COUNTS_TRAFFIC_H

#include "model/counts/traffic_plan.h"

/* Counts all keeps and operands, in the whole system and in one instance. False after E0414, E0602, E0608 or E0609. */
bool dfl_traffic_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out);

#endif
