/* How long values are in memory, by the notes of an execution. */
#ifndef DFL_ORACLE_CHIPS_LIFE_H
#define DFL_ORACLE_CHIPS_LIFE_H

#include "oracle/chips/chips_internal.h"

/* Begins the moment of an einsum in a pass. */
void dfl_chips_begin(chips *c, uint32_t einsum, dfl_phase phase, int64_t micro_batch, int64_t layer);
/* Whether the elements of a tensor that an iteration makes are there from their making to their last use: no weight, no state,
   nothing of them, and no result of the step. `layer` < 0: outside of repeats. */
bool dfl_chips_is_passing(const chips *c, uint32_t tensor, int64_t layer);
/* The value of a tensor in a pass, opened if there is none; its number. */
uint32_t dfl_chips_value_of(chips *c, uint32_t tensor, int64_t micro_batch, int64_t layer, bool again);
/* A new buffer of an exchange; `of` tells apart those of one tensor. */
uint32_t dfl_chips_buffer(chips *c, uint32_t tensor, int64_t layer, const void *of);
/* Notes that the chips of a stage, or those of a mask of stages, use a value at the present moment. */
void dfl_chips_use(chips *c, uint32_t value, uint32_t stage);
void dfl_chips_use_on(chips *c, uint32_t value, uint64_t stages);
/* Notes that a chip reads an element. */
void dfl_chips_note_read(chips *c, uint32_t tensor, uint32_t element, uint32_t stage, int64_t micro_batch);
/* The most bits of values on a chip of each stage: those that stay between the operations of a stage as activations, those of one
   operation as working set, into `held` of the result. */
void dfl_chips_find_peaks(chips *c);

#endif
