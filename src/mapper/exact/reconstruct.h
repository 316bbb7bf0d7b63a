/* A mapping in the intermediate representation from what the join chose. */
#ifndef DFL_MAPPER_EXACT_RECONSTRUCT_H
#define DFL_MAPPER_EXACT_RECONSTRUCT_H

#include "mapper/exact/join.h"

/* `problems` are those of the einsums, with the tensors and ranks of the workload; every line stands at the span of the hole. */
dfl_mapping *dfl_reconstruct(dfl_arena *arena, const dfl_mapping *with_holes, const dfl_problem *const *problems,
                             const dfl_join_result *chosen);

#endif
