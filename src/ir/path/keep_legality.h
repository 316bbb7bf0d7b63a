/* Legality of keeps: the memory of each keep, the order and place of keeps, and the homes of tensors. The legality of
   keeps ignores capacity: the model counts occupancy. Violations are reported. */
#ifndef DFL_IR_PATH_KEEP_LEGALITY_H
#define DFL_IR_PATH_KEEP_LEGALITY_H

#include "ir/path/path.h"

/* Checks memory, order and place of the keeps above einsum `e`, once the units of all earlier einsums are chosen:
   E0404, E0407, E0408, E0415, E0417, E0422. */
bool dfl_path_check_keeps(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e);
/* Whether every tensor has a home above each einsum that touches it, and exactly one home in the mapping: else E0415.
   An input may have several homes in one memory. */
bool dfl_path_check_homes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
