/* What chips hold for the whole step. */
#ifndef DFL_ORACLE_CHIPS_MEMORY_H
#define DFL_ORACLE_CHIPS_MEMORY_H

#include "oracle/chips/chips_internal.h"

/* The elements of a tensor that the einsums of a stage use: those of its layers. NULL = none. */
element_set dfl_chips_of_stage(const chips *c, uint32_t tensor, uint32_t stage);
/* Bits that each stage holds for the whole step, into `held` of the result. */
void dfl_chips_find_held(chips *c);
/* Bits of the inputs that a chip has at home in a memory. */
dfl_i128 dfl_chips_inputs_of(const chips *c, uint32_t memory, uint32_t chip);

#endif
