/*
 * Rows of a memory with `access`: an access moves one row (MODEL.md, rule 15). In each instance, the reads for the inside, the
 * drains, the fills and the updates of a tensor each fill rows one after the other.
 */
#ifndef DFL_MODEL_COST_ACCESS_ROWS_H
#define DFL_MODEL_COST_ACCESS_ROWS_H

#include "model/counts/traffic_plan.h"

/* Sets the rows of all traffic in memories with `access`, from the counts of a run. `row`: [keep]: its traffic. False after
   E0608, and after E0609 where the counts of single instances are unknown. */
bool dfl_access_rows_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_plan *plan, const uint32_t *row,
                           dfl_traffic *traffic);

#endif
