/*
 * Memory by region. A session, a unit of work or a pass owns an arena; everything it makes lives until the arena is
 * freed, and nothing is freed one by one. Allocation never returns NULL: going over the budget's limit still yields
 * memory, but raises the budget's flag, which every loop over user-sized things polls (see budget.h). Memory that
 * the operating system refuses ends the process with exit status 70 and a message.
 */
#ifndef DFL_SUPPORT_ARENA_H
#define DFL_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/budget.h"

#if defined(__SANITIZE_ADDRESS__)
#define DFL_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DFL_ARENA_POISON 1
#endif
#endif

/* Touched by arena.c alone, and by dfl_arena_take below. */
typedef struct dfl_arena {
    unsigned char *at, *end;   /* the rest of the current block, of whole DFL_ARENA_GRAINs */
    unsigned char *zeroed;     /* from here on it has never been written */
    dfl_budget *budget;        /* `own` if none was given */
    size_t charged;            /* bytes counted in the budget for this arena */
    size_t next_size;
    struct dfl_arena_block *first, *current;
    dfl_budget own;
} dfl_arena;

#define DFL_ARENA_GRAIN ((size_t)8)

/* `budget` may be NULL (no limit); it must outlive the arena. */
dfl_arena *dfl_arena_new(dfl_budget *budget);
void dfl_arena_free(dfl_arena *arena);
/* Releases everything that was allocated, keeps the blocks for reuse. */
void dfl_arena_reset(dfl_arena *arena);
dfl_budget *dfl_arena_budget(const dfl_arena *arena);

/* Zeroed memory for `n` objects of `size` bytes; an overflow of n * size stops the budget. */
void *dfl_arena_alloc(dfl_arena *arena, size_t n, size_t size, size_t align);
/* Makes an allocation of `size` bytes larger where it is; false if something stands behind it. */
bool dfl_arena_extend(dfl_arena *arena, void *at, size_t size, size_t larger);
/* A copy of `len` bytes with a NUL behind them. */
char *dfl_arena_copy(dfl_arena *arena, const char *text, size_t len);
char *dfl_arena_printf(dfl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *dfl_arena_vprintf(dfl_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* The same for one small object of a size that is known here: inline where nothing stands in the way. */
static inline void *dfl_arena_take(dfl_arena *arena, size_t size, size_t align)
{
#ifndef DFL_ARENA_POISON
    dfl_budget *budget = arena->budget;
    unsigned char *at = arena->at;
    size_t used = budget->memory_used + size;

    if (align > DFL_ARENA_GRAIN)
        at += (size_t)(-(uintptr_t)at & (uintptr_t)(align - 1));
    /* a limit of 0, none, is the largest number less 1 */
    if (at >= arena->zeroed && (uintptr_t)at + size <= (uintptr_t)arena->end && used - 1 < budget->memory_limit - 1) {
        budget->memory_used = used;
        arena->charged += size;
        arena->at = at + ((size + DFL_ARENA_GRAIN - 1) & ~(DFL_ARENA_GRAIN - 1));
        return at;
    }
#endif
    return dfl_arena_alloc(arena, 1, size, align);
}

/* The same for an array, most of which are short. */
static inline void *dfl_arena_take_array(dfl_arena *arena, size_t n, size_t size, size_t align)
{
    if (n - 1 < 1024)
        return dfl_arena_take(arena, n * size, align);
    return dfl_arena_alloc(arena, n, size, align);
}

#define DFL_NEW(a, T)          ((T *)dfl_arena_take((a), sizeof(T), _Alignof(T)))
#define DFL_NEW_ARRAY(a, T, n) ((T *)dfl_arena_take_array((a), (n), sizeof(T), _Alignof(T)))

#endif
