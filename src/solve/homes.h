/* Outermost memories of tensors, which searches of several einsums ask to stand outside of arrays. */
#ifndef DFL_SOLVE_HOMES_H
#define DFL_SOLVE_HOMES_H

#include "solve/solve_internal.h"

/* The outermost memory of the system that may hold the tensor and that the unit sees; DFL_NONE if there is none. */
uint32_t dfl_outermost_for(const dfl_mapping *m, uint32_t tensor, uint32_t compute);
/* Whether the outermost memory of every tensor of a workload of several einsums stands outside of arrays. False after one
   report. */
bool dfl_check_homes(dfl_fill *fill, const dfl_mapping *mapping);

#endif
