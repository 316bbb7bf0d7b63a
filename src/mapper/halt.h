/* Stopping early: a session's cancellation and memory limit, and a deadline. Polled by loops, cheaply. */
#ifndef DFL_MAPPER_HALT_H
#define DFL_MAPPER_HALT_H

#include "support/budget.h"

enum { DFL_HALT_PATIENCE = 2 }; /* seconds for some mapping when the time is over */

typedef struct {
    dfl_budget *budget;
    double deadline;          /* of dfl_halt_clock, 0 = none */
    uint32_t looks;
    dfl_stop why;
} dfl_halt;

/* Seconds of a clock that only goes forward. */
double dfl_halt_clock(void);
/* Whether to stop, and from then on always. */
bool dfl_halted(dfl_halt *halt);

#endif
