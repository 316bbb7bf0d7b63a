/*
 * Independent pieces of work on several threads. Which thread runs which piece is nobody's business: results go into
 * places of their own, by index, so that nothing depends on the number of threads.
 */
#ifndef DFL_SUPPORT_POOL_H
#define DFL_SUPPORT_POOL_H

#include <stddef.h>

/* Calls task(context, i) once for every i below `n`, on up to `threads` threads, and returns when all are done. */
void dfl_pool_run(unsigned threads, size_t n, void (*task)(void *context, size_t i), void *context);
/* Processors that this process may use, at least 1. */
unsigned dfl_pool_processors(void);

#endif
