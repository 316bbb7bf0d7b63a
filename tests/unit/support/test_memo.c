/* Memo tables: a result is found by all numbers of its key, spends the steps of its call, and is kept while there is room. */
#include "tests/harness/check.h"

#include "support/budget.h"
#include "support/memo.h"

static dfl_memo_key make_key(dfl_arena *arena, uint64_t first, double second)
{
    dfl_memo_key key = { NULL, 0, 0 };

    dfl_memo_put(arena, &key, first);
    dfl_memo_put_double(arena, &key, second);
    return key;
}

static void finds_by_all_numbers(void **state)
{
    enum { CALLS = 300 };
    static int results[CALLS];
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_memo *memo = dfl_memo_new(arena, 2 * CALLS);
    dfl_memo_key key;

    (void)state;
    for (uint32_t i = 0; i < CALLS; i++) {
        key = make_key(arena, i / 20, 0.5 * (i % 20));
        assert_null(dfl_memo_find(memo, &key, NULL));
        assert_true(dfl_memo_has_room(memo, &key));
        dfl_memo_keep(memo, &key, &results[i], i);
    }
    assert_false(dfl_memo_has_room(memo, &key));
    for (uint32_t i = 0; i < CALLS; i++) {
        dfl_budget budget = { 0 };
        key = make_key(arena, i / 20, 0.5 * (i % 20));
        assert_ptr_equal(dfl_memo_find(memo, &key, &budget), &results[i]);
        assert_true(budget.steps_used == i);
    }
    /* the same numbers and one more, one less; 0 and -0 are different bits */
    dfl_memo_put(arena, &key, 0);
    assert_null(dfl_memo_find(memo, &key, NULL));
    key.n -= 2;
    assert_null(dfl_memo_find(memo, &key, NULL));
    key = make_key(arena, 0, -0.0);
    assert_null(dfl_memo_find(memo, &key, NULL));
    dfl_arena_free(arena);
}

/* So many that several pairs have the same 32 bits of their hashes, which the map compares. */
static void tells_calls_with_equal_hashes_apart(void **state)
{
    enum { CALLS = 200000 };
    static int results[CALLS];
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_memo *memo = dfl_memo_new(arena, CALLS);
    uint64_t number;
    dfl_memo_key key = { &number, 1, 1 };

    (void)state;
    for (number = 0; number < CALLS; number++) {
        assert_null(dfl_memo_find(memo, &key, NULL));
        dfl_memo_keep(memo, &key, &results[number], 0);
    }
    for (number = 0; number < CALLS; number++)
        assert_ptr_equal(dfl_memo_find(memo, &key, NULL), &results[number]);
    dfl_arena_free(arena);
}

static void stops_as_the_call_does(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_memo *memo = dfl_memo_new(arena, 100);
    const dfl_memo_key key = make_key(arena, 1, 2);
    dfl_budget budget = { .steps_limit = 10 };
    int result = 0;

    (void)state;
    dfl_memo_keep(memo, &key, &result, 6);
    assert_ptr_equal(dfl_memo_find(memo, &key, &budget), &result);
    assert_true(budget.why == DFL_STOP_NONE);
    assert_ptr_equal(dfl_memo_find(memo, &key, &budget), &result);
    assert_true(budget.why == DFL_STOP_STEPS);
    dfl_arena_free(arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_all_numbers),
        cmocka_unit_test(tells_calls_with_equal_hashes_apart),
        cmocka_unit_test(stops_as_the_call_does),
    };
    return CHECK_GROUP("support.memo", tests);
}
