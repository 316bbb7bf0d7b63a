/* Loads of the links of networks: the bits on the busiest link of each class (MODEL.md, section 2.9). */
#ifndef DFL_MODEL_COUNTS_LINK_LOADS_H
#define DFL_MODEL_COUNTS_LINK_LOADS_H

#include "model/counts/crossings.h"

/* Counts the bits of all classes at the present sizes, of the networks and of each crossing. The crossings must be counted.
   False after E0602 or E0608. */
bool dfl_link_loads_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *all);

#endif
