#include "tests/harness/check.h"

#include "support/budget.h"

static void counts_steps_up_to_the_limit(void **state)
{
    dfl_budget budget = { .steps_limit = 3 };

    (void)state;
    assert_true(dfl_budget_ok(&budget));
    assert_true(dfl_budget_spend(&budget, 2));
    assert_false(dfl_budget_ok(&budget));
    assert_int_equal(budget.why, DFL_STOP_STEPS);
    assert_false(dfl_budget_ok(&budget));
    assert_int_equal(budget.steps_used, 4);
}

static void has_no_limit_by_default(void **state)
{
    dfl_budget budget = { 0 };

    (void)state;
    assert_true(dfl_budget_spend(&budget, UINT64_MAX));
    assert_true(dfl_budget_ok(&budget));
    assert_true(budget.steps_used == UINT64_MAX);
    assert_true(dfl_budget_ok(NULL));
}

static void a_huge_spend_does_not_wrap_below_the_limit(void **state)
{
    dfl_budget budget = { .steps_limit = 10, .steps_used = 5 };

    (void)state;
    assert_false(dfl_budget_spend(&budget, UINT64_MAX));
}

static void sees_a_cancellation(void **state)
{
    atomic_bool cancel = false;
    dfl_budget budget = { .cancel = &cancel };

    (void)state;
    assert_true(dfl_budget_ok(&budget));
    atomic_store(&cancel, true);
    assert_false(dfl_budget_ok(&budget));
    assert_int_equal(budget.why, DFL_STOP_CANCELLED);
}

static void keeps_the_first_stop(void **state)
{
    dfl_budget budget = { 0 };

    (void)state;
    dfl_budget_stop(&budget, DFL_STOP_TIME);
    dfl_budget_stop(&budget, DFL_STOP_MEMORY);
    assert_int_equal(budget.why, DFL_STOP_TIME);
    assert_string_equal(dfl_stop_text(budget.why), "time limit reached");
    assert_string_equal(dfl_stop_text(DFL_STOP_CANCELLED), "cancelled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_steps_up_to_the_limit),
        cmocka_unit_test(has_no_limit_by_default),
        cmocka_unit_test(a_huge_spend_does_not_wrap_below_the_limit),
        cmocka_unit_test(sees_a_cancellation),
        cmocka_unit_test(keeps_the_first_stop),
    };

    return CHECK_GROUP("support.budget", tests);
}
