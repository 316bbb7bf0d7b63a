#include "sema/names/symmap.h"

#include <string.h>

/*
 * Symbols are small and dense: an odd factor separates neighbours in the lower bits, which select the slot. Modulo
 * 2^32, multiplication by an odd factor is also a bijection: two keys with equal hashes are equal, so the map stores no
 * keys.
 */
static uint32_t hash_key(dfl_sym key)
{
    return key * 2654435761u;
}

/* The item number of `key`, or 0. */
static uint32_t find_item(const dfl_symmap *map, dfl_sym key)
{
    uint32_t at;

    return dfl_hashmap_first(&map->by_key, hash_key(key), &at);
}

void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key)
{
    uint32_t item = find_item(map, key);

    return item == 0 ? NULL : map->values[item - 1];
}

/* Adds a value under a new key. `values` has space for as many items as the map has slots. */
static void add_value(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value)
{
    const dfl_symmap old = *map;

    dfl_hashmap_add(arena, &map->by_key, hash_key(key), old.by_key.n + 1);
    if (map->by_key.n_slots != old.by_key.n_slots) {
        map->values = DFL_NEW_ARRAY(arena, void *, dfl_hashmap_room(&map->by_key));
        if (old.by_key.n > 0)
            memcpy(map->values, old.values, old.by_key.n * sizeof *old.values);
    }
    map->values[old.by_key.n] = value;
}

void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value)
{
    uint32_t item = find_item(map, key);

    if (item == 0)
        add_value(arena, map, key, value);
    else
        map->values[item - 1] = value;
}
