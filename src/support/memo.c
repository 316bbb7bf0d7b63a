#include "support/memo.h"

#include <string.h>

#include "support/hash.h"
#include "support/hashmap.h"

/* A call whose result is kept. */
typedef struct {
    uint64_t *numbers;             /* of its key */
    size_t n;
    const void *result;
    uint64_t steps;                /* that the call spent */
} memo_call;

struct dfl_memo {
    dfl_arena *arena;
    DFL_VEC(memo_call) calls;
    dfl_hashmap by_numbers;
    size_t room;                   /* numbers of keys that still fit */
};

void dfl_memo_put_double(dfl_arena *arena, dfl_memo_key *key, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    dfl_memo_put(arena, key, bits);
}

dfl_memo *dfl_memo_new(dfl_arena *arena, size_t room)
{
    dfl_memo *memo = DFL_NEW(arena, dfl_memo);

    memo->arena = arena;
    memo->room = room;
    return memo;
}

dfl_arena *dfl_memo_arena(const dfl_memo *memo) { return memo->arena; }

static uint64_t hash_key(const dfl_memo_key *key) { return dfl_hash(key->at, key->n * sizeof *key->at, 0); }

const void *dfl_memo_find(const dfl_memo *memo, const dfl_memo_key *key, dfl_budget *budget)
{
    const uint64_t hash = hash_key(key);
    uint32_t at, item;

    for (item = dfl_hashmap_first(&memo->by_numbers, hash, &at); item != 0;
         item = dfl_hashmap_next(&memo->by_numbers, hash, &at)) {
        const memo_call *call = &memo->calls.at[item - 1];

        if (call->n != key->n || memcmp(call->numbers, key->at, key->n * sizeof *key->at) != 0)
            continue;
        if (budget != NULL)
            dfl_budget_spend(budget, call->steps);
        return call->result;
    }
    return NULL;
}

bool dfl_memo_has_room(const dfl_memo *memo, const dfl_memo_key *key) { return key->n <= memo->room; }

void dfl_memo_keep(dfl_memo *memo, const dfl_memo_key *key, const void *result, uint64_t steps)
{
    memo_call call = { .numbers = DFL_NEW_ARRAY(memo->arena, uint64_t, key->n), .n = key->n, .result = result, .steps = steps };

    memcpy(call.numbers, key->at, key->n * sizeof *key->at);
    memo->room -= key->n;
    DFL_PUSH(memo->arena, &memo->calls, call);
    dfl_hashmap_add(memo->arena, &memo->by_numbers, hash_key(key), (uint32_t)memo->calls.n);
}
