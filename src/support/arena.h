/*
 * Memory by region. A session, a unit of work or a pass owns an arena; everything it makes lives until the arena is
 * freed, and nothing is freed one by one. Allocation never returns NULL: going over the budget's limit still yields
 * memory, but raises the budget's flag, which every loop over user-sized things polls (see budget.h). Memory that
 * the operating system refuses ends the process with exit status 70 and a message.
 */
#ifndef DFL_SUPPORT_ARENA_H
#define DFL_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "support/budget.h"

typedef struct dfl_arena dfl_arena;

/* `budget` may be NULL (no limit); it must outlive the arena. */
dfl_arena *dfl_arena_new(dfl_budget *budget);
void dfl_arena_free(dfl_arena *arena);
/* Releases everything that was allocated, keeps the blocks for reuse. */
void dfl_arena_reset(dfl_arena *arena);
dfl_budget *dfl_arena_budget(const dfl_arena *arena);

/* Zeroed memory for `n` objects of `size` bytes; an overflow of n * size stops the budget. */
void *dfl_arena_alloc(dfl_arena *arena, size_t n, size_t size, size_t align);
/* A copy of `len` bytes with a NUL behind them. */
char *dfl_arena_copy(dfl_arena *arena, const char *text, size_t len);
char *dfl_arena_printf(dfl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *dfl_arena_vprintf(dfl_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#define DFL_NEW(a, T)          ((T *)dfl_arena_alloc((a), 1, sizeof(T), _Alignof(T)))
#define DFL_NEW_ARRAY(a, T, n) ((T *)dfl_arena_alloc((a), (n), sizeof(T), _Alignof(T)))

#endif
