/*
 * A deadline: the limits of a long computation on steps, memory, time and evaluations, and its cancellation. Loops poll
 * a deadline after equal amounts of work. The clock and the budget are read at every 128th poll, so a limit on steps
 * stops at the same node on every machine; the evaluations are compared at every poll.
 */
#ifndef DFL_SUPPORT_DEADLINE_H
#define DFL_SUPPORT_DEADLINE_H

#include "support/budget.h"

/* Grace budgets, steps: work that a computation may do after its deadline to reach a first result. A limit on steps or
   evaluations counts no time, so that the result is the same on every machine. */
enum {
    DFL_GRACE_COUNTED = 1 << 25,  /* after a limit on steps or evaluations; some seconds */
    DFL_GRACE_TIMED = 1 << 21,    /* after a limit on time or an interrupt */
};
/* Grace after a limit on time or an interrupt, s: all stages together end so long after the deadline; each stage has a least
   time, and that alone after an interrupt, whose time is not known. */
#define DFL_GRACE_SECONDS 0.12
#define DFL_GRACE_LEAST_SECONDS 0.05

/* After a limit on time or an interrupt, s: if one evaluation of the result takes longer, no other mapping is compared with
   it. */
#define DFL_GRACE_EVALUATION 0.02

typedef struct {
    dfl_budget *budget;           /* NULL = no limits on steps and memory, no cancellation */
    double at;                    /* time of the deadline (in seconds of dfl_deadline_clock); 0 = no limit on time */
    const uint64_t *counter;      /* evaluations of the current stage; NULL = the stage counts none */
    uint64_t counted;             /* evaluations of the stages before the current one */
    uint64_t most_evaluations;    /* limit on evaluations of all stages, 0 = none */
    uint32_t polls;               /* number of polls, modulo 2^32; 0 makes the next poll read the clock */
    dfl_stop why;                 /* reason of the stop, DFL_STOP_NONE before it */
} dfl_deadline;

/* Time of the monotonic clock (in s). */
double dfl_deadline_clock(void);
/* Makes `deadline` the grace budget that follows a stop for the reason `why`: a limit on steps and, after a limit on time or an
   interrupt, on time. `at` is the time of the deadline of the computation, 0 = none; after another stop this deadline stays
   in force. An interrupt of `session` (may be NULL) ends the grace, unless an interrupt is the reason for it. `budget` is
   overwritten and must live as long as `deadline`. */
void dfl_deadline_grace(dfl_deadline *deadline, dfl_budget *budget, dfl_stop why, double at, const dfl_budget *session);
/* Steps that the budget has left, at least 1 and at most `most`. */
uint64_t dfl_deadline_left(const dfl_deadline *deadline, uint64_t most);
/* Begins a stage that counts its evaluations in `*counter`. Reads the counter of the previous stage a last time. */
void dfl_deadline_count(dfl_deadline *deadline, const uint64_t *counter);
/* Polls the deadline. True if the computation has to stop; all later polls are true, too. */
bool dfl_deadline_passed(dfl_deadline *deadline);

#endif
