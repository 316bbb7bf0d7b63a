#include "support/hashmap.h"

#ifdef DFL_HOSTILE
enum { FIRST_SLOTS = 2 }; /* grows after the first item */
#else
enum { FIRST_SLOTS = 4 }; /* slots of the smallest map: most maps are scopes of one to three names */
#endif

/* Puts an item into the first free slot for its hash. Some slot must be free. */
static void insert(dfl_hashmap *map, dfl_hashmap_slot added)
{
    uint32_t at = added.hash & (map->n_slots - 1);

    while (map->slots[at].item != 0)
        at = (at + 1) & (map->n_slots - 1);
    map->slots[at] = added;
}

static void double_slots(dfl_arena *arena, dfl_hashmap *map)
{
    const dfl_hashmap old = *map;

    map->n_slots = old.n_slots == 0 ? FIRST_SLOTS : 2 * old.n_slots;
    map->slots = DFL_NEW_ARRAY(arena, dfl_hashmap_slot, map->n_slots);
    for (uint32_t at = 0; at < old.n_slots; at++)
        if (old.slots[at].item != 0)
            insert(map, old.slots[at]);
}

void dfl_hashmap_add(dfl_arena *arena, dfl_hashmap *map, uint64_t hash, uint32_t item)
{
    if (map->n == dfl_hashmap_room(map))
        double_slots(arena, map);
    insert(map, (dfl_hashmap_slot){ (uint32_t)hash, item });
    map->n++;
}
