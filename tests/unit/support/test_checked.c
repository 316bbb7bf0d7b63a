#include "tests/harness/check.h"

#include <string.h>

#include "support/checked.h"

#define POW2(n) ((dfl_i128)1 << (n))
static const dfl_i128 highest = (dfl_i128)(((POW2(126) - 1) << 1) | 1);

static void prints_every_size(void **state)
{
    char out[41];

    (void)state;
    assert_int_equal(dfl_i128_text(0, out), 1);
    assert_string_equal(out, "0");
    assert_int_equal(dfl_i128_text(-1, out), 2);
    assert_string_equal(out, "-1");
    dfl_i128_text(POW2(64), out);
    assert_string_equal(out, "18446744073709551616");
    assert_int_equal(dfl_i128_text(highest, out), 39);
    assert_string_equal(out, "170141183460469231731687303715884105727");
    assert_int_equal(dfl_i128_text(-highest - 1, out), 40);
    assert_string_equal(out, "-170141183460469231731687303715884105728");
}

static void says_when_a_result_does_not_fit(void **state)
{
    dfl_i128 out;

    (void)state;
    assert_false(dfl_mul(POW2(63), POW2(63), &out));
    assert_true(out == POW2(126));
    assert_true(dfl_mul(POW2(64), POW2(63), &out));
    assert_true(dfl_add(highest, 1, &out));
    assert_false(dfl_add(highest, -1, &out));
    assert_true(dfl_sub(-highest - 1, 1, &out));
    assert_false(dfl_sub(-highest, 1, &out));
}

static void gives_the_nearest_double(void **state)
{
    (void)state;
    assert_true(dfl_i128_double(POW2(100)) == 0x1p100);
    /* 2^54 + 3 lies between 2^54 and 2^54 + 4 and is nearer to the latter. */
    assert_true(dfl_i128_double(POW2(54) + 3) == 0x1p54 + 4);
    /* A tie goes to the even neighbour. */
    assert_true(dfl_i128_double(POW2(70) + POW2(17)) == 0x1p70);
    assert_true(dfl_i128_double(-POW2(127 - 1) - POW2(126)) == -0x1p127);
}

typedef struct { const char *name; int64_t a, b, floor, ceil; } div_case;

static const div_case divisions[] = {
    { "exact",           12,        4, 3,              3 },
    { "rest",            13,        4, 3,              4 },
    { "negative rest",   -13,       4, -4,             -3 },
    { "negative exact",  -12,       4, -3,             -3 },
    { "less than one",   -1,        5, -1,             0 },
    { "lowest",          INT64_MIN, 1, INT64_MIN,      INT64_MIN },
    { "highest",         INT64_MAX, 2, INT64_MAX / 2,  INT64_MAX / 2 + 1 },
};

static void divides(void **state)
{
    const div_case *c = *state;

    assert_int_equal(dfl_floor_div(c->a, c->b), c->floor);
    assert_int_equal(dfl_ceil_div(c->a, c->b), c->ceil);
}

static void finds_common_divisors(void **state)
{
    (void)state;
    assert_int_equal(dfl_gcd(12, 18), 6);
    assert_int_equal(dfl_gcd(-12, 18), 6);
    assert_int_equal(dfl_gcd(0, -5), 5);
    assert_int_equal(dfl_gcd(0, 0), 0);
    assert_int_equal(dfl_gcd(INT64_MIN, 6), 2);
    assert_true(dfl_gcd(INT64_MIN, 0) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_every_size),
        cmocka_unit_test(says_when_a_result_does_not_fit),
        cmocka_unit_test(gives_the_nearest_double),
        cmocka_unit_test(finds_common_divisors),
    };

    return CHECK_GROUP("support.checked", tests) + CHECK_TABLE("support.checked division", divisions, divides);
}
