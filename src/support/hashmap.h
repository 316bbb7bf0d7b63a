/*
 * A hash map from keys to item numbers: open addressing, linear probing. The keys stay with the caller, usually in a
 * vector whose index plus 1 is the item number. The caller hashes a key and compares it with the items that the map
 * offers for the hash. The map keeps 32 bits of each hash: growing it touches no key, and few items of other keys are
 * offered. Items cannot be removed, and the map has no iteration: order comes from the caller's vector, never from a
 * hash.
 *
 * A map that is all zero is empty. Its slots come from the arena that dfl_hashmap_add is given.
 */
#ifndef DFL_SUPPORT_HASHMAP_H
#define DFL_SUPPORT_HASHMAP_H

#include <stdint.h>

#include "support/arena.h"

typedef struct {
    uint32_t hash;           /* lower half of the key's hash */
    uint32_t item;           /* item number, 0 = free slot */
} dfl_hashmap_slot;

typedef struct {
    dfl_hashmap_slot *slots; /* array of n_slots slots, at least a quarter free */
    uint32_t n, n_slots;     /* number of items; number of slots, a power of two or 0 */
} dfl_hashmap;

/* The first item with the hash `hash` at slot `*at` or behind it; 0 when a free slot comes first. Sets `*at`. */
static inline uint32_t dfl_hashmap_probe(const dfl_hashmap *map, uint64_t hash, uint32_t *at)
{
    for (;; ++*at) {
        const dfl_hashmap_slot *slot = &map->slots[*at &= map->n_slots - 1];

        if (slot->hash == (uint32_t)hash || slot->item == 0)
            return slot->item;
    }
}

/*
 * Walks the items whose stored hash bits equal those of `hash`; 0 ends the walk. `*at` is the position of the walk.
 *
 *     for (item = dfl_hashmap_first(map, hash, &at); item != 0; item = dfl_hashmap_next(map, hash, &at))
 *         if (key of item equals the key) return item;
 */
static inline uint32_t dfl_hashmap_first(const dfl_hashmap *map, uint64_t hash, uint32_t *at)
{
    *at = (uint32_t)hash;
    return map->n == 0 ? 0 : dfl_hashmap_probe(map, hash, at);
}

static inline uint32_t dfl_hashmap_next(const dfl_hashmap *map, uint64_t hash, uint32_t *at)
{
    ++*at;
    return dfl_hashmap_probe(map, hash, at);
}

/* Number of items for which the map has slots: at least a quarter of the slots stays free. */
static inline uint32_t dfl_hashmap_room(const dfl_hashmap *map)
{
    return map->n_slots - (map->n_slots + 3) / 4;
}

/* Adds the item `item` (a number from 1 on) under the hash of its key. The caller has made sure that the key is new. */
void dfl_hashmap_add(dfl_arena *arena, dfl_hashmap *map, uint64_t hash, uint32_t item);

#endif
