/* What chips hold for the whole step. */
#ifndef DFL_ORACLE_CHIPS_MEMORY_H
#define DFL_ORACLE_CHIPS_MEMORY_H

#include "oracle/chips/chips_internal.h"

/* The elements of a tensor that the einsums of a stage use: those of its layers. NULL = none. */
element_set dfl_chips_of_stage(const chips *c, uint32_t tensor, uint32_t stage);
/* Bits that each stage holds for the whole step, into `held` of the result. */
void dfl_chips_find_held(chips *c);
/* Whether somebody outside of the step gets a tensor behind the last micro-batch: an output, unless somebody gives its gradient,
   who then has it from each micro-batch, or iterations that shrink leave it in the place of what they read. */
bool dfl_chips_is_given_away(const chips *c, uint32_t tensor);
/* Whether what iteration `layer` makes of such a tensor is given away: what a repeat carries on is not. */
bool dfl_chips_leaves(const chips *c, uint32_t tensor, int64_t layer);
/* Bits of the inputs and results of the step that a chip has at home in a memory. */
dfl_i128 dfl_chips_inputs_of(const chips *c, uint32_t memory, uint32_t chip);

#endif
