/*
 * One flag for everything that can stop a piece of work early: the memory limit, the step limit, a deadline and
 * cancellation. Loops over user-sized things call dfl_budget_ok; the first stop is kept in `why`, is reported once
 * by the caller as an E06xx diagnostic, and unwinds by plain returns.
 */
#ifndef DFL_SUPPORT_BUDGET_H
#define DFL_SUPPORT_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    DFL_STOP_NONE,
    DFL_STOP_MEMORY,
    DFL_STOP_STEPS,
    DFL_STOP_TIME,
    DFL_STOP_EVALUATIONS,
    DFL_STOP_CANCELLED,
} dfl_stop;

typedef struct {
    size_t memory_used, memory_limit; /* bytes; a limit of 0 means none */
    uint64_t steps_used, steps_limit; /* a limit of 0 means none */
    atomic_bool *cancel;              /* may be NULL */
    dfl_stop why;
} dfl_budget;

/* The limits of a session, with nothing used, for a piece of work by itself; of NULL there are none. */
dfl_budget dfl_budget_fresh(const dfl_budget *session);
/* Counts one step. False once the budget is stopped, and for ever after. */
bool dfl_budget_ok(dfl_budget *budget);
/* Counts `n` steps at once. */
bool dfl_budget_spend(dfl_budget *budget, uint64_t n);
void dfl_budget_stop(dfl_budget *budget, dfl_stop why);
/* "memory limit reached", ... : static text, lower case. */
const char *dfl_stop_text(dfl_stop why);

#endif
