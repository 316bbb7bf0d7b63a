/*
 * Blocks of memory that arenas consist of, and a store of blocks that freed arenas leave to later ones. The system clears each
 * page that it gives: of whole networks, whose evaluation takes 100 MB, that was a third of the time of a search. A block from
 * the store has been written up to its mark `dirty`, and only what is allocated again is cleared.
 *
 * The owner of a budget makes a store, sets it in the budget (`blocks`), and empties it after all arenas with this budget are
 * freed. Arenas in several threads may share a store.
 */
#ifndef DFL_SUPPORT_BLOCKS_H
#define DFL_SUPPORT_BLOCKS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct dfl_block {
    struct dfl_block *next;
    size_t size, dirty; /* bytes of the block; bytes from its start that may have been written: the others are zero */
    size_t mapped;      /* bytes of the block's mapping, 0 = a block from the heap */
    alignas(max_align_t) unsigned char bytes[];
} dfl_block;

/* Sizes of the blocks that a store keeps: DFL_BLOCK_LEAST bytes and its doubles below a huge page, and a huge page. */
enum { DFL_BLOCK_SIZES = 8 };
#define DFL_BLOCK_LEAST ((size_t)16 << 10)

/* Blocks by size. All members zero is an empty store. The block that came last leaves first: it lies in the cache. */
typedef struct dfl_block_store {
    atomic_bool is_entered; /* a thread changes a list */
    struct {
        dfl_block *first;
        size_t n;
    } of[DFL_BLOCK_SIZES];
} dfl_block_store;

/* Bytes of a huge page of x86-64 and of most others; where it differs, mappings only lose the advantage. */
#define DFL_HUGE_PAGE ((size_t)2 << 20)
/* Size of a block that is one huge page. */
#define DFL_BLOCK_PAGE (DFL_HUGE_PAGE - sizeof(dfl_block))

/* Ends the process with a message: the system refuses `size` bytes. */
_Noreturn void dfl_block_refused(size_t size);
/* A block of at least `size` bytes; the store keeps only blocks for sizes that are its own. `store` may be NULL. */
dfl_block *dfl_block_new(dfl_block_store *store, size_t size);
/* Gives a block to the store, if this keeps it, else to the system. `store` may be NULL. */
void dfl_block_free(dfl_block_store *store, dfl_block *block);

/* Gives all blocks of the store to the system. */
void dfl_block_store_empty(dfl_block_store *store);

#endif
