/*
 * Progress reports of a computation by several threads. Threads add the evaluations that they have made. One of them calls the
 * function of the caller at most ten times a second, the first time 0.1 s after the start, and never two threads at once.
 * No result depends on the reports.
 */
#ifndef DFL_SUPPORT_PROGRESS_H
#define DFL_SUPPORT_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

/* A report. */
typedef struct {
    const char *phase;        /* static text, lower case */
    uint64_t evaluated;       /* evaluations of all threads */
    double best, bound;       /* objective of the incumbent; lower bound of the objective; NAN = not known yet */
} dfl_progress_state;

typedef void dfl_progress_show(void *context, const dfl_progress_state *now);

typedef struct {
    dfl_progress_show *show;  /* NULL = no reports */
    void *context;            /* first argument of `show` */
    dfl_progress_state now;   /* phase and bounds change only while no thread adds */
    atomic_uint_fast64_t evaluated;
    atomic_flag busy;         /* set while a thread reports */
    double next;              /* time of the next report, of dfl_deadline_clock; belongs to the thread that is reporting */
} dfl_progress_meter;

void dfl_progress_open(dfl_progress_meter *meter, dfl_progress_show *show, void *context);
/* Adds evaluations, from any thread. `meter` may be NULL. */
void dfl_progress_add(dfl_progress_meter *meter, uint64_t evaluated);

#endif
