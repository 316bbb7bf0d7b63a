#include "support/known.h"

#include <string.h>

#include "support/hash.h"
#include "support/hashmap.h"

typedef struct {
    uint64_t *numbers;
    size_t n;
    const void *result;
    uint64_t steps;                /* of the call */
} known_call;

struct dfl_known {
    dfl_arena *arena;
    DFL_VEC(known_call) calls;
    dfl_hashmap by_numbers;
    size_t room;                   /* numbers that may be kept yet */
};

void dfl_known_put_double(dfl_arena *arena, dfl_known_key *key, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    dfl_known_put(arena, key, bits);
}

dfl_known *dfl_known_new(dfl_arena *arena, size_t room)
{
    dfl_known *known = DFL_NEW(arena, dfl_known);

    known->arena = arena;
    known->room = room;
    return known;
}

dfl_arena *dfl_known_arena(const dfl_known *known) { return known->arena; }

static uint64_t hash_key(const dfl_known_key *key) { return dfl_hash(key->at, key->n * sizeof *key->at, 0); }

const void *dfl_known_find(const dfl_known *known, const dfl_known_key *key, dfl_budget *budget)
{
    const uint64_t hash = hash_key(key);
    uint32_t at, item;

    for (item = dfl_hashmap_first(&known->by_numbers, hash, &at); item != 0;
         item = dfl_hashmap_next(&known->by_numbers, hash, &at)) {
        const known_call *call = &known->calls.at[item - 1];

        if (call->n != key->n || memcmp(call->numbers, key->at, key->n * sizeof *key->at) != 0)
            continue;
        if (budget != NULL)
            dfl_budget_spend(budget, call->steps);
        return call->result;
    }
    return NULL;
}

bool dfl_known_has_room(const dfl_known *known, const dfl_known_key *key) { return key->n <= known->room; }

void dfl_known_keep(dfl_known *known, const dfl_known_key *key, const void *result, uint64_t steps)
{
    known_call call = { .numbers = DFL_NEW_ARRAY(known->arena, uint64_t, key->n), .n = key->n, .result = result, .steps = steps };

    memcpy(call.numbers, key->at, key->n * sizeof *key->at);
    known->room -= key->n;
    DFL_PUSH(known->arena, &known->calls, call);
    dfl_hashmap_add(known->arena, &known->by_numbers, hash_key(key), (uint32_t)known->calls.n);
}
