/* Occupancy of memories, and the check of their capacity (MODEL.md, section 3). quick_check.c has a cheaper, sufficient check. */
#ifndef DFL_MODEL_COST_OCCUPANCY_H
#define DFL_MODEL_COST_OCCUPANCY_H

#include "model/cost/liveness.h"

/* Sets the peak occupancy of every memory (`peak_bits`, `peak_at`, `instances`) and of every keep (`keep_bits`). False
   after E0406 (a capacity is exceeded), E0602, E0608 or E0609. */
bool dfl_occupancy_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                         dfl_memory_cost *memories, dfl_i128 *keep_bits);

/* Bits that are live in a memory while one leaf runs. Keeps of the tensors marked in `without` do not count. `leaf`:
   number of leaves before this leaf in the order of the text. The mapping must have no pipeline, and its occupancy must
   have been computed. False if the bits exceed 2^127, and after E0609. */
bool dfl_occupancy_during(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                          const dfl_i128 *keep_bits, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out);

#endif
