/* The grace budget of a stopped search: a number of steps, independent of the clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>

#include "support/deadline.h"

static uint64_t polls_until_stop(dfl_stop why)
{
    dfl_budget budget;
    dfl_deadline deadline;
    uint64_t polls = 0;

    dfl_deadline_grace(&deadline, &budget, why);
    assert_true(deadline.at == 0.0);
    while (!dfl_deadline_passed(&deadline))
        polls++;
    assert_int_equal(deadline.why, DFL_STOP_STEPS);
    return polls;
}

static void time_and_interrupts_leave_little(void **state)
{
    (void)state;
    assert_in_range(polls_until_stop(DFL_STOP_TIME), DFL_GRACE_TIMED - 256, DFL_GRACE_TIMED + 256);
    assert_in_range(polls_until_stop(DFL_STOP_CANCELLED), DFL_GRACE_TIMED - 256, DFL_GRACE_TIMED + 256);
    assert_in_range(polls_until_stop(DFL_STOP_EVALUATIONS), DFL_GRACE_COUNTED - 256, DFL_GRACE_COUNTED + 256);
}

static void what_is_left_is_counted(void **state)
{
    dfl_budget budget = { .steps_limit = 100 };
    dfl_deadline deadline = { .budget = &budget }, free = { .budget = NULL };

    (void)state;
    assert_int_equal(dfl_deadline_left(&free, 7), 7);
    assert_int_equal(dfl_deadline_left(&deadline, 1000), 100);
    assert_int_equal(dfl_deadline_left(&deadline, 10), 10);
    assert_true(dfl_budget_spend(&budget, 60));
    assert_int_equal(dfl_deadline_left(&deadline, 1000), 40);
    assert_false(dfl_budget_spend(&budget, 60));
    assert_int_equal(dfl_deadline_left(&deadline, 1000), 1); /* 0 would be any number */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_and_interrupts_leave_little),
        cmocka_unit_test(what_is_left_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
