/* Conversion of the public search options to limits and space of the search. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "solve/search_options.h"

static void defaults_limit_nothing(void **state)
{
    const dfl_search_options options = { .size = sizeof options };
    const dfl_search_limits limits = dfl_search_options_limits(&options, 100, NULL);
    const dfl_search_space space = dfl_search_options_space(&options);

    (void)state;
    assert_int_equal(limits.evaluations, 0);
    assert_true(limits.deadline == 0.0); /* none, whatever the time */
    assert_int_equal(limits.threads, 0);
    assert_null(limits.progress);
    assert_false(space.imperfect || space.any_spread);
    assert_int_equal(space.extensions, 0);
    assert_int_equal(space.max_shared_loops, DFL_NONE);
}

static void every_option_is_copied(void **state)
{
    const dfl_search_options options = { .size = sizeof options, .evaluations = 7, .seconds = 2.5, .jobs = 3, .imperfect = true,
                                         .spread = true, .beyond = DFL_SEARCH_ORDER | DFL_SEARCH_WINDOW, .max_fused = 3 };
    dfl_progress_meter meter;
    const dfl_search_limits limits = dfl_search_options_limits(&options, 100, &meter);
    const dfl_search_space space = dfl_search_options_space(&options);

    (void)state;
    assert_int_equal(limits.evaluations, 7);
    assert_true(limits.deadline == 102.5);
    assert_int_equal(limits.threads, 3);
    assert_ptr_equal(limits.progress, &meter);
    assert_true(space.imperfect && space.any_spread);
    assert_int_equal(space.extensions, DFL_SEARCH_ORDER | DFL_SEARCH_WINDOW);
    assert_int_equal(space.max_shared_loops, 2); /* the option is one more */
}

/* `max_fused` 1 asks for no shared loop at all, which is not the default. */
static void no_shared_loops_is_not_any_number(void **state)
{
    const dfl_search_options options = { .size = sizeof options, .max_fused = 1 };

    (void)state;
    assert_int_equal(dfl_search_options_space(&options).max_shared_loops, 0);
}

static void evaluations_left_are_never_unlimited(void **state)
{
    (void)state;
    assert_int_equal(dfl_evaluations_left(0, 5), 0);
    assert_int_equal(dfl_evaluations_left(10, 4), 6);
    assert_int_equal(dfl_evaluations_left(10, 10), 1);
    assert_int_equal(dfl_evaluations_left(10, 12), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_limit_nothing),
        cmocka_unit_test(every_option_is_copied),
        cmocka_unit_test(no_shared_loops_is_not_any_number),
        cmocka_unit_test(evaluations_left_are_never_unlimited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
