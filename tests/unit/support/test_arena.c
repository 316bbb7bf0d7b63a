#include "tests/harness/check.h"

#include <string.h>

#include "support/arena.h"
#include "support/blocks.h"

static void gives_zeroed_aligned_memory(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (size_t i = 1; i < 300; i++) {
        size_t align = (size_t)1 << (i % 7);
        unsigned char *at = dfl_arena_alloc(arena, i, 1, align);

        assert_int_equal((uintptr_t)at % align, 0);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(at[j], 0);
        memset(at, 0xff, i);
    }
    dfl_arena_free(arena);
}

static void memory_is_zero_again_after_a_reset(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 1; i < 2000; i += 37) {
            unsigned char *at = dfl_arena_alloc(arena, i, 1, 8);
            for (size_t j = 0; j < i; j++)
                assert_int_equal(at[j], 0);
            memset(at, 0xaa, i);
        }
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

static void allocations_do_not_overlap(void **state)
{
    enum { N = 500 };
    dfl_arena *arena = dfl_arena_new(NULL);
    unsigned char *at[N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        at[i] = dfl_arena_alloc(arena, 1 + i % 97, 1, 1);
        memset(at[i], (int)(i & 0xff), 1 + i % 97);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 1 + i % 97; j++)
            assert_int_equal(at[i][j], i & 0xff);
    dfl_arena_free(arena);
}

/* Where poisoned zones stand between allocations, none grows. */
static void the_last_allocation_may_grow_where_it_is(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (int round = 0; round < 2; round++) {
        unsigned char *at = dfl_arena_alloc(arena, 5, 1, 1), *next;
        size_t size = dfl_arena_extend(arena, at, 5, 40) ? 40 : 5;

        assert_false(dfl_arena_extend(arena, at, size, (size_t)1 << 30));
        next = dfl_arena_alloc(arena, 1000, 1, 1);
        assert_true(next >= at + size || next + 1000 <= at);
        assert_false(dfl_arena_extend(arena, at, size, 80));
        for (size_t i = 0; i < size; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xff, size);
        memset(next, 0xff, 1000);
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

static void growing_is_counted(void **state)
{
    dfl_budget budget = { .memory_limit = 100 };
    dfl_arena *arena = dfl_arena_new(&budget);
    void *at = dfl_arena_alloc(arena, 40, 1, 1);

    (void)state;
    assert_int_equal(budget.memory_used, dfl_arena_extend(arena, at, 40, 90) ? 90 : 40);
    assert_false(dfl_arena_extend(arena, at, budget.memory_used, 101));
    assert_int_equal(budget.why, DFL_STOP_NONE);
    dfl_arena_free(arena);
    assert_int_equal(budget.memory_used, 0);
}

static void large_requests_get_a_block_of_their_own(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    char *big = dfl_arena_alloc(arena, 3u << 20, 1, 64);
    int *after;

    (void)state;
    memset(big, 1, 3u << 20);
    after = DFL_NEW(arena, int);
    assert_int_equal(*after, 0);
    dfl_arena_free(arena);
}

static void the_memory_limit_raises_the_flag_and_still_gives_memory(void **state)
{
    dfl_budget budget = { .memory_limit = 1000 };
    dfl_arena *arena = dfl_arena_new(&budget);
    char *at;

    (void)state;
    assert_ptr_equal(dfl_arena_budget(arena), &budget);
    dfl_arena_alloc(arena, 1000, 1, 1);
    assert_int_equal(budget.why, DFL_STOP_NONE);
    assert_int_equal(budget.memory_used, 1000);
    at = dfl_arena_alloc(arena, 1, 1, 1);
    *at = 1;
    assert_int_equal(budget.why, DFL_STOP_MEMORY);
    assert_false(dfl_budget_ok(&budget));
    dfl_arena_free(arena);
    assert_int_equal(budget.memory_used, 0);
}

static void a_reset_gives_the_bytes_back_to_the_budget(void **state)
{
    dfl_budget budget = { .memory_limit = 1000 };
    dfl_arena *one = dfl_arena_new(&budget), *two = dfl_arena_new(&budget);

    (void)state;
    dfl_arena_alloc(one, 400, 1, 1);
    dfl_arena_alloc(two, 500, 1, 1);
    dfl_arena_reset(one);
    assert_int_equal(budget.memory_used, 500);
    dfl_arena_free(two);
    assert_int_equal(budget.memory_used, 0);
    dfl_arena_free(one);
}

/* The first round leaves blocks that are full of ones, the second one blocks of which the ends were never written. */
static void blocks_of_a_freed_arena_are_zero_in_the_next_one(void **state)
{
    enum { EACH = 100000, N = 60 };
    dfl_block_store store = { 0 };
    dfl_budget budget = { .blocks = &store };

    (void)state;
    for (int round = 0; round < 3; round++) {
        dfl_arena *arena = dfl_arena_new(&budget), *other = dfl_arena_new(&budget);

        for (int i = 0; i < (round == 1 ? N / 2 : N); i++) {
            unsigned char *at = dfl_arena_alloc(i % 3 ? arena : other, EACH, 1, 8);
            for (size_t j = 0; j < EACH; j++)
                assert_int_equal(at[j], 0);
            memset(at, 0xff, EACH);
        }
        if (round == 2)
            dfl_arena_reset(arena);
        dfl_arena_free(other);
        dfl_arena_free(arena);
        assert_int_equal(budget.memory_used, 0);
    }
    dfl_block_store_empty(&store);
}

/* Blocks of the least size, of one that is doubled for a large request, and of a huge page serve again. */
static void a_store_gives_blocks_of_each_size_again(void **state)
{
    static const size_t asked[] = { 100, 100000, DFL_BLOCK_PAGE - 100 };
    dfl_block_store store = { 0 };
    dfl_budget budget = { .blocks = &store };

    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        dfl_arena *arena = dfl_arena_new(&budget);
        void *at = dfl_arena_alloc(arena, asked[i], 1, 1);
        size_t kept = 0;

        dfl_arena_free(arena);
        for (uint32_t k = 0; k < DFL_BLOCK_SIZES; k++)
            kept += store.of[k].n;
#ifdef DFL_HOSTILE /* blocks of 64 bytes, which no store keeps */
        continue;
#endif
        assert_int_equal(kept, 1);
        arena = dfl_arena_new(&budget);
        assert_ptr_equal(dfl_arena_alloc(arena, asked[i], 1, 1), at);
        dfl_arena_free(arena);
        dfl_block_store_empty(&store);
    }
}

/* A huge page has less room than its size: a block begins with its head. */
static void a_request_of_almost_a_huge_page_is_served(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (size_t size = DFL_HUGE_PAGE - 2 * sizeof(dfl_block); size <= DFL_HUGE_PAGE; size += 8) {
        unsigned char *at = dfl_arena_alloc(arena, size, 1, 1);
        assert_int_equal(at[0] | at[size - 1], 0);
    }
    dfl_arena_free(arena);
}

static void a_size_that_overflows_stops_the_budget(void **state)
{
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);

    (void)state;
    assert_non_null(dfl_arena_alloc(arena, SIZE_MAX / 2, 4, 4));
    assert_int_equal(budget.why, DFL_STOP_MEMORY);
    dfl_arena_free(arena);
}

static void copies_and_prints(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    char *copy = dfl_arena_copy(arena, "abcdef", 3);
    char *text;

    (void)state;
    assert_string_equal(copy, "abc");
    assert_string_equal(dfl_arena_copy(arena, NULL, 0), "");
    assert_string_equal(dfl_arena_printf(arena, "%s-%d", "x", 7), "x-7");
    for (int width = 250; width < 260; width++) {
        text = dfl_arena_printf(arena, "%*d", width, 7);
        assert_int_equal(strlen(text), width);
        assert_int_equal(text[width - 1], '7');
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_aligned_memory),
        cmocka_unit_test(memory_is_zero_again_after_a_reset),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(the_last_allocation_may_grow_where_it_is),
        cmocka_unit_test(growing_is_counted),
        cmocka_unit_test(large_requests_get_a_block_of_their_own),
        cmocka_unit_test(the_memory_limit_raises_the_flag_and_still_gives_memory),
        cmocka_unit_test(a_reset_gives_the_bytes_back_to_the_budget),
        cmocka_unit_test(blocks_of_a_freed_arena_are_zero_in_the_next_one),
        cmocka_unit_test(a_store_gives_blocks_of_each_size_again),
        cmocka_unit_test(a_request_of_almost_a_huge_page_is_served),
        cmocka_unit_test(a_size_that_overflows_stops_the_budget),
        cmocka_unit_test(copies_and_prints),
    };

    return CHECK_GROUP("support.arena", tests);
}
