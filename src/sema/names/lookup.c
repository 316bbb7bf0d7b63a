#include "sema/names/lookup.h"

#include <string.h>

void dfl_lookup_init(dfl_lookup *lookup, dfl_arena *arena, dfl_intern *names)
{
    *lookup = (dfl_lookup){ .arena = arena, .names = names };
}

/* Adds one name of a part: the full name (`exact`) or a shortened name. */
static void add_name(dfl_lookup *lookup, dfl_sym name, uint32_t id, bool exact)
{
    dfl_lookup_match *found = dfl_symmap_get(&lookup->table, name);

    if (found == NULL) {
        found = DFL_NEW(lookup->arena, dfl_lookup_match);
        *found = (dfl_lookup_match){ .id = id, .exact = exact };
        dfl_symmap_put(lookup->arena, &lookup->table, name, found);
    } else if (exact && !found->exact) {
        *found = (dfl_lookup_match){ .id = id, .exact = true };
    } else if (!exact && !found->exact && found->id != id && !found->ambiguous) {
        found->other = id;
        found->ambiguous = true;
    }
}

void dfl_lookup_add(dfl_lookup *lookup, dfl_sym full, uint32_t id)
{
    const char *dot = dfl_sym_text(lookup->names, full);

    DFL_PUSH(lookup->arena, &lookup->full, full);
    add_name(lookup, full, id, true);
    while ((dot = strchr(dot, '.')) != NULL)
        add_name(lookup, dfl_intern_z(lookup->names, ++dot), id, false);
}

const dfl_lookup_match *dfl_lookup_find(const dfl_lookup *lookup, dfl_sym path)
{
    return dfl_symmap_get(&lookup->table, path);
}

dfl_sym dfl_lookup_suggest(const dfl_lookup *lookup, dfl_sym path)
{
    const char *wanted = dfl_sym_text(lookup->names, path);
    dfl_sym *last = DFL_NEW_ARRAY(lookup->arena, dfl_sym, lookup->full.n);
    dfl_sym near;

    for (size_t i = 0; i < lookup->full.n; i++) {
        const char *dot = strrchr(dfl_sym_text(lookup->names, lookup->full.at[i]), '.');

        last[i] = dot == NULL ? lookup->full.at[i] : dfl_intern_z(lookup->names, dot + 1);
    }
    near = dfl_suggest(lookup->names, wanted, last, lookup->full.n);
    return near != 0 ? near : dfl_suggest(lookup->names, wanted, lookup->full.at, lookup->full.n);
}
