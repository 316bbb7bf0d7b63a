/* The exchanges of a result: from what its producers leave to its home. */
#ifndef DFL_PLAN_EXCHANGE_RESULT_EXCHANGES_H
#define DFL_PLAN_EXCHANGE_RESULT_EXCHANGES_H

#include "plan/exchange/exchange_groups.h"

/* Adds the exchanges that make the home of a tensor from the results of its producers; `einsum` is the last of them. False after
   a report. */
bool dfl_result_exchanges_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, dfl_exchange_vec *out);

#endif
