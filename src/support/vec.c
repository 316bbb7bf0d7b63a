#include "support/vec.h"

#include <stdint.h>
#include <string.h>

void dfl_vec_grow(dfl_arena *arena, void **at, size_t n, size_t *cap, size_t size, size_t align)
{
#ifdef DFL_HOSTILE
    size_t more = *cap < 64 ? *cap + 1 : *cap * 2; /* moving at every push exposes stale pointers into small vectors */
#else
    /* the first capacity is 8, 4 or 2 items, by item size, since most vectors stay short */
    size_t more = *cap ? *cap * 2 : size <= 16 ? 8 : size <= 32 ? 4 : 2;
#endif
    void *grown;

    if (n > 0 && *cap <= SIZE_MAX / 2 / size && dfl_arena_extend(arena, *at, *cap * size, more * size)) {
        *cap = more;
        return;
    }
    grown = dfl_arena_alloc(arena, more, size, align);
    if (n > 0)
        memcpy(grown, *at, n * size);
    *at = grown;
    *cap = more;
}
