/* Occupancy. */
#ifndef DFL_MODEL_COST_OCCUPANCY_H
#define DFL_MODEL_COST_OCCUPANCY_H

#include "model/cost/liveness.h"

/* Peak room of every memory and tensor; false after E0406 or E0608. Fills peak_bits, peak_at and instances. */
bool dfl_occupancy_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                         dfl_memory_cost *memories, dfl_i128 *keep_bits);

/* Bits that are live in a memory while a leaf runs, `leaf` of them before it in the order of the text, but for keeps of tensors
   that are marked in `without`; after a count, of a mapping without pipelines. False if they pass 2^127, or after E0609. */
bool dfl_occupancy_during(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                          const dfl_i128 *keep_bits, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out);

#endif
