/* A map from symbols to pointers: the names of a scope. A map that is all zero is empty; it has no iteration. */
#ifndef DFL_SEMA_NAMES_SYMMAP_H
#define DFL_SEMA_NAMES_SYMMAP_H

#include "support/hashmap.h"
#include "support/intern.h"

typedef struct {
    dfl_hashmap by_key; /* item numbers by the hash of the key */
    void **values;      /* of item i: values[i - 1] */
} dfl_symmap;

/* The value of `key`, or NULL. */
void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key);
/* Sets or replaces the value of `key`; `key` != 0. The map grows in the arena. */
void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value);

#endif
