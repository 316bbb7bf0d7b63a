/*
 * Inputs of the workload that several einsums read. One keep of such an operand, further in than its home and outside of
 * arrays, may serve all einsums that read it below the loops that it stands under, or all of the workload where it stands under
 * none. Then it is to an einsum what an operand is that others make: exchanged there, with nothing to fetch. Every element is
 * fetched once, since all loops above go along the operand; so what that costs does not depend on the tiles, and the join
 * (join.h) charges it to the first of these einsums.
 *
 * What is fetched by such a keep, and by all keeps above the loops that are shared below it, takes its time beside the work of
 * several einsums, and is left out of the time that each takes at least. Where time counts, too little would be certain then; so
 * loops are only shared for such a keep alone where it does not, else it stands among those that are shared for something that
 * is made on the chip, or under none.
 */
#ifndef DFL_MAPPER_EXACT_SHARED_INPUTS_H
#define DFL_MAPPER_EXACT_SHARED_INPUTS_H

#include "mapper/exact/einsum_classes.h"

/* Sets `common` of the operands of all problems, and whether loops may be shared for them alone, as the limits say. Of none, if
   there are more operands alive at once, or more memories to follow, than the join has room for. */
void dfl_shared_input_find(dfl_arena *arena, dfl_einsum_classes *k, const dfl_problem_limits *limits);
/* Whether a template takes the operand from a keep that may serve other einsums, too. */
bool dfl_shared_input_served(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand);
/* J to fetch it there, else 0; seconds that this takes. */
double dfl_shared_input_joules(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand);
double dfl_shared_input_seconds(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand);
/* J of the first fetch of all elements in the share that the einsum bears, which the fetch for all has, too (SEARCH.md, B46). */
double dfl_shared_input_rebate(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand);

#endif
