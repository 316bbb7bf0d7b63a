/* The exchanges of an operand: from the layout in which it lies to the one in which an einsum asks for it. */
#ifndef DFL_PLAN_EXCHANGE_OPERAND_EXCHANGES_H
#define DFL_PLAN_EXCHANGE_OPERAND_EXCHANGES_H

#include "plan/exchange/exchange_groups.h"

/* Adds the exchanges that an operand needs, before the einsum; of gathered rows, those behind it. False after a report. */
bool dfl_operand_exchanges_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                               dfl_exchange_vec *out);

#endif
