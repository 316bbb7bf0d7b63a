/*
 * Blocks form a list in order of creation. Allocations come from the block `current`, between `at` and `end`. A reset
 * rewinds to the first block; allocation then walks the list again before it asks for a new block. A block that is left
 * keeps a mark of how far it was ever written, `dirty`. Memory behind the mark is still zero from the system, so only
 * reused memory is cleared. A freed arena leaves its blocks to the store of its budget (blocks.h).
 */
#include "support/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/blocks.h"

#ifdef DFL_ARENA_POISON
#include <sanitizer/asan_interface.h>
#define RED_ZONE            16u
#define poison(at, n)       ASAN_POISON_MEMORY_REGION((at), (n))
#define unpoison(at, n)     ASAN_UNPOISON_MEMORY_REGION((at), (n))
#else
#define RED_ZONE            0u
#define poison(at, n)       ((void)(at), (void)(n))
#define unpoison(at, n)     ((void)(at), (void)(n))
#endif

/* Bytes of the first block, which holds the work on a small file, and of the largest one; each block doubles the last. */
#ifdef DFL_HOSTILE
#define FIRST_BLOCK 64u
#define LAST_BLOCK  64u
#else
#define FIRST_BLOCK DFL_BLOCK_LEAST
#define LAST_BLOCK  DFL_HUGE_PAGE
#endif
typedef dfl_block block;

/* Counts `size` bytes in the budget. True, without counting, if the bytes would exceed the limit. */
static inline bool charge(dfl_arena *arena, size_t size)
{
    dfl_budget *budget = arena->budget;
    size_t used;

    if (__builtin_add_overflow(budget->memory_used, size, &used) || (budget->memory_limit != 0 && used > budget->memory_limit))
        return true;
    budget->memory_used = used;
    arena->charged += size;
    return false;
}

/* Counts `size` bytes that exceed the limit, and stops the budget. */
static void overcharge(dfl_arena *arena, size_t size)
{
    dfl_budget *budget = arena->budget;

    arena->charged += size;
    if (__builtin_add_overflow(budget->memory_used, size, &budget->memory_used))
        budget->memory_used = SIZE_MAX / 2; /* half of the range, so that further additions do not wrap */
    if (budget->memory_limit != 0 && budget->memory_used > budget->memory_limit)
        dfl_budget_stop(budget, DFL_STOP_MEMORY);
}

static void discharge(dfl_arena *arena)
{
    dfl_budget *budget = arena->budget;

    budget->memory_used -= arena->charged < budget->memory_used ? arena->charged : budget->memory_used;
    arena->charged = 0;
}

dfl_arena *dfl_arena_new(dfl_budget *budget)
{
    dfl_arena *arena = calloc(1, sizeof *arena);

    if (!arena)
        dfl_block_refused(sizeof *arena);
    arena->budget = budget ? budget : &arena->own;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

/* Notes in the current block how far it was written. */
static void mark_dirty(dfl_arena *arena)
{
    block *b = arena->current;

    if (b && b->dirty < (size_t)(arena->at - b->bytes))
        b->dirty = (size_t)(arena->at - b->bytes);
}

void dfl_arena_free(dfl_arena *arena)
{
    if (!arena)
        return;
    discharge(arena);
    mark_dirty(arena);
    for (block *b = arena->first, *next; b; b = next) {
        next = b->next;
        unpoison(b->bytes, b->size);
        dfl_block_free(arena->budget->blocks, b);
    }
    free(arena);
}

/* Makes a block the current one; all its bytes are free. */
static void enter_block(dfl_arena *arena, block *b)
{
    mark_dirty(arena);
    arena->current = b;
    arena->at = b->bytes;
    arena->end = b->bytes + b->size;
    arena->zeroed = b->bytes + b->dirty;
}

void dfl_arena_reset(dfl_arena *arena)
{
    discharge(arena);
    for (block *b = arena->first; b; b = b->next)
        poison(b->bytes, b->size);
    if (arena->first)
        enter_block(arena, arena->first);
}

dfl_budget *dfl_arena_budget(const dfl_arena *arena)
{
    return arena->budget != &arena->own ? arena->budget : NULL;
}

/* Zeroes the bytes of a new allocation that were written before a reset. */
static __attribute__((noinline)) void *clean(const dfl_arena *arena, unsigned char *at, size_t size)
{
    size_t stale = (size_t)(arena->zeroed - at);

    return memset(at, 0, stale < size ? stale : size);
}

static inline size_t padding(const dfl_arena *arena, size_t align)
{
    return (size_t)(-(uintptr_t)arena->at & (uintptr_t)(align - 1));
}

static inline bool has_room(const dfl_arena *arena, size_t size, size_t align)
{
    size_t pad = padding(arena, align), room = (size_t)(arena->end - arena->at);

    return pad <= room && size <= room - pad;
}

static inline size_t whole_grains(size_t size)
{
    return (size + DFL_ARENA_GRAIN - 1) & ~(DFL_ARENA_GRAIN - 1);
}

/* Takes zeroed bytes from the current block, which must have room for them. */
static inline void *take(dfl_arena *arena, size_t size, size_t align)
{
    unsigned char *at = arena->at + padding(arena, align);

    arena->at = at + whole_grains(size);
    if (RED_ZONE != 0 && (size_t)(arena->end - arena->at) > RED_ZONE)
        arena->at += RED_ZONE;
    unpoison(at, size);
    return at >= arena->zeroed ? at : clean(arena, at, size);
}

/* The size of a new block with room for `need` bytes: the next size of the arena or a doubling of it, one that a store keeps, as
   long as a huge page suffices. */
static size_t block_size(const dfl_arena *arena, size_t need)
{
    size_t size = arena->next_size;

    while (size < need && size < LAST_BLOCK)
        size *= 2;
    if (size < need || need > DFL_BLOCK_PAGE)
        return need;
    return size < DFL_HUGE_PAGE ? size : DFL_BLOCK_PAGE;
}

/* Inserts a new block behind the current one, before the unused blocks that a reset kept. */
static block *block_append(dfl_arena *arena, size_t size, size_t align)
{
    size_t need;
    block *b;

    if (__builtin_add_overflow(size, align + RED_ZONE + DFL_ARENA_GRAIN, &need))
        dfl_block_refused(size);
    b = dfl_block_new(arena->budget->blocks, block_size(arena, whole_grains(need)));
    poison(b->bytes, b->size);
    if (arena->next_size < LAST_BLOCK)
        arena->next_size *= 2;
    if (arena->current) {
        b->next = arena->current->next;
        arena->current->next = b;
    } else {
        arena->first = b;
    }
    return b;
}

/* Allocates from the current block, a block behind it, or a new one. */
static __attribute__((noinline)) void *alloc_further(dfl_arena *arena, size_t bytes, size_t align)
{
    while (!has_room(arena, bytes, align)) {
        block *next = arena->current ? arena->current->next : NULL;

        enter_block(arena, next ? next : block_append(arena, bytes, align));
    }
    return take(arena, bytes, align);
}

/* Allocates beyond the limit and stops the budget. */
static __attribute__((noinline)) void *alloc_over(dfl_arena *arena, size_t bytes, size_t align)
{
    overcharge(arena, bytes);
    return alloc_further(arena, bytes, align);
}

/* Serves odd requests: an allocation of 0 bytes gets one byte; an allocation whose size overflows stops the budget and
   gets one object. */
static __attribute__((noinline)) void *alloc_odd(dfl_arena *arena, size_t n, size_t size, size_t align)
{
    if (n == 0 || size == 0)
        return dfl_arena_alloc(arena, 1, 1, align);
    if (!dfl_arena_budget(arena))
        dfl_block_refused(SIZE_MAX);
    dfl_budget_stop(arena->budget, DFL_STOP_MEMORY);
    return alloc_over(arena, size, align);
}

/* Rare cases are tail calls of functions that are not inlined: the common path saves no registers. */
void *dfl_arena_alloc(dfl_arena *arena, size_t n, size_t size, size_t align)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes - 1 >= PTRDIFF_MAX)
        return alloc_odd(arena, n, size, align);
    if (charge(arena, bytes))
        return alloc_over(arena, bytes, align);
    if (!has_room(arena, bytes, align))
        return alloc_further(arena, bytes, align);
    return take(arena, bytes, align);
}

bool dfl_arena_extend(dfl_arena *arena, void *at, size_t size, size_t larger)
{
    unsigned char *more = (unsigned char *)at + size;

    if (RED_ZONE != 0 || size == 0 || (unsigned char *)at + whole_grains(size) != arena->at || larger < size ||
        larger > size + (size_t)(arena->end - arena->at) || charge(arena, larger - size))
        return false;
    arena->at = (unsigned char *)at + whole_grains(larger);
    if (more < arena->zeroed)
        clean(arena, more, larger - size);
    return true;
}

char *dfl_arena_copy(dfl_arena *arena, const char *text, size_t len)
{
    char *copy = dfl_arena_alloc(arena, len + 1, 1, 1);

    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}

char *dfl_arena_vprintf(dfl_arena *arena, const char *format, va_list args)
{
    char small[256];
    va_list again;
    char *text;
    int len;

    va_copy(again, args);
    len = vsnprintf(small, sizeof small, format, args);
    if (len < 0) {
        text = dfl_arena_copy(arena, "", 0);
    } else if ((size_t)len < sizeof small) {
        text = dfl_arena_copy(arena, small, (size_t)len);
    } else {
        text = dfl_arena_alloc(arena, (size_t)len + 1, 1, 1);
        vsnprintf(text, (size_t)len + 1, format, again);
    }
    va_end(again);
    return text;
}

char *dfl_arena_printf(dfl_arena *arena, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = dfl_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
