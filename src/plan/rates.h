/* What a step reaches: tokens per second, and the share of the chips' peak rate. */
#ifndef DFL_PLAN_RATES_H
#define DFL_PLAN_RATES_H

#include "plan/plan_internal.h"

/* Sets the utilizations, the peak and the tokens per second in `p->out`, whose number of chips is known. */
void dfl_plan_set_rates(dfl_plan_state *p);

#endif
