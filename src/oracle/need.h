/* Blocks of iteration spaces, as the lines of a mapping divide these spaces, and rule 11 of MODEL.md, which cuts the
   blocks of a fused producer. */
#ifndef DFL_ORACLE_NEED_H
#define DFL_ORACLE_NEED_H

#include "oracle/oracle_internal.h"

typedef void dfl_oracle_block_fn(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block,
                                 const uint32_t *coord, void *data);

/* Visits every non-empty block of the einsum's iteration space above step `upto`, for the present iterations of the
   temporal loops. Each combination of coordinates of the spatial lines above the step has one block. If the step lies
   below the einsum's branch, finds the need of the einsum first. */
void dfl_oracle_visit_blocks(dfl_oracle_machine *machine, uint32_t einsum, uint32_t upto, dfl_oracle_block_fn *visit, void *data);
/* Trip count of a temporal loop for the present iterations of the loops above it: the largest trip count of all einsums
   below, at least 1. */
uint32_t dfl_oracle_trip_count(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line);
/* Finds the points that the einsum computes in each iteration; does nothing if no loop restricts the einsum. False
   after a report. */
bool dfl_oracle_need_prepare(dfl_oracle_machine *machine, uint32_t einsum);
/* Whether the einsum computes its present point in some iteration that agrees with the present iteration above step
   `upto`. */
bool dfl_oracle_need_has_point(dfl_oracle_machine *machine, uint32_t einsum, uint32_t upto);
/* For `recompute`: clears the values of the elements that the einsum computes in the present iteration. */
void dfl_oracle_need_forget(dfl_oracle_machine *machine, uint32_t einsum);

#endif
