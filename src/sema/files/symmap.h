/* A table from symbols to pointers: what a scope is made of. Only looked up, never walked. */
#ifndef DFL_SEMA_FILES_SYMMAP_H
#define DFL_SEMA_FILES_SYMMAP_H

#include <stdint.h>

#include "support/intern.h"

typedef struct {
    dfl_sym *keys; /* 0 = free */
    void **values;
    uint32_t n, room; /* room is a power of two, or 0 */
} dfl_symmap;

/* The value of `key`, or NULL. */
void *dfl_symmap_get(const dfl_symmap *map, dfl_sym key);
/* Sets or replaces the value of `key`; `key` != 0. Grows in the arena. */
void dfl_symmap_put(dfl_arena *arena, dfl_symmap *map, dfl_sym key, void *value);

#endif
