#include "sema/names/symmap.h"

/* Symbols are small and dense: an odd factor keeps neighbours apart in the lower bits, which choose the slot. */
static uint64_t hash_key(dfl_sym key)
{
    return key * UINT64_C(2654435761);
}

/* The item of `key`, or NULL. */
static dfl_symmap_item *find_item(const dfl_symmap *map, dfl_sym key)
{
    uint64_t hash = hash_key(key);
    uint32_t at;

    for (uint32_t item = dfl_hashmap_first(&map->by_key, hash, &at); item != 0;
         item = dfl_hashmap_next(&map->by_key, hash, &at))
        if (map->items.at[item - 1].key == key)
            return &map->items.at[item - 1];
    return NULL;
}

void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key)
{
    const dfl_symmap_item *item = find_item(map, key);

    return item ? item->value : NULL;
}

void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value)
{
    dfl_symmap_item *item = find_item(map, key);

    if (item) {
        item->value = value;
        return;
    }
    DFL_PUSH(arena, &map->items, ((dfl_symmap_item){ key, value }));
    dfl_hashmap_add(arena, &map->by_key, hash_key(key), (uint32_t)map->items.n);
}
