/* Progress reports: not at once, not often, and with every evaluation counted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "support/deadline.h"
#include "support/progress.h"
#include "support/pool.h"

typedef struct {
    atomic_uint calls, inside;
    uint64_t last;
    bool overlapped, backwards;
} listener;

static void hear(void *context, const dfl_progress_state *now)
{
    listener *l = context;

    l->overlapped |= atomic_fetch_add(&l->inside, 1) != 0;
    l->backwards |= now->evaluated < l->last;
    l->last = now->evaluated;
    atomic_fetch_add(&l->calls, 1);
    atomic_fetch_sub(&l->inside, 1);
}

static void add_for_a_while(void *context, size_t i)
{
    dfl_progress_meter *t = context;
    double end = dfl_deadline_clock() + 0.35;

    (void)i;
    while (dfl_deadline_clock() < end)
        dfl_progress_add(t, 1);
}

static void nobody_listens(void **state)
{
    dfl_progress_meter t;

    (void)state;
    dfl_progress_open(&t, NULL, NULL);
    dfl_progress_add(&t, 5);
    dfl_progress_add(NULL, 5);
    assert_int_equal(atomic_load(&t.evaluated), 0);
}

static void starts_late(void **state)
{
    listener l = { 0 };
    dfl_progress_meter t;

    (void)state;
    dfl_progress_open(&t, hear, &l);
    dfl_progress_add(&t, 5);
    dfl_progress_add(&t, 6);
    assert_int_equal(atomic_load(&l.calls), 0);
    assert_int_equal(atomic_load(&t.evaluated), 11);
    assert_true(isnan(t.now.best) && isnan(t.now.bound));
}

static void some_threads(void **state)
{
    listener l = { 0 };
    dfl_progress_meter t;
    double start = dfl_deadline_clock();

    (void)state;
    dfl_progress_open(&t, hear, &l);
    dfl_pool_run(3, 3, add_for_a_while, &t);
    assert_true(atomic_load(&l.calls) >= 1);
    assert_true(atomic_load(&l.calls) <= (dfl_deadline_clock() - start) * 10 + 1);
    assert_false(l.overlapped || l.backwards);
    assert_true(l.last > 0 && l.last <= atomic_load(&t.evaluated));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_listens), cmocka_unit_test(starts_late),
                                        cmocka_unit_test(some_threads) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
