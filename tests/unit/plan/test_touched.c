/* Different sums of strides, against all of them one by one, and rows by hand. */
#include "tests/harness/check.h"

#include "plan/layout/touched.h"
#include "tests/harness/draw.h"

enum { STRIDES = 3, MOST_STEP = 7, MOST_N = 4, SPAN = 256 };

/* Different sums between `low` and `high`, listed. */
static int64_t list(int64_t base, const dfl_stride *s, uint32_t n, int64_t low, int64_t high)
{
    bool has[SPAN] = { false };
    int64_t count = 0, all = 1;

    for (uint32_t i = 0; i < n; i++)
        all *= s[i].n;
    for (int64_t x = 0; x < all; x++) {
        int64_t sum = base, rest = x;

        for (uint32_t i = 0; i < n; i++, rest /= s[i - 1].n)
            sum += s[i].step * (rest % s[i].n);
        count += !has[sum + SPAN / 2] && sum >= low && sum <= high;
        has[sum + SPAN / 2] = true;
    }
    return count;
}

static void equals_the_list(void **state)
{
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint32_t n = (uint32_t)draw_amount(&seed, STRIDES + 1);
        const int64_t base = draw_amount(&seed, 9) - 4, low = draw_amount(&seed, 40) - 20, high = low + draw_amount(&seed, 60);
        dfl_stride s[STRIDES];
        int64_t out = -1, expected;

        for (uint32_t k = 0; k < n; k++)
            s[k] = (dfl_stride){ draw_amount(&seed, 2 * MOST_STEP + 1) - MOST_STEP, 1 + draw_amount(&seed, MOST_N) };
        expected = list(base, s, n, low, high);
        assert_true(dfl_touched_count(arena, base, s, n, low, high, &out));
        assert_int_equal(out, expected);
    }
    dfl_arena_free(arena);
}

static void counts_far_sums_by_formulas(void **state)
{
    static const struct { dfl_stride s[3]; uint32_t n; bool ok; int64_t count; } rows[] = {
        { { { 1, 1000000000 } }, 1, true, 1000000000 },
        { { { 3, 1000000000 } }, 1, true, 1000000000 },
        { { { 1, 1000000000 }, { 1, 1000000000 } }, 2, true, 1999999999 },             /* one row: 0 .. 2 * (10^9 - 1) */
        { { { 2, 1000000000 }, { 4, 10 } }, 2, true, 1000000018 },                     /* 9 * 4 / 2 = 18 more */
        { { { 1, 10 }, { 100, 1000000000 } }, 2, true, 10000000000 },                  /* apart */
        { { { 2000, 1000 }, { 3000, 1000 } }, 2, true, 4996 - 2 },                     /* 2a + 3b = 0 .. 4995 without 1 and 4994 */
        { { { 2000, 1000 }, { 2999, 1000 } }, 2, false, 0 },                           /* 4,997,001 apart */
    };
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dfl_stride s[3] = { rows[i].s[0], rows[i].s[1], rows[i].s[2] };
        int64_t out = 0;

        assert_int_equal(dfl_touched_count(arena, 0, s, rows[i].n, INT64_MIN, INT64_MAX, &out), rows[i].ok);
        if (rows[i].ok)
            assert_int_equal(out, rows[i].count);
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_the_list), cmocka_unit_test(counts_far_sums_by_formulas) };

    return CHECK_GROUP("plan.touched", tests);
}
