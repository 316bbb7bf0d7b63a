#include "sema/files/lookup.h"

#include <string.h>

void dfl_lookup_init(dfl_lookup *l, dfl_arena *arena, dfl_intern *names)
{
    *l = (dfl_lookup){ .arena = arena, .names = names };
}

static void add_name(dfl_lookup *l, dfl_sym name, uint32_t id, bool exact)
{
    dfl_named *found = dfl_symmap_get(&l->table, name);

    if (found == NULL) {
        found = DFL_NEW(l->arena, dfl_named);
        *found = (dfl_named){ .id = id, .exact = exact };
        dfl_symmap_put(l->arena, &l->table, name, found);
    } else if (exact && !found->exact) {
        *found = (dfl_named){ .id = id, .exact = true };
    } else if (!exact && !found->exact && found->id != id && !found->ambiguous) {
        found->other = id;
        found->ambiguous = true;
    }
}

void dfl_lookup_add(dfl_lookup *l, dfl_sym full, uint32_t id)
{
    const char *dot = dfl_sym_text(l->names, full);

    DFL_PUSH(l->arena, &l->full, full);
    add_name(l, full, id, true);
    while ((dot = strchr(dot, '.')) != NULL)
        add_name(l, dfl_intern_z(l->names, ++dot), id, false);
}

const dfl_named *dfl_lookup_find(const dfl_lookup *l, dfl_sym path)
{
    return dfl_symmap_get(&l->table, path);
}

dfl_sym dfl_lookup_suggest(const dfl_lookup *l, dfl_sym path)
{
    const char *wanted = dfl_sym_text(l->names, path);
    dfl_sym *last = DFL_NEW_ARRAY(l->arena, dfl_sym, l->full.n);
    dfl_sym near;

    for (size_t i = 0; i < l->full.n; i++) {
        const char *dot = strrchr(dfl_sym_text(l->names, l->full.at[i]), '.');

        last[i] = dot == NULL ? l->full.at[i] : dfl_intern_z(l->names, dot + 1);
    }
    near = dfl_suggest(l->names, wanted, last, l->full.n);
    return near != 0 ? near : dfl_suggest(l->names, wanted, l->full.at, l->full.n);
}
