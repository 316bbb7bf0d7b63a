/* Legality of keeps: which memory may hold which tensor, in which order and place, and the homes of tensors. Capacity is
   no part of it: the model counts occupancy. Errors are reported. */
#ifndef DFL_IR_PATH_KEEP_LEGALITY_H
#define DFL_IR_PATH_KEEP_LEGALITY_H

#include "ir/path/path.h"

/* Checks memory, order and place of the keeps above einsum `e`, once the units of the einsums before it are chosen:
   E0404, E0407, E0408, E0415, E0417, E0422. */
bool dfl_path_check_keeps(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e);
/* Whether every tensor has a home above each einsum that touches it, and one home in all: else E0415. An input may have
   several homes in one memory. */
bool dfl_path_check_homes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
