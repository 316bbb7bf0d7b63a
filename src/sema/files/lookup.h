/*
 * Finding a part by the path that a user writes. Parts have full names ("gpu.hbm", "conv1.p", "L[3].O"); leading
 * components may be dropped while that is unambiguous. A full name always wins over a shortened one.
 */
#ifndef DFL_SEMA_FILES_LOOKUP_H
#define DFL_SEMA_FILES_LOOKUP_H

#include <stdbool.h>

#include "diag/diag.h"
#include "sema/files/symmap.h"
#include "support/vec.h"

typedef struct {
    uint32_t id;
    uint32_t other;  /* a second candidate, when ambiguous */
    bool exact, ambiguous;
} dfl_named;

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_symmap table;            /* to dfl_named */
    DFL_VEC(dfl_sym) full;       /* full names by order of adding; for suggestions */
} dfl_lookup;

void dfl_lookup_init(dfl_lookup *l, dfl_arena *arena, dfl_intern *names);
/* Adds a part under its full name and every shorter one. Equal full names: the first wins. */
void dfl_lookup_add(dfl_lookup *l, dfl_sym full, uint32_t id);
/* NULL when nothing has that name. */
const dfl_named *dfl_lookup_find(const dfl_lookup *l, dfl_sym path);
/* The nearest name: the last components of all parts, then their full names; 0 if none is near. */
dfl_sym dfl_lookup_suggest(const dfl_lookup *l, dfl_sym path);

#endif
