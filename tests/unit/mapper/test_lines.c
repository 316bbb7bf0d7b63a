/* The least value above lines of energy and latency (B42): vertices computed by hand. */
#include <math.h>

#include "tests/harness/check.h"

#include "mapper/join/lines.h"

typedef struct {
    const char *name;
    uint32_t n;
    dfl_line_bound lines[5];
    double leakage;
    double value, joules, seconds; /* of energy * latency */
} lines_row;

static const lines_row ROWS[] = {
    { "ends alone: their corner", 2, { { 1, 0, 3 }, { 0, 1, 2 } }, 0, 6, 3, 2 },
    { "a line below the corner changes nothing", 3, { { 1, 0, 3 }, { 0, 1, 2 }, { 1, 1, 4 } }, 0, 6, 3, 2 },
    /* J + S >= 8: vertices (3, 5) and (6, 2) */
    { "the lesser of two vertices", 3, { { 1, 0, 3 }, { 0, 1, 2 }, { 1, 1, 8 } }, 0, 12, 6, 2 },
    /* J + 2 S >= 11 meets J >= 3 at (3, 4), S >= 2 at (7, 2), and J + S >= 8 at (5, 3); (3, 4) and (7, 2) are not both above */
    { "two lines", 4, { { 1, 0, 3 }, { 0, 1, 2 }, { 1, 1, 8 }, { 1, 2, 11 } }, 0, 14, 7, 2 },
    { "coefficients of ends", 2, { { 2, 0, 6 }, { 0, 4, 8 } }, 0, 6, 3, 2 },
    /* (J + S / 2) S at (3, 5): 27.5, at (6, 2): 14 */
    { "leakage", 3, { { 1, 0, 3 }, { 0, 1, 2 }, { 1, 1, 8 } }, 0.5, 14, 6, 2 },
    { "no energy", 2, { { 1, 0, 0 }, { 0, 1, 2 } }, 0, 0, 0, 2 },
};

static void finds_vertices(void **state)
{
    const dfl_objective product = { .native = true };

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const lines_row *r = &ROWS[i];
        const dfl_lines_vertex v = dfl_lines_least(&product, r->leakage, r->lines, r->n);
        if (fabs(v.value - r->value) > 1e-9 || fabs(v.joules - r->joules) > 1e-9 || fabs(v.seconds - r->seconds) > 1e-9)
            fail_msg("%s: %g at (%g, %g)", r->name, v.value, v.joules, v.seconds);
    }
}

/* An objective that is a line has its least value above that line alone. */
static void values_lines(void **state)
{
    const dfl_objective product = { .native = true }, line = dfl_objective_line(&product, 2, 3);
    const dfl_line_bound lines[] = { { 1, 0, 1 }, { 0, 1, 1 }, { 2, 3, 20 } };
    double per_joule, per_second;

    (void)state;
    assert_true(dfl_objective_value(&line, 5, 7) == 31);
    dfl_objective_slopes(&line, 0, 5, 7, &per_joule, &per_second);
    assert_true(per_joule == 2 && per_second == 3);
    assert_false(dfl_objective_is_product(&line));
    assert_true(fabs(dfl_lines_least(&line, 0, lines, 3).value - 20) < 1e-9);
}

/* Points above all lines are never below the least value. */
static void bounds_points(void **state)
{
    const dfl_objective product = { .native = true };
    const dfl_line_bound lines[] = { { 1, 0, 1 }, { 0, 1, 0.5 }, { 1, 0.5, 4 }, { 1, 2, 6 }, { 1, 7, 11 } };
    const double least = dfl_lines_least(&product, 0, lines, 5).value;
    double seen = INFINITY;

    (void)state;
    for (uint32_t a = 0; a < 400; a++)
        for (uint32_t b = 0; b < 400; b++) {
            const double joules = 0.03 * a, seconds = 0.03 * b;
            bool is_above = true;
            for (uint32_t i = 0; i < 5; i++)
                is_above &= lines[i].per_joule * joules + lines[i].per_second * seconds >= lines[i].least;
            if (is_above && joules * seconds < seen)
                seen = joules * seconds;
        }
    assert_true(least <= seen);
    assert_true(seen < least * 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_vertices),
        cmocka_unit_test(values_lines),
        cmocka_unit_test(bounds_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
