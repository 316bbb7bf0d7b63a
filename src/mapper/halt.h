/*
 * Stopping early: a session's cancellation and limits, a deadline, and a limit on what is evaluated. Polled by loops, cheaply:
 * limits are looked at now and then, after the same work each time.
 */
#ifndef DFL_MAPPER_HALT_H
#define DFL_MAPPER_HALT_H

#include "support/budget.h"

enum {
    DFL_HALT_PATIENT = 1 << 25,   /* steps for some mapping when a search is stopped by steps or evaluations, */
    DFL_HALT_BRIEF = 1 << 21,     /* and when it is stopped by time or an interrupt */
};

typedef struct {
    dfl_budget *budget;
    double deadline;          /* of dfl_halt_clock, 0 = none */
    const struct dfl_rows *rows; /* whose evaluations count; NULL = none do */
    uint64_t counted;         /* those of rows before */
    uint64_t most;            /* evaluations, 0 = any number */
    uint32_t looks;
    dfl_stop why;
} dfl_halt;

/* Seconds of a clock that only goes forward. */
double dfl_halt_clock(void);
/* Sets what a search that was stopped for this reason may still take, for some mapping: so many steps, whatever the clock
   says. */
void dfl_halt_patiently(dfl_halt *halt, dfl_budget *budget, dfl_stop why);
/* Steps that are left, of `most`. */
uint64_t dfl_halt_left(const dfl_halt *halt, uint64_t most);
/* Counts the evaluations of these rows from now on, and no more those of the last ones, which are still there. */
void dfl_halt_count(dfl_halt *halt, const struct dfl_rows *rows);
/* Whether to stop, and from then on always. */
bool dfl_halted(dfl_halt *halt);

#endif
