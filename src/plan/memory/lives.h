/*
 * How long the values of a stage are in memory: from the einsum that makes them to the last one that reads them. Values that stay
 * from one operation of the stage to a later one (`flight.h`) are stored; the others belong to the working set of one operation.
 */
#ifndef DFL_PLAN_MEMORY_LIVES_H
#define DFL_PLAN_MEMORY_LIVES_H

#include "plan/memory/flight.h"
#include "plan/pass/chunk.h"

typedef struct dfl_lives dfl_lives;

/* Whether a tensor is a result of the step, of which all micro-batches stay on the chip: an output. Two outputs are none: that
   whose gradient starts the backward phase, since the loss takes it with its micro-batch, and that of a repeat whose iterations
   differ by conditions: an elimination leaves it in the place of its operand. Of a result that a repeat carries, the last
   iteration alone leaves the step. */
bool dfl_lives_is_result(const dfl_frame *f, uint32_t tensor);

/* The values of a plan. True on overflow. */
bool dfl_lives_find(const dfl_plan_work *work, const dfl_layouts *layouts, dfl_lives **out);
/* The same values for another plan that differs in its chunks alone. Working sets that are found later lie in the arena of the
   first plan. */
dfl_lives *dfl_lives_for(const dfl_lives *lives, const dfl_plan_work *work);
/* Adds to each memory what one micro-batch leaves there in a chunk: its layers, and whether the einsums before and behind the
   repeat belong to it. True on overflow. */
bool dfl_lives_store(const dfl_lives *lives, const dfl_chunk *chunk, dfl_stored *of_memory);
/* Adds the number of values that one micro-batch leaves outside of the chip, with those that the first layer reads of another
   tensor; sets the bits of each on a chip. True on overflow. */
bool dfl_lives_count_outside(const dfl_lives *lives, const dfl_chunk *chunk, uint32_t tensor, dfl_stored *out, dfl_i128 *bits);
/* Raises the largest working set in each memory to that of one operation of a chunk, with the buffers of its exchanges. True on
   overflow. */
bool dfl_lives_work(const dfl_lives *lives, const dfl_chunk *chunk, dfl_i128 *of_memory);

#endif
