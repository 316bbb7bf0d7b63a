/* The groups of chips that exchange: how layouts divide a dimension among them, and the bits of the chip with most. */
#ifndef DFL_PLAN_EXCHANGE_GROUPS_H
#define DFL_PLAN_EXCHANGE_GROUPS_H

#include "plan/exchanges.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_plan_exchange) dfl_exchange_vec;

/* Whether the parts of a dimension that a slot divides in two layouts differ: a slot before it divides the dimension in one of
   them alone. Slots that divide one dimension nest in their order. */
bool dfl_layouts_nest_apart(const dfl_layout *a, const dfl_layout *b, uint32_t slot);
/* Number of ranks of an exchange among the slots of a mask: the product of their counts. */
int64_t dfl_exchange_ranks(const dfl_frame *f, uint64_t slots);
/* Sets the largest part that one rank sends to another one, of so many elements: all take as long as if all were so large. False
   after a report. */
bool dfl_exchange_set_part(const dfl_frame *f, dfl_i128 elements, dfl_plan_exchange *x);
/* Bits of an exchange among the instances of rows as if all had as many points as the largest one; 0 if all do have as many. */
dfl_i128 dfl_exchange_most_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 bits);

#endif
