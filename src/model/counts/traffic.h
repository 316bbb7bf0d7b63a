/* Traffic. */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_H
#define DFL_MODEL_COUNTS_TRAFFIC_H

#include "model/counts/traffic_plan.h"

/* False after E0414, E0608, E0609 or a stopped budget. */
bool dfl_traffic_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out);

#endif
