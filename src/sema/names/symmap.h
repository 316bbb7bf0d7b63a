/* A map from symbols to pointers, used for the names of a scope. A map of zero bytes is empty. The map has no
   iteration. */
#ifndef DFL_SEMA_NAMES_SYMMAP_H
#define DFL_SEMA_NAMES_SYMMAP_H

#include "support/hashmap.h"
#include "support/intern.h"

typedef struct {
    dfl_hashmap by_key; /* item numbers by the hash of the key */
    void **values;      /* value of item i: values[i - 1] */
} dfl_symmap;

/* The value of `key`, or NULL. */
void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key);
/* Sets or replaces the value of `key`; `key` must not be 0. The map allocates from the arena. */
void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value);

#endif
