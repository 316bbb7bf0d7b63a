/* The points of the largest instance: the expected maximum of a multinomial against all choices, and known limits. */
#include <math.h>

#include "tests/harness/check.h"

#include "plan/layout/largest.h"

enum { MOST_POINTS = 8, MOST_PARTS = 6 };

/* The mean of the largest number of points over all parts^n choices. */
static double enumerate(int64_t n, int64_t parts)
{
    int64_t choices = 1, sum = 0;

    for (int64_t i = 0; i < n; i++)
        choices *= parts;
    for (int64_t c = 0; c < choices; c++) {
        int64_t points[MOST_PARTS] = { 0 }, largest = 0, rest = c;
        for (int64_t i = 0; i < n; i++, rest /= parts)
            largest = ++points[rest % parts] > largest ? points[rest % parts] : largest;
        sum += largest;
    }
    return (double)sum / (double)choices;
}

static void equals_all_choices(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= MOST_POINTS; n++)
        for (int64_t parts = 1; parts <= MOST_PARTS; parts++)
            assert_close(dfl_largest_expected(n, parts), enumerate(n, parts), 1e-10);
}

/* Two parts: n / 2 + E|X - n / 2| with X binomial, which is n / 2 + n C(n - 1, n / 2) / 2^n for even n. */
static void equals_two_parts(void **state)
{
    (void)state;
    for (int64_t n = 2; n <= 2000000; n *= 10) {
        double h = (double)n / 2;
        double off = h * exp(lgamma((double)n + 1) - 2 * lgamma(h + 1) - (double)n * log(2));
        assert_close(dfl_largest_expected(n, 2), h + off, n < 2048 ? 1e-11 : 2e-6);
    }
}

typedef struct { const char *name; int64_t n, parts; double load, uneven; int64_t want; } part_case;

static const part_case part_cases[] = {
    { "mean", 100, 8, 1, 1, 13 },
    { "one and a half", 100, 8, 1.5, 1, 19 },
    { "exact quotient", 96, 8, 1, 1, 12 },
    { "all", 100, 8, INFINITY, 1, 100 },
    { "never more than all", 10, 8, 100, 1, 10 },
    { "by chance, 2.75", 4, 2, 0, 1, 3 },
    { "by chance, 6.43", 16, 4, 0, 1, 7 },
    { "parts of 3, 3 and 2 rows: 9 / 8 of 2.78", 5, 3, 0, 9.0 / 8, 4 },
    { "one point", 1, 64, 0, 1, 1 },
};

static void finds_part(void **state)
{
    const part_case *c = *state;

    assert_int_equal(dfl_largest_part(c->n, c->parts, c->load, c->uneven), c->want);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_all_choices), cmocka_unit_test(equals_two_parts) };
    int failed = CHECK_GROUP("plan.largest", tests);

    return failed + CHECK_TABLE("plan.largest.part", part_cases, finds_part);
}
