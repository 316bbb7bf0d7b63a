#include "support/blocks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "support/arena.h"

/* Least size of a block that is mapped in whole huge pages: with small pages, page faults would take most of the time of a large
   file. Under a leak checker no block is mapped, since the checker looks for pointers in the heap. */
#ifdef DFL_ARENA_POISON
#define LEAST_MAPPED SIZE_MAX
#else
#define LEAST_MAPPED DFL_BLOCK_PAGE
#endif
/* Number of the size of one huge page, and the least one for which a block of a huge page serves if there is no smaller one. */
enum { PAGE = DFL_BLOCK_SIZES - 1, LEAST_PAGED = 3 };
/* Number of blocks of each size that a store keeps, at most. Evaluations of BERT-large were measured to take 70 blocks of a huge
   page, and those of Llama-3 8B 90. */
enum { MOST_STORED = 128 };

void dfl_block_refused(size_t size)
{
    fprintf(stderr, "error[E0601]: the system refuses another %zu bytes of memory\n", size);
    exit(5); /* the status of every run that a limit stops */
}

/* A mapping of `whole` bytes, a multiple of DFL_HUGE_PAGE, aligned to DFL_HUGE_PAGE. The bytes are zero. NULL when the system
   refuses the mapping. */
static void *map_huge(size_t whole)
{
    size_t more = whole + DFL_HUGE_PAGE, before;
    unsigned char *at = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    before = (size_t)(-(uintptr_t)at & (uintptr_t)(DFL_HUGE_PAGE - 1));
    if (before > 0)
        munmap(at, before);
    munmap(at + before + whole, DFL_HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(at + before, whole, MADV_HUGEPAGE); /* a hint for speed; small pages are correct, too */
#endif
    return at + before;
}

/* Enters the store. False if another thread is in it: the system serves instead, and no thread waits. */
static bool enter(dfl_block_store *store)
{
    return !atomic_exchange_explicit(&store->is_entered, true, memory_order_acquire);
}

static void leave(dfl_block_store *store)
{
    atomic_store_explicit(&store->is_entered, false, memory_order_release);
}

/* Index in `of` of blocks of `size` bytes; DFL_BLOCK_SIZES = a store keeps none of this size. */
static uint32_t number_of(size_t size)
{
    for (uint32_t i = 0; i < PAGE; i++)
        if (size == DFL_BLOCK_LEAST << i)
            return i;
    return size == DFL_BLOCK_PAGE ? PAGE : DFL_BLOCK_SIZES;
}

static dfl_block *pop(dfl_block_store *store, uint32_t number)
{
    dfl_block *out = store->of[number].first;

    if (out) {
        store->of[number].first = out->next;
        store->of[number].n--;
        out->next = NULL;
    }
    return out;
}

/* A block of the store; NULL = it has none. */
static dfl_block *take_stored(dfl_block_store *store, size_t size)
{
    const uint32_t number = number_of(size);
    dfl_block *out;

    if (number == DFL_BLOCK_SIZES || !enter(store))
        return NULL;
    out = pop(store, number);
    if (!out && number >= LEAST_PAGED)
        out = pop(store, PAGE);
    leave(store);
    return out;
}

/* Whether the store keeps the block. */
static bool keep_stored(dfl_block_store *store, dfl_block *block)
{
    const uint32_t number = number_of(block->size);
    bool keeps;

    if (number == DFL_BLOCK_SIZES || !enter(store))
        return false;
    keeps = store->of[number].n < MOST_STORED;
    if (keeps) {
        block->next = store->of[number].first;
        store->of[number].first = block;
        store->of[number].n++;
    }
    leave(store);
    return keeps;
}

dfl_block *dfl_block_new(dfl_block_store *store, size_t size)
{
    size_t whole;
    dfl_block *b = store ? take_stored(store, size) : NULL;

    if (b)
        return b;
    if (__builtin_add_overflow(size, sizeof *b, &whole) || whole > PTRDIFF_MAX - 2 * DFL_HUGE_PAGE)
        dfl_block_refused(size);
    if (size >= LEAST_MAPPED) {
        size_t mapped = (whole + DFL_HUGE_PAGE - 1) & ~(DFL_HUGE_PAGE - 1);

        b = map_huge(mapped);
        if (b) {
            b->mapped = mapped;
            size = mapped - sizeof *b;
        }
    }
    if (!b)
        b = calloc(1, whole);
    if (!b)
        dfl_block_refused(whole);
    b->size = size;
    return b;
}

static void give_back(dfl_block *b)
{
    if (b->mapped > 0)
        munmap(b, b->mapped);
    else
        free(b);
}

void dfl_block_free(dfl_block_store *store, dfl_block *block)
{
    if (!store || !keep_stored(store, block))
        give_back(block);
}

void dfl_block_store_empty(dfl_block_store *store)
{
    for (uint32_t i = 0; i < DFL_BLOCK_SIZES; i++)
        for (dfl_block *b = pop(store, i); b; b = pop(store, i))
            give_back(b);
}
