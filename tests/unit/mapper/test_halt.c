/* What a search that is stopped may still take: so many steps, whatever the clock says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>

#include "mapper/halt.h"

static uint64_t looks_until_halted(dfl_stop why)
{
    dfl_budget budget;
    dfl_halt halt;
    uint64_t looks = 0;

    dfl_halt_patiently(&halt, &budget, why);
    assert_true(halt.deadline == 0.0);
    while (!dfl_halted(&halt))
        looks++;
    assert_int_equal(halt.why, DFL_STOP_STEPS);
    return looks;
}

static void time_and_interrupts_leave_little(void **state)
{
    (void)state;
    assert_in_range(looks_until_halted(DFL_STOP_TIME), DFL_HALT_BRIEF - 256, DFL_HALT_BRIEF + 256);
    assert_in_range(looks_until_halted(DFL_STOP_CANCELLED), DFL_HALT_BRIEF - 256, DFL_HALT_BRIEF + 256);
    assert_in_range(looks_until_halted(DFL_STOP_EVALUATIONS), DFL_HALT_PATIENT - 256, DFL_HALT_PATIENT + 256);
}

static void what_is_left_is_counted(void **state)
{
    dfl_budget budget = { .steps_limit = 100 };
    dfl_halt halt = { .budget = &budget }, free = { .budget = NULL };

    (void)state;
    assert_int_equal(dfl_halt_left(&free, 7), 7);
    assert_int_equal(dfl_halt_left(&halt, 1000), 100);
    assert_int_equal(dfl_halt_left(&halt, 10), 10);
    assert_true(dfl_budget_spend(&budget, 60));
    assert_int_equal(dfl_halt_left(&halt, 1000), 40);
    assert_false(dfl_budget_spend(&budget, 60));
    assert_int_equal(dfl_halt_left(&halt, 1000), 1); /* 0 would be any number */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_and_interrupts_leave_little),
        cmocka_unit_test(what_is_left_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
