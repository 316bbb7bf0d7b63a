/* Outermost memories of tensors, which searches of several einsums ask to stand outside of arrays. */
#ifndef DFL_SOLVE_HOMES_H
#define DFL_SOLVE_HOMES_H

#include "solve/solve_internal.h"

/* The outermost memory of the system that may hold the tensor and that the unit sees; DFL_NONE if there is none. */
uint32_t dfl_outermost_for(const dfl_mapping *m, uint32_t tensor, uint32_t compute);
/* Whether each einsum of a workload of several einsums has a unit, of those that can run it, for which the outermost memories of
   all its tensors stand outside of arrays. An einsum that no unit can run counts as if it had one. False after one report. */
bool dfl_check_homes(dfl_fill *fill, const dfl_mapping *mapping);

/* Whether the memories of the system have room for the inputs, weights, states and outputs of a workload of several einsums, each
   of which counts in its home at all times. False after E0618, which then is a proof: no mapping of any space fits. */
bool dfl_check_room(dfl_fill *fill, const dfl_mapping *mapping);

/* Bits of a tensor in its home. */
double dfl_home_bits(const dfl_tensor *tensor);
/* Sets `home`, by tensor: the outermost memory outside of arrays that may hold it, and for an intermediate the first one with
   room for it, the largest intermediate first. True if all tensors fit, and some intermediate has no room in its outermost
   memory. */
bool dfl_homes_pack(dfl_arena *arena, const dfl_mapping *mapping, uint32_t *home);

#endif
