/* The grace budget of a stopped search: a number of steps and, after a limit on time, an end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>

#include "support/deadline.h"
#include "support/limits.h"

static uint64_t polls_until_stop(dfl_stop why)
{
    dfl_budget budget;
    dfl_deadline deadline;
    uint64_t polls = 0;

    dfl_deadline_grace(&deadline, &budget, why, 0, NULL);
    assert_true((deadline.at == 0.0) == (why == DFL_STOP_EVALUATIONS));
    deadline.at = 0;
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

static void time_ends_soon_after_the_deadline(void **state)
{
    const double now = dfl_deadline_clock();
    dfl_budget budget;
    dfl_deadline deadline;

    (void)state;
    dfl_deadline_grace(&deadline, &budget, DFL_STOP_TIME, now + 100, NULL);
    assert_true(deadline.at == now + 100 + DFL_GRACE_SECONDS);
    dfl_deadline_grace(&deadline, &budget, DFL_STOP_TIME, now - 100, NULL);
    assert_true(deadline.at >= now + DFL_GRACE_LEAST_SECONDS && deadline.at < now + 50);
    dfl_deadline_grace(&deadline, &budget, DFL_STOP_EVALUATIONS, now + 100, NULL);
    assert_true(deadline.at == now + 100);
    dfl_deadline_grace(&deadline, &budget, DFL_STOP_CANCELLED, now + 100, NULL);
    assert_true(deadline.at >= now + DFL_GRACE_LEAST_SECONDS && deadline.at < now + 50);
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

static void work_is_a_clock(void **state)
{
    dfl_work work = { 0 };
    dfl_budget session = { .work = &work }, own = dfl_budget_fresh(&session), grace;
    dfl_deadline deadline = { .budget = &own, .at = 1.0 }, after;
    uint64_t polls = 0;

    (void)state;
    assert_true(dfl_budget_time(&session) == 0);
    dfl_budget_work(&own, (uint64_t)DFL_WORK_SECOND - 300); /* a second but for 300 steps */
    assert_true(dfl_budget_time(&session) < 1.0);
    assert_true(dfl_budget_add_steps(&session, 1000000));   /* of others, counted by them */
    assert_true(dfl_budget_time(&session) < 1.0);
    while (!dfl_deadline_passed(&deadline))
        polls++;
    assert_int_equal(polls, 2 * DFL_POLLS_PER_READING); /* 128 steps at each of three readings */
    assert_int_equal(deadline.why, DFL_STOP_TIME);
    dfl_deadline_grace(&after, &grace, DFL_STOP_TIME, 1.0, &session);
    assert_true(after.at == 1.0 + DFL_GRACE_SECONDS && grace.work == &work);
    assert_true(dfl_budget_time(NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_and_interrupts_leave_little),
        cmocka_unit_test(time_ends_soon_after_the_deadline),
        cmocka_unit_test(what_is_left_is_counted),
        cmocka_unit_test(work_is_a_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
