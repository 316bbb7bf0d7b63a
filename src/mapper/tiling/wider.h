/*
 * Wider tiles of keeps with two buffers: a keep moves outwards over an iteration of a loop over its own tensor. It moves the same
 * elements, in larger tiles and longer steps, so transfers wait less where the room allows it. Skeletons have the smaller tile
 * alone, since no count differs (rule D2 of SEARCH.md).
 */
#ifndef DFL_MAPPER_TILING_WIDER_H
#define DFL_MAPPER_TILING_WIDER_H

#include "mapper/tiling/box_search.h"

/* Replaces the mapping of a result, with its value and costs, as long as a wider tile is better. `divides`: tiles divide what
   they cut. */
void dfl_box_widen(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, bool divides, dfl_box_result *out);

#endif
