/* A hash map over the texts of the names, which one vector holds in order of interning: a symbol is an index of it. */
#include "support/intern.h"

#include <string.h>

#include "support/hash.h"
#include "support/hashmap.h"
#include "support/vec.h"

typedef struct {
    const char *text; /* NUL-terminated */
    size_t len;       /* bytes of `text` without the NUL */
} name;

struct dfl_intern {
    dfl_arena *arena;
    DFL_VEC(name) names; /* indexed by symbol; at[0] is the empty name */
    dfl_hashmap by_text; /* symbols by the hash of their text */
};

dfl_intern *dfl_intern_new(dfl_arena *arena)
{
    dfl_intern *names = DFL_NEW(arena, dfl_intern);

    names->arena = arena;
    DFL_PUSH(arena, &names->names, ((name){ .text = "" }));
    return names;
}

/* The symbol of a text that was interned before, else 0. */
static dfl_sym find_symbol(const dfl_intern *names, const char *text, size_t len, uint64_t hash)
{
    uint32_t at;

    for (dfl_sym sym = dfl_hashmap_first(&names->by_text, hash, &at); sym != 0;
         sym = dfl_hashmap_next(&names->by_text, hash, &at)) {
        const name *n = &names->names.at[sym];

        if (n->len == len && memcmp(n->text, text, len) == 0)
            return sym;
    }
    return 0;
}

dfl_sym dfl_intern_text(dfl_intern *names, const char *text, size_t len)
{
    uint64_t hash;
    dfl_sym sym;

    if (len == 0)
        return 0;
    hash = dfl_hash(text, len, 0);
    sym = find_symbol(names, text, len, hash);
    if (sym == 0) {
        sym = (dfl_sym)names->names.n;
        DFL_PUSH(names->arena, &names->names, ((name){ dfl_arena_copy(names->arena, text, len), len }));
        dfl_hashmap_add(names->arena, &names->by_text, hash, sym);
    }
    return sym;
}

dfl_sym dfl_intern_z(dfl_intern *names, const char *text)
{
    return dfl_intern_text(names, text, strlen(text));
}

dfl_sym dfl_intern_find(const dfl_intern *names, const char *text, size_t len)
{
    return len == 0 ? 0 : find_symbol(names, text, len, dfl_hash(text, len, 0));
}

const char *dfl_sym_text(const dfl_intern *names, dfl_sym sym)
{
    return sym < names->names.n ? names->names.at[sym].text : "";
}

uint32_t dfl_intern_count(const dfl_intern *names)
{
    return (uint32_t)(names->names.n - 1);
}
