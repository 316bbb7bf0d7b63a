/* Whole units: times of rows that are counted by hand, and divisions against all divisions. */
#include <math.h>

#include "tests/harness/check.h"

#include "plan/pass/allotment.h"

enum { UNITS = 7, MOST_EINSUMS = 4 };

typedef struct {
    const char *name;
    int64_t lanes, rows;      /* of a unit */
    dfl_allotment_work work;
    int64_t units;
    double want;              /* in times of a point */
} row_case;

/* The row of SN10: 6 units of 32 lanes by 35 of 6 rows make ceil(1536 / 192) = 8 times ceil(2048 / 210) = 10 passes of 12,288
   sums. */
static const row_case row_cases[] = {
    { "one unit: 3 by 2 passes of 5 sums", 32, 6, { 12, 96, 5, 1, 1, 1, true }, 1, 3 * 2 * 5 },
    { "2 units side by side, not on one another: 1 pass", 32, 6, { 6, 64, 1, 1, 1, 1, true }, 2, 1 },
    { "2 units on one another", 32, 6, { 12, 32, 1, 1, 1, 1, true }, 2, 1 },
    { "3 units are no better than 2", 32, 6, { 6, 64, 1, 1, 1, 1, true }, 3, 1 },
    { "the batch lies in lanes", 32, 6, { 6, 16, 7, 4, 1, 1, true }, 2, 7 },
    { "210 units of SN10: Q of a GPT with 12,288 features", 32, 6, { 2048, 1536, 12288, 1, 1, 1, true }, 210, 80 * 12288.0 },
    { "in 2 pieces of 7 rows: 2 passes each", 1, 6, { 14, 1, 1, 1, 2, 1, true }, 1, 4 },
    { "in one piece of 14 rows: 3 passes", 1, 6, { 14, 1, 1, 1, 1, 1, true }, 1, 3 },
    { "no product: lanes alone", 32, 6, { 1, 640, 3, 1, 1, 1, false }, 5, 4 * 3 },
    { "no product in 2 pieces of 50 points", 32, 6, { 1, 100, 1, 1, 2, 1, false }, 1, 4 },
    { "in 4 pieces: three of 4 rows take 2 passes, one of 2 rows takes 1", 1, 3, { 14, 1, 1, 1, 4, 1, true }, 1, 7 },
    { "in 5 pieces of 2 rows: the fifth is empty", 1, 2, { 8, 1, 3, 1, 5, 1, true }, 1, 12 },
    { "no more pieces than rows", 1, 2, { 6, 1, 1, 1, 64, 1, true }, 1, 6 },
    { "no more pieces than points of no product", 4, 1, { 1, 6, 1, 1, 64, 1, false }, 1, 6 },
};

static void counts_passes(void **state)
{
    const row_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_compute unit = { .units = c->units, .lanes = c->lanes, .rows = c->rows };
    const double *seconds = dfl_allotment_seconds(arena, &unit, c->units, &c->work);

    assert_close(seconds[c->units - 1], c->want, 1e-12);
    for (int64_t u = 1; u < c->units; u++)
        assert_true(seconds[u] <= seconds[u - 1]);
    dfl_arena_free(arena);
}

/* The least time over all divisions of `left` units among the einsums from `at` on. */
static double best_division(const double *const *seconds, uint32_t n, uint32_t at, int64_t left)
{
    double best = INFINITY;

    if (at == n)
        return 0;
    for (int64_t u = 1; u <= left - (int64_t)(n - at - 1); u++)
        best = fmin(best, fmax(seconds[at][u - 1], best_division(seconds, n, at + 1, left - u)));
    return best;
}

/* The least time over all rectangles of units, and fewer units. */
static double best_rectangle(const dfl_compute *c, const dfl_allotment_work *w, int64_t units)
{
    double best = INFINITY;

    for (int64_t across = 1; across <= units; across++)
        for (int64_t up = 1; across * up <= units; up++)
            best = fmin(best, ceil(w->n * w->batch / (double)(across * c->lanes)) * ceil(w->m / (double)(up * c->rows)) * w->k);
    return best;
}

static void equals_all_divisions(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        const double *seconds[MOST_EINSUMS];
        const uint32_t n = 1 + (uint32_t)round % MOST_EINSUMS;
        int64_t taken[MOST_EINSUMS], sum = 0;
        double got;

        for (uint32_t i = 0; i < n; i++) {
            double draw[4];
            for (int d = 0; d < 4; d++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                draw[d] = 1 + (double)(seed >> 60) * (d == 3 ? 0.1 : 1.9);
            }
            const dfl_compute unit = { .units = UNITS, .lanes = 3, .rows = 2 };
            const dfl_allotment_work work = { floor(draw[0]), floor(draw[1]), floor(draw[2]), floor(draw[3]), 1, 1, true };
            seconds[i] = dfl_allotment_seconds(arena, &unit, UNITS, &work);
            for (int64_t u = 1; u <= UNITS; u++)
                assert_close(seconds[i][u - 1], best_rectangle(&unit, &work, u), 1e-12);
        }
        got = dfl_allotment_divide(seconds, n, UNITS, taken);
        assert_close(got, best_division(seconds, n, 0, UNITS), 1e-12);
        for (uint32_t i = 0; i < n; i++) {
            sum += taken[i];
            assert_true(taken[i] >= 1 && seconds[i][taken[i] - 1] <= got);
        }
        assert_true(sum <= UNITS);
        dfl_arena_free(arena);
    }
}

/* Three einsums on two units take turns on both. */
static void takes_turns(void **state)
{
    const double two[] = { 10, 6 };
    const double *const seconds[] = { two, two, two };
    int64_t taken[3];

    (void)state;
    assert_close(dfl_allotment_divide(seconds, 3, 2, taken), 18, 1e-12);
    assert_close(dfl_allotment_divide(seconds, 2, 2, taken), 10, 1e-12);
    assert_close(dfl_allotment_divide(seconds, 1, 2, taken), 6, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_all_divisions), cmocka_unit_test(takes_turns) };
    int failed = CHECK_GROUP("plan.allotment.divide", tests);

    return failed + CHECK_TABLE("plan.allotment.passes", row_cases, counts_passes);
}
