/*
 * Independent tasks on several threads. A task writes its results to places chosen by its index, never by its thread:
 * results do not depend on the number of threads.
 */
#ifndef DFL_SUPPORT_POOL_H
#define DFL_SUPPORT_POOL_H

#include <stddef.h>

#include "support/arena.h"

/* Calls task(context, i) once for each i < n, on up to `threads` threads, and returns when all tasks are done. */
void dfl_pool_run(unsigned threads, size_t n, void (*task)(void *context, size_t i), void *context);
/* A mutex for data that tasks share: between take and leave one task at most holds it. */
typedef struct dfl_lock dfl_lock;
dfl_lock *dfl_lock_new(dfl_arena *arena);
void dfl_lock_take(dfl_lock *lock);
void dfl_lock_leave(dfl_lock *lock);
/* Number of processors online, 1 to 256. */
unsigned dfl_pool_processors(void);

#endif
