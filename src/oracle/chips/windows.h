/* Accesses that reach beyond the part of a chip: with an offset, or with other ranks beside a divided one. */
#ifndef DFL_ORACLE_CHIPS_WINDOWS_H
#define DFL_ORACLE_CHIPS_WINDOWS_H

#include "oracle/chips/chips_internal.h"

/* The dimension of a tensor in which a group divides a rank that an operand of an einsum moves by 1, beside an offset or other
   ranks; DFL_NONE = there is none. */
uint32_t dfl_chips_window(const chips *c, uint32_t einsum, uint32_t tensor, uint32_t group);
/* The dimension of its result in which an einsum writes beside the parts that a group divides: at sums of the divided rank;
   DFL_NONE = there is none. */
uint32_t dfl_chips_written_beside(const chips *c, uint32_t einsum, uint32_t group);
/* Whether two accesses differ by offsets to ranks alone: they share what an exchange brings. */
bool dfl_chips_is_alike(const dfl_access *a, const dfl_access *b);

#endif
