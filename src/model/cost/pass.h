/*
 * Passes: how often a body runs, how large the work of an einsum is in one pass of its leaf, and the launches of a
 * mapping (MODEL.md, sections 4.2 and 4.7).
 */
#ifndef DFL_MODEL_COST_PASS_H
#define DFL_MODEL_COST_PASS_H

#include "model/cost/time_plan.h"

/* Time of one point of an einsum at the share of the rate that its work reaches (in s). Returns -1 after reporting E0509:
   the work is below the first point of an efficiency. */
double dfl_pass_point_seconds(dfl_nest *nest, const dfl_einsum_time *unit, const dfl_traffic_sums *sums, uint32_t e);
/* Time of all launches of the mapping (in s). */
double dfl_pass_launch_seconds(const dfl_nest *nest, const dfl_time_plan *plan);
/* Time of the launches of the kernel that runs the einsum `e` (in s); 0 if it shares the kernel with other einsums. */
double dfl_pass_einsum_launch_seconds(const dfl_nest *nest, const dfl_time_plan *plan, uint32_t e);

#endif
