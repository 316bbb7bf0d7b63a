/* The groups of chips that exchange: how layouts divide a dimension among them, and the bits of the chip with most. */
#ifndef DFL_PLAN_EXCHANGE_EXCHANGE_GROUPS_H
#define DFL_PLAN_EXCHANGE_EXCHANGE_GROUPS_H

#include "plan/exchange/exchanges.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_plan_exchange) dfl_exchange_vec;

/* Whether the parts of a dimension that a slot divides in two layouts lie in other places: the slots before it divide it into
   other blocks, or they divide `of_a` and `of_b` positions. Slots that divide one dimension nest in their order. */
bool dfl_layouts_nest_apart(const dfl_frame *f, const dfl_layout *a, const dfl_layout *b, uint32_t slot, int64_t of_a,
                            int64_t of_b);
/* Positions that lines divide of a dimension of an access: those of its rank, or all of the dimension if the index is no rank. */
int64_t dfl_access_extent(const dfl_frame *f, const dfl_access *a, uint32_t dim);
/* Number of ranks of an exchange among the slots of a mask: the product of their counts. */
int64_t dfl_exchange_ranks(const dfl_frame *f, uint64_t slots);
/* Sets the largest part that one rank sends to another one, of so many elements: all take as long as if all were so large. An
   exchange without parts moves nothing. False after a report. */
bool dfl_exchange_set_part(const dfl_frame *f, dfl_i128 elements, dfl_plan_exchange *x);
/* Sets the bits of an exchange of points that go to rows or come from them: `all` = bits of all points of a pass, `own` = of
   those whose elements one chip has at home. The instance with most points has its share of `all`. False after a report. */
bool dfl_exchange_set_points(const dfl_frame *f, uint32_t einsum, dfl_i128 all, dfl_i128 own, dfl_plan_exchange *x);
/* Bits of an exchange among the instances of rows as if all had as many points as the largest one; 0 if all do have as many. */
dfl_i128 dfl_exchange_most_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 bits);

#endif
