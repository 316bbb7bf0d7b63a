/*
 * When a long computation has to stop: a budget (cancellation, steps, memory), a point in time, and a number of evaluations.
 * Loops poll a deadline after equal amounts of work. The clock and the budget are read at every 128th poll, so a limit on steps
 * stops at the same node on every machine; the evaluations are compared at every poll.
 */
#ifndef DFL_SUPPORT_DEADLINE_H
#define DFL_SUPPORT_DEADLINE_H

#include "support/budget.h"

/* Grace budgets: steps that a computation may take after its deadline, to come to some result. */
enum {
    DFL_GRACE_COUNTED = 1 << 25,  /* after a limit on steps or evaluations: some seconds, the same on every machine */
    DFL_GRACE_TIMED = 1 << 21,    /* after a limit on time or an interrupt: some tenths of a second */
};

typedef struct {
    dfl_budget *budget;           /* NULL = no limits on steps and memory, no cancellation */
    double at;                    /* seconds of dfl_deadline_clock, 0 = no limit on time */
    const uint64_t *counter;      /* evaluations of the current stage; NULL = the stage counts none */
    uint64_t counted;             /* evaluations of the stages before the current one */
    uint64_t most_evaluations;    /* limit on evaluations of all stages, 0 = none */
    uint32_t polls;               /* so far, modulo 2^32; 0 makes the next poll read the clock */
    dfl_stop why;                 /* reason of the stop, DFL_STOP_NONE before it */
} dfl_deadline;

/* Seconds of a clock that only goes forward. */
double dfl_deadline_clock(void);
/* Makes `deadline` the grace budget after a stop for the reason `why`: a number of steps, without a limit on time. `budget` is
   overwritten and must live as long as `deadline`. */
void dfl_deadline_grace(dfl_deadline *deadline, dfl_budget *budget, dfl_stop why);
/* Steps that the budget has left, at least 1 and at most `most`. */
uint64_t dfl_deadline_left(const dfl_deadline *deadline, uint64_t most);
/* Begins a stage that counts its evaluations in `*counter`. The counter of the stage before is read once more. */
void dfl_deadline_count(dfl_deadline *deadline, const uint64_t *counter);
/* Polls the deadline. True once the computation has to stop, and for ever after. */
bool dfl_deadline_passed(dfl_deadline *deadline);

#endif
