/* The points of an einsum's iteration space, and the elements that the points access. */
#ifndef DFL_ORACLE_POINTS_H
#define DFL_ORACLE_POINTS_H

#include "oracle/oracle_internal.h"

/* Starts and advances the enumeration of a block's points that satisfy `where`. False after the last point. The present
   point is `einsums[einsum].point`. */
bool dfl_oracle_first_point(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block);
bool dfl_oracle_next_point(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block);
/* Row-major index of the present point in the iteration space. */
uint32_t dfl_oracle_point_index(const dfl_oracle_einsum *e);
/* Row-major index of the element that the present point accesses; DFL_NONE if the point lies outside of the shape. */
uint32_t dfl_oracle_element(const dfl_oracle_machine *machine, const dfl_oracle_einsum *e, const dfl_oracle_access *a);

#endif
