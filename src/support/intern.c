/* Open addressing with linear probing over symbols; the texts live in one vector in order of interning. */
#include "support/intern.h"

#include <string.h>

#include "support/hash.h"
#include "support/vec.h"

typedef struct {
    const char *text;
    size_t len;
    uint64_t hash;
} name;

struct dfl_intern {
    dfl_arena *arena;
    DFL_VEC(name) names; /* at[0] is the empty name */
    dfl_sym *slots;      /* 0 marks a free slot */
    size_t n_slots;      /* a power of two, at least twice the number of names */
};

dfl_intern *dfl_intern_new(dfl_arena *arena)
{
    dfl_intern *names = DFL_NEW(arena, dfl_intern);

    names->arena = arena;
    names->n_slots = 64;
    names->slots = DFL_NEW_ARRAY(arena, dfl_sym, names->n_slots);
    DFL_PUSH(arena, &names->names, ((name){ .text = "" }));
    return names;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t slot_of(const dfl_intern *names, const char *text, size_t len, uint64_t hash)
{
    size_t mask = names->n_slots - 1;
    size_t at = (size_t)hash & mask;

    for (; names->slots[at] != 0; at = (at + 1) & mask) {
        const name *n = &names->names.at[names->slots[at]];
        if (n->hash == hash && n->len == len && memcmp(n->text, text, len) == 0)
            break;
    }
    return at;
}

static void rehash(dfl_intern *names)
{
    size_t mask = names->n_slots * 2 - 1;
    dfl_sym *slots = DFL_NEW_ARRAY(names->arena, dfl_sym, mask + 1);

    for (size_t sym = 1; sym < names->names.n; sym++) {
        size_t at = (size_t)names->names.at[sym].hash & mask;
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = (dfl_sym)sym;
    }
    names->slots = slots;
    names->n_slots = mask + 1;
}

dfl_sym dfl_intern_text(dfl_intern *names, const char *text, size_t len)
{
    uint64_t hash;
    size_t at;
    name added;

    if (len == 0)
        return 0;
    hash = dfl_hash(text, len, 0);
    at = slot_of(names, text, len, hash);
    if (names->slots[at] != 0)
        return names->slots[at];
    added = (name){ .text = dfl_arena_copy(names->arena, text, len), .len = len, .hash = hash };
    names->slots[at] = (dfl_sym)names->names.n;
    DFL_PUSH(names->arena, &names->names, added);
    if (names->names.n * 2 > names->n_slots)
        rehash(names);
    return (dfl_sym)(names->names.n - 1);
}

dfl_sym dfl_intern_z(dfl_intern *names, const char *text)
{
    return dfl_intern_text(names, text, strlen(text));
}

dfl_sym dfl_intern_find(const dfl_intern *names, const char *text, size_t len)
{
    return len == 0 ? 0 : names->slots[slot_of(names, text, len, dfl_hash(text, len, 0))];
}

const char *dfl_sym_text(const dfl_intern *names, dfl_sym sym)
{
    return sym < names->names.n ? names->names.at[sym].text : "";
}

uint32_t dfl_intern_count(const dfl_intern *names)
{
    return (uint32_t)(names->names.n - 1);
}
