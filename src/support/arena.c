/*
 * Blocks form a list in order of creation. Allocations come from the block `current`, between `at` and `end`. A reset
 * rewinds to the first block; allocation then walks the list again before it asks for a new block. A block that is left
 * keeps a mark of how far it was ever written, `dirty`. Memory behind the mark is still zero from the system, so only
 * reused memory is cleared.
 *
 * An arena of more than a few blocks gets mappings of whole huge pages. With small pages, page faults would take most of
 * the time of a large file.
 */
#include "support/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
#define FIRST_BLOCK (16u << 10)
#define LAST_BLOCK  HUGE_PAGE
#endif
/* Bytes of a huge page of x86-64 and of most others; where it differs, mappings only lose the advantage. */
#define HUGE_PAGE ((size_t)2 << 20)
/* Least size of a block that is mapped in whole huge pages. Under a leak checker no block is mapped, since the checker
   looks for pointers in the heap. */
#ifdef DFL_ARENA_POISON
#define LEAST_MAPPED SIZE_MAX
#else
#define LEAST_MAPPED (HUGE_PAGE - sizeof(block))
#endif

typedef struct dfl_arena_block {
    struct dfl_arena_block *next;
    size_t size, dirty; /* bytes of the block; bytes that were written at least once */
    size_t mapped; /* bytes of the block's mapping, 0 = a block from the heap */
    alignas(max_align_t) unsigned char bytes[];
} block;

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "error[E0601]: the system refuses another %zu bytes of memory\n", size);
    exit(5); /* the status of every run that a limit stops */
}

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

/* A mapping of `whole` bytes, a multiple of HUGE_PAGE, aligned to HUGE_PAGE. The bytes are zero. NULL when the system
   refuses the mapping. */
static void *map_huge(size_t whole)
{
    size_t more = whole + HUGE_PAGE, before;
    unsigned char *at = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    before = (size_t)(-(uintptr_t)at & (uintptr_t)(HUGE_PAGE - 1));
    if (before > 0)
        munmap(at, before);
    munmap(at + before + whole, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(at + before, whole, MADV_HUGEPAGE); /* a hint for speed; small pages are correct, too */
#endif
    return at + before;
}

static block *block_new(size_t size)
{
    size_t whole;
    block *b = NULL;

    if (__builtin_add_overflow(size, sizeof(block), &whole) || whole > PTRDIFF_MAX - 2 * HUGE_PAGE)
        out_of_memory(size);
    if (size >= LEAST_MAPPED) {
        size_t mapped = (whole + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);

        b = map_huge(mapped);
        if (b) {
            b->mapped = mapped;
            size = mapped - sizeof(block);
        }
    }
    if (!b)
        b = calloc(1, whole);
    if (!b)
        out_of_memory(whole);
    b->size = size;
    poison(b->bytes, size);
    return b;
}

static void block_free(block *b)
{
    unpoison(b->bytes, b->size);
    if (b->mapped > 0)
        munmap(b, b->mapped);
    else
        free(b);
}

dfl_arena *dfl_arena_new(dfl_budget *budget)
{
    dfl_arena *arena = calloc(1, sizeof *arena);

    if (!arena)
        out_of_memory(sizeof *arena);
    arena->budget = budget ? budget : &arena->own;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

void dfl_arena_free(dfl_arena *arena)
{
    if (!arena)
        return;
    discharge(arena);
    for (block *b = arena->first, *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
    free(arena);
}

/* Makes a block the current one; all its bytes are free. */
static void enter_block(dfl_arena *arena, block *b)
{
    block *left = arena->current;

    if (left && left->dirty < (size_t)(arena->at - left->bytes))
        left->dirty = (size_t)(arena->at - left->bytes);
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

/* Inserts a new block behind the current one, before the unused blocks that a reset kept. */
static block *block_append(dfl_arena *arena, size_t size, size_t align)
{
    size_t need;
    block *b;

    if (__builtin_add_overflow(size, align + RED_ZONE + DFL_ARENA_GRAIN, &need))
        out_of_memory(size);
    need = whole_grains(need);
    if (arena->next_size > need)
        need = arena->next_size < HUGE_PAGE ? arena->next_size : HUGE_PAGE - sizeof(block);
    b = block_new(need);
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
        out_of_memory(SIZE_MAX);
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
