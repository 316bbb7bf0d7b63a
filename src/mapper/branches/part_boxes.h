/*
 * Parts of one einsum once more, by boxes, with what their work waits for. The search of all parts together counts as if nothing
 * waited. The best sum of parts for an objective of energy and latency is also the best for its tangent at that sum, which adds
 * up over the parts; so each part is searched for the tangent at the best mapping so far. Nothing is proven by this: how long a
 * part waits in a branch may differ from how long it waits alone.
 */
#ifndef DFL_MAPPER_BRANCHES_PART_BOXES_H
#define DFL_MAPPER_BRANCHES_PART_BOXES_H

#include "mapper/branches/branches.h"

/* Replaces the mapping of a result by better ones by the model. `found`: the mappings of the parts of `tree` in it. */
void dfl_part_boxes_improve(dfl_arena *arena, const dfl_intern *names, const dfl_branches *tree, const dfl_mapping **found,
                            const dfl_map_options *options, dfl_map_result *out);

#endif
