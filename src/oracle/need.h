/* Blocks of iteration spaces as lines divide them, and rule 11 of MODEL.md, which cuts the blocks of a fused producer. */
#ifndef DFL_ORACLE_NEED_H
#define DFL_ORACLE_NEED_H

#include "oracle/oracle_internal.h"

typedef void dfl_oracle_block_fn(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block,
                                 const uint32_t *coord, void *data);

/* Visits every non-empty block of the einsum's iteration space above step `upto`, for the present iterations of the
   temporal loops: one block for each combination of coordinates of the spatial lines above the step. Finds the need of
   the einsum first where the step lies below its branch. */
void dfl_oracle_visit_blocks(dfl_oracle_machine *machine, uint32_t einsum, uint32_t upto, dfl_oracle_block_fn *visit, void *data);
/* Trip count of a temporal loop for the present iterations of the loops above it: the largest of all einsums below, at
   least 1. */
uint32_t dfl_oracle_trip_count(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line);
/* Finds out what the einsum computes in which iteration; nothing to do if no loop restricts it. False after a report. */
bool dfl_oracle_need_prepare(dfl_oracle_machine *machine, uint32_t einsum);
/* Whether the einsum computes its present point in some iteration that agrees with the present one above step `upto`. */
bool dfl_oracle_need_has_point(dfl_oracle_machine *machine, uint32_t einsum, uint32_t upto);
/* For `recompute`: the elements that the einsum computes in the present iteration lose the values that they may have. */
void dfl_oracle_need_forget(dfl_oracle_machine *machine, uint32_t einsum);

#endif
