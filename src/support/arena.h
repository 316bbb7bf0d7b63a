/*
 * Memory by region. A session, a unit of work or a pass owns an arena; its allocations live until the arena is freed or
 * reset, and none is freed alone. Allocation never returns NULL. An allocation over the budget's memory limit still
 * yields memory, but stops the budget, which every loop over user-sized data polls (budget.h). When the operating system
 * refuses memory, the process ends with exit status 70 and a message.
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

/* The members are private to arena.c and to dfl_arena_take below. */
typedef struct dfl_arena {
    unsigned char *at, *end;   /* free rest of the current block, in whole DFL_ARENA_GRAINs */
    unsigned char *zeroed;     /* start of the bytes of the current block that were never written */
    dfl_budget *budget;        /* the budget of dfl_arena_new, else `own` */
    size_t charged;            /* bytes of this arena that the budget counts */
    size_t next_size;          /* least size of the next block (in bytes) */
    struct dfl_block *first, *current;
    dfl_budget own;
} dfl_arena;

/* Bytes of a grain, to which sizes of allocations are rounded up: most objects are then aligned without padding. */
#define DFL_ARENA_GRAIN ((size_t)8)

/* An empty arena. `budget` may be NULL, which means no limit; otherwise it must outlive the arena. */
dfl_arena *dfl_arena_new(dfl_budget *budget);
void dfl_arena_free(dfl_arena *arena);
/* Releases all allocations and keeps the blocks for reuse. */
void dfl_arena_reset(dfl_arena *arena);
/* The budget that was given to dfl_arena_new, or NULL. */
dfl_budget *dfl_arena_budget(const dfl_arena *arena);

/* Zeroed memory for `n` objects of `size` bytes; an overflow of n * size stops the budget. */
void *dfl_arena_alloc(dfl_arena *arena, size_t n, size_t size, size_t align);
/* Extends an allocation of `size` bytes in place; false unless it is the last one of its block and the block has room. */
bool dfl_arena_extend(dfl_arena *arena, void *at, size_t size, size_t larger);
/* A copy of `len` bytes with a NUL behind them. */
char *dfl_arena_copy(dfl_arena *arena, const char *text, size_t len);
char *dfl_arena_printf(dfl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *dfl_arena_vprintf(dfl_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* dfl_arena_alloc for one object of a constant size, inline when the current block has fresh room and the budget allows it. */
static inline void *dfl_arena_take(dfl_arena *arena, size_t size, size_t align)
{
#ifndef DFL_ARENA_POISON
    dfl_budget *budget = arena->budget;
    unsigned char *at = arena->at;
    size_t used = budget->memory_used + size;

    if (align > DFL_ARENA_GRAIN)
        at += (size_t)(-(uintptr_t)at & (uintptr_t)(align - 1));
    /* a limit of 0 means no limit, since 0 - 1 wraps to the largest number */
    if (at >= arena->zeroed && (uintptr_t)at + size <= (uintptr_t)arena->end && used - 1 < budget->memory_limit - 1) {
        budget->memory_used = used;
        arena->charged += size;
        arena->at = at + ((size + DFL_ARENA_GRAIN - 1) & ~(DFL_ARENA_GRAIN - 1));
        return at;
    }
#endif
    return dfl_arena_alloc(arena, 1, size, align);
}

/* dfl_arena_alloc for an array, inline for up to 1024 items, for which n * size cannot overflow. */
static inline void *dfl_arena_take_array(dfl_arena *arena, size_t n, size_t size, size_t align)
{
    if (n - 1 < 1024)
        return dfl_arena_take(arena, n * size, align);
    return dfl_arena_alloc(arena, n, size, align);
}

#define DFL_NEW(a, T)          ((T *)dfl_arena_take((a), sizeof(T), _Alignof(T)))
#define DFL_NEW_ARRAY(a, T, n) ((T *)dfl_arena_take_array((a), (n), sizeof(T), _Alignof(T)))

#endif
