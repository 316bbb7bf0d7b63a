/* The loops that are open behind an einsum of a join. */
#ifndef DFL_MAPPER_EXACT_OPEN_LOOPS_H
#define DFL_MAPPER_EXACT_OPEN_LOOPS_H

#include "mapper/exact/join.h"

/* Loops around what stands below `depth` loops of the einsum's own. */
uint32_t dfl_join_depth(const dfl_join_result *r, uint32_t einsum, uint32_t depth);
/* Sets `open` from the depths of what is alive behind each einsum. */
void dfl_join_find_open(const dfl_workload *w, const dfl_join_step *steps, dfl_join_result *r);
/* Whether operand o of the einsum comes from a keep for several that serves the next einsum with it, if there is one. */
bool dfl_join_goes_on(const dfl_join_result *r, const dfl_problem *problem, uint32_t einsum, uint32_t o);

#endif
