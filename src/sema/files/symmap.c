#include "sema/files/symmap.h"

#ifdef DFL_HOSTILE
enum { FIRST_ROOM = 2 }; /* one slot is always free: it ends a search */
#else
enum { FIRST_ROOM = 4 };
#endif

static uint32_t slot(const dfl_symmap *map, dfl_sym key)
{
    uint32_t at = (key * 2654435761u) >> 7;

    for (;; at++) {
        at &= map->room - 1;
        if (map->keys[at] == key || map->keys[at] == 0)
            return at;
    }
}

void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key)
{
    return map->n == 0 ? NULL : map->values[slot(map, key)];
}

static void grow(dfl_arena *arena, dfl_symmap *map)
{
    dfl_symmap wide = { .room = map->room == 0 ? FIRST_ROOM : map->room * 2 };

    wide.keys = DFL_NEW_ARRAY(arena, dfl_sym, wide.room);
    wide.values = DFL_NEW_ARRAY(arena, void *, wide.room);
    wide.n = map->n;
    for (uint32_t i = 0; i < map->room; i++) {
        uint32_t at;

        if (map->keys[i] == 0)
            continue;
        at = slot(&wide, map->keys[i]);
        wide.keys[at] = map->keys[i];
        wide.values[at] = map->values[i];
    }
    *map = wide;
}

void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value)
{
    uint32_t at;

    if ((map->n + 1) * 4 > map->room * 3)
        grow(arena, map);
    at = slot(map, key);
    map->n += map->keys[at] == 0;
    map->keys[at] = key;
    map->values[at] = value;
}
