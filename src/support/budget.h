/*
 * The budget of a piece of work: its memory limit, its step limit, and the flag that stops it early. Loops over
 * user-sized data call dfl_budget_ok. The first stop is kept in `why`; the caller reports it once as an E06xx diagnostic
 * and unwinds by plain returns.
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
    DFL_STOP_GAP,                     /* no limit: the value of a search is close enough to its lower bound */
    DFL_STOP_WORK,                    /* no limit that was asked for: the work of a search without any limit */
} dfl_stop;

/* A budget reads the clock once in so many calls that count steps: a reading costs as much as 20 calls. */
enum { DFL_BUDGET_CALLS_PER_READING = 64 };

/* Work of a search that is limited by work: a clock that goes by what is done, so that a search decides the same everywhere.
   One thread at a time counts it. */
typedef struct { uint64_t units; } dfl_work;

/* Units of work in a second of this clock. */
#define DFL_WORK_SECOND 4e7

typedef struct {
    size_t memory_used, memory_limit; /* bytes; a limit of 0 means none */
    uint64_t steps_used, steps_limit; /* a limit of 0 means none */
    atomic_bool *cancel;              /* set by another thread to cancel the work; may be NULL */
    dfl_work *work;                   /* counts the work, and is the clock of deadlines; NULL = the monotonic clock is that */
    struct dfl_block_store *blocks;   /* blocks that freed arenas leave to others with this budget (blocks.h); may be NULL */
    double deadline;                  /* time (in seconds of dfl_budget_time) at which the budget stops; 0 = none */
    uint32_t polls;                   /* calls that counted steps, modulo 2^32 */
    dfl_stop why;                     /* the first stop, or NONE */
} dfl_budget;

/* An unused budget with the limits of `session`, for a separate piece of work; without limits if `session` is NULL. */
dfl_budget dfl_budget_fresh(const dfl_budget *session);
/* Time of the monotonic clock (in s). */
double dfl_budget_clock(void);
/* Time (in s) by the clock of the budget: that of its work, or the monotonic clock. `budget` may be NULL. */
double dfl_budget_time(const dfl_budget *budget);
/* Counts units of work beyond the steps, each of which is one. `budget` may be NULL. */
void dfl_budget_work(dfl_budget *budget, uint64_t units);
/* Adds the steps of another budget, whose work was counted when it was done. False once the budget is stopped. */
bool dfl_budget_add_steps(dfl_budget *budget, uint64_t steps);
/* Counts one step. False once the budget is stopped; it stays stopped. */
bool dfl_budget_ok(dfl_budget *budget);
/* Counts `n` steps at once. */
bool dfl_budget_spend(dfl_budget *budget, uint64_t n);
/* Stops the budget, unless it is stopped already; `budget` may be NULL. */
void dfl_budget_stop(dfl_budget *budget, dfl_stop why);
/* Why a budget stopped, as lower-case text: "memory limit reached". Static. */
const char *dfl_stop_text(dfl_stop why);

#endif
