/*
 * Lookup of a part by the path in the user's text. A part has a full name ("gpu.hbm", "conv1.p", "L[3].O"). A path may
 * omit leading components if the other components are unambiguous. A full name takes precedence over a shortened name.
 */
#ifndef DFL_SEMA_NAMES_LOOKUP_H
#define DFL_SEMA_NAMES_LOOKUP_H

#include <stdbool.h>

#include "diag/diag.h"
#include "sema/names/symmap.h"
#include "support/vec.h"

typedef struct {
    uint32_t id;
    uint32_t other;  /* another part that the name fits, if `ambiguous` */
    bool exact;      /* the name is the full name of the part */
    bool ambiguous;
} dfl_lookup_match;

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_symmap table;            /* map to dfl_lookup_match, by full and shortened names */
    DFL_VEC(dfl_sym) full;       /* full names, in the order in which they were added */
} dfl_lookup;

void dfl_lookup_init(dfl_lookup *lookup, dfl_arena *arena, dfl_intern *names);
/* Adds a part under its full name and under every shortened name. Of several parts with one full name, the first takes
   precedence. */
void dfl_lookup_add(dfl_lookup *lookup, dfl_sym full, uint32_t id);
/* The part that a path names; NULL if there is none. */
const dfl_lookup_match *dfl_lookup_find(const dfl_lookup *lookup, dfl_sym path);
/* The name most similar to `path`, among the last components of all parts or else among full names; 0 if no name is
   similar. */
dfl_sym dfl_lookup_suggest(const dfl_lookup *lookup, dfl_sym path);

#endif
