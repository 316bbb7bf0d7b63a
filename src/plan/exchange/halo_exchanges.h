/* Messages between neighbours along a divided window: of operands before an einsum, and of results behind their producers. */
#ifndef DFL_PLAN_EXCHANGE_HALO_EXCHANGES_H
#define DFL_PLAN_EXCHANGE_HALO_EXCHANGES_H

#include "plan/exchange/exchange_groups.h"

/* Adds the messages from the neighbours on one slot: an operand lies split as the einsum asks for it, but for elements at the
   edges. All accesses of an einsum to a tensor share the messages. False after a report. */
bool dfl_operand_halos_add(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                           const dfl_layout *asked, uint32_t slot, dfl_exchange_vec *out);
/* Refuses an exchange of an operand that all accesses which share it read beside the place of the chip on a slot of `beside`: it
   would bring a part of the part that the chip has there. False after a report. */
bool dfl_operand_halos_check(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *asked,
                             uint64_t beside);
/* Adds the messages in which instances send what they have made beyond their parts of a result to the neighbours that have it:
   the last slots first, as sums of the corners pass on through the slots before. `einsum` is the last producer. False after a
   report. */
bool dfl_result_halos_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, dfl_exchange_vec *out);

#endif
