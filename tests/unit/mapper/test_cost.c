/* Least values of an objective over the polygon of costs that satisfy all lower bounds: corners are computed by hand,
   and no point of the polygon has a lower value. */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/problem/criteria.h"
#include "mapper/problem/objective.h"

static double product(const void *objective, double joules, double seconds)
{
    (void)objective;
    return joules * seconds;
}

static double weighed(const void *objective, double joules, double seconds)
{
    return pow(joules, *(const double *)objective) * seconds;
}

typedef struct {
    const char *name;
    double joules, seconds, mixed[DFL_MIXES], busy[DFL_PORTS], leakage;
    uint32_t n_mixes;
    double least;
} row;

/* Rates 2 and 1/2. */
static const row ROWS[] = {
    { "joules times seconds", 3, 5, { 0, 0 }, { 0, 0 }, 0, 0, 15 },
    { "a port is busy for longer", 3, 5, { 0, 0 }, { 0, 7 }, 0, 0, 21 },
    { "leakage", 3, 5, { 0, 0 }, { 0, 0 }, 2, 0, 65 },
    /* ends (J, S): 10 - 2 * 1 = 8, 1; 1, (10 - 1) / 2 = 4.5 */
    { "one edge, the slow end is less", 1, 1, { 10, 0 }, { 0, 0 }, 0, 1, 4.5 },
    { "one edge, the fast end is less", 4, 1, { 10, 0 }, { 0, 0 }, 0, 1, 8 },
    /* J + 2 S = 10 and J + S / 2 = 4 meet at S = 4, J = 2; the ends are 8, 1 and 1, 6 */
    { "two edges, the slow end is less", 1, 1, { 10, 4 }, { 0, 0 }, 0, 2, 6 },
    { "two edges, the fast end is less", 1.9, 0.5, { 10, 4 }, { 0, 0 }, 0, 2, 4.5 },
    { "an edge that cuts nothing", 8, 1, { 10, 4 }, { 0, 0 }, 0, 2, 8 },
    { "a port moves the fast end", 1, 1, { 10, 4 }, { 3, 0 }, 0, 2, 6 },
};

typedef struct {
    const char *name;
    double value, times, result;
} times_case;

static const times_case TIMES[] = {
    { "once", 8, 1, 8 },
    { "more", 8, 1.25, 10 },
    { "as far above it, below zero", -8, 1.25, -6 },
    { "beyond zero", -8, 3.5, 12 },
    { "nothing", 0, 3.5, 0 },
    { "any", 8, INFINITY, INFINITY },
    { "any, below zero", -8, INFINITY, INFINITY },
    { "any, nothing", 0, INFINITY, INFINITY },
    { "not known", INFINITY, 1.25, INFINITY },
};

static void is_above(void **state)
{
    const times_case *c = *state;

    assert_close(dfl_value_times(c->value, c->times), c->result, 1e-15);
}

typedef struct {
    const char *name;
    double value, lower_bound;
    bool holds;
} bound_case;

static const bound_case BOUNDS[] = {
    { "a mapping at the bound", 5, 5, true },
    { "a mapping above the bound", 6, 5, true },
    { "below by rounding", 5 * (1 - 1e-10), 5, true },
    { "below the bound", 5 * (1 - 1e-8), 5, false },
    { "below the bound, below zero", -5.1, -5, false },
    { "no bound", 5, -INFINITY, true },
    { "an unknown bound", 5, NAN, true },
};

static void is_loud(void **state)
{
    const bound_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_sink *sink = dfl_sink_new(arena, NULL);

    assert_int_equal(dfl_objective_check_bound(sink, (dfl_span){ 0, 0 }, c->value, c->lower_bound), c->holds);
    assert_int_equal(dfl_sink_errors(sink), c->holds ? 0 : 1);
    if (!c->holds)
        assert_int_equal(dfl_sink_at(sink, 0)->code, DFL_INTERNAL_ERROR);
    dfl_arena_free(arena);
}

static dfl_goal goal_of(const row *r)
{
    dfl_goal g = { .value = product, .leakage = r->leakage };

    dfl_goal_rates(&g, 2, 0.25);
    g.n_mixes = r->n_mixes;
    return g;
}

static dfl_criteria cost_of(const row *r)
{
    dfl_criteria c = dfl_criteria_zero();

    c.at[DFL_COST_JOULES] = r->joules;
    c.at[DFL_COST_SECONDS] = r->seconds;
    memcpy(&c.at[DFL_COST_MIXED], r->mixed, sizeof r->mixed);
    memcpy(&c.at[DFL_COST_BUSY], r->busy, sizeof r->busy);
    return c;
}

static void test_corners(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        dfl_goal g = goal_of(&ROWS[i]), called = g;
        const dfl_criteria c = cost_of(&ROWS[i]);

        g.product = true;
        if (fabs(dfl_goal_least(&g, &c) - ROWS[i].least) > 1e-12 || fabs(dfl_goal_least(&called, &c) - ROWS[i].least) > 1e-12)
            fail_msg("%s: %.12g, not %.12g", ROWS[i].name, dfl_goal_least(&g, &c), ROWS[i].least);
        assert_true(dfl_goal_within(&g, &c, ROWS[i].least));
        assert_false(dfl_goal_within(&g, &c, ROWS[i].least * (1 - 1e-9)));
        assert_true(dfl_goal_within(&g, &c, INFINITY));
    }
}

static bool inside(const dfl_goal *g, const dfl_criteria *c, double joules, double seconds)
{
    bool in = joules >= c->at[DFL_COST_JOULES] && seconds >= c->at[DFL_COST_SECONDS] &&
              seconds >= c->at[DFL_COST_BUSY] && seconds >= c->at[DFL_COST_BUSY + 1];

    for (uint32_t i = 0; i < g->n_mixes; i++)
        in = in && joules + g->rate[i] * seconds >= c->at[DFL_COST_MIXED + i];
    return in;
}

/* On a grid, for a product and for joules^2 * seconds, with leakage. */
static void test_nothing_is_below(void **state)
{
    static const double two = 2;
    unsigned checked = 0;

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        dfl_goal goals[2] = { goal_of(&ROWS[i]), goal_of(&ROWS[i]) };
        const dfl_criteria c = cost_of(&ROWS[i]);

        goals[1].value = weighed;
        goals[1].objective = &two;
        goals[1].leakage = 0.5;
        for (unsigned k = 0; k < 2; k++)
            for (double joules = 0.125; joules < 12; joules += 0.125)
                for (double seconds = 0.125; seconds < 12; seconds += 0.125) {
                    double value = goals[k].value(goals[k].objective, joules + goals[k].leakage * seconds, seconds);
                    if (!inside(&goals[k], &c, joules, seconds))
                        continue;
                    checked++;
                    assert_true(value >= dfl_goal_least(&goals[k], &c) * (1 - 1e-12));
                }
    }
    assert_true(checked > 10000);
}

static void test_sums(void **state)
{
    const dfl_goal g = goal_of(&ROWS[5]);
    dfl_criteria a = cost_of(&ROWS[5]), b = cost_of(&ROWS[8]), c;

    (void)state;
    c = dfl_criteria_with(&g, &a, 3, 2);
    assert_true(c.at[DFL_COST_JOULES] == 4 && c.at[DFL_COST_SECONDS] == 3);
    assert_true(c.at[DFL_COST_MIXED] == 17 && c.at[DFL_COST_MIXED + 1] == 8);
    dfl_criteria_add(&a, &b);
    assert_true(a.at[DFL_COST_JOULES] == 2 && a.at[DFL_COST_MIXED] == 20 && a.at[DFL_COST_BUSY] == 3);
    dfl_criteria_lower(&a, &b);
    assert_memory_equal(&a, &b, sizeof a);
    c = dfl_criteria_none();
    dfl_criteria_lower(&c, &b);
    assert_memory_equal(&c, &b, sizeof c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_nothing_is_below),
        cmocka_unit_test(test_sums),
    };

    return CHECK_TABLE("mapper.cost.times", TIMES, is_above) + CHECK_TABLE("mapper.cost.bounds", BOUNDS, is_loud) +
           cmocka_run_group_tests(tests, NULL, NULL);
}
