/*
 * Independent pieces of work on several threads. Which thread runs which piece is nobody's business: results go into
 * places of their own, by index, so that nothing depends on the number of threads.
 */
#ifndef DFL_SUPPORT_POOL_H
#define DFL_SUPPORT_POOL_H

#include <stddef.h>

#include "support/arena.h"

/* Calls task(context, i) once for every i below `n`, on up to `threads` threads, and returns when all are done. */
void dfl_pool_run(unsigned threads, size_t n, void (*task)(void *context, size_t i), void *context);
/* What pieces share, one at a time: between `take` and `leave` no other has it. */
typedef struct dfl_lock dfl_lock;
dfl_lock *dfl_lock_new(dfl_arena *arena);
void dfl_lock_take(dfl_lock *lock);
void dfl_lock_leave(dfl_lock *lock);
/* Processors that this process may use, at least 1. */
unsigned dfl_pool_processors(void);

#endif
