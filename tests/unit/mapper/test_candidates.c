/*
 * Bounds of all templates: equal for any number of threads, sorted, and at most the cost found for the template; a
 * search for bounds that is stopped reports the stop. The machine has two memories on the chip, so that several threads
 * have work.
 */
#include <math.h>

#include "tests/unit/mapper/pair.h"

#include "mapper/exact/einsum_classes.h"

enum { THREADS = 3, ENOUGH = 64 * THREADS }; /* templates that all threads have something to do with */

static bool make(dfl_session *s, uint32_t threads, bool plain, dfl_deadline *halt, dfl_einsum_classes *out)
{
    const dfl_problem_limits limits = { .plain = plain };
    dfl_arena *scratch = dfl_arena_new(NULL);
    bool made = dfl_einsum_classes_make(s->arena, scratch, s->sink, s->names, s->program->designs[0].mapping, &limits, threads,
                                        halt, out);

    dfl_arena_free(scratch);
    return made;
}

static void are_the_same_with_threads(void **state)
{
    dfl_session *s[2] = { open_pair(), open_pair() };
    dfl_einsum_classes k[2];
    size_t n = 0;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        dfl_deadline halt = { .budget = &s[i]->budget };
        assert_true(make(s[i], i == 0 ? 1 : THREADS, false, &halt, &k[i]));
    }
    assert_int_equal(k[0].at.n, k[1].at.n);
    for (size_t c = 0; c < k[0].at.n; c++) {
        const dfl_einsum_class *a = &k[0].at.at[c], *b = &k[1].at.at[c];
        assert_int_equal(a->candidates.n, b->candidates.n);
        n += a->candidates.n;
        for (size_t i = 0; i < a->candidates.n; i++) {
            const dfl_candidate *x = &a->candidates.at[i], *y = &b->candidates.at[i];
            assert_true(x->at == y->at && x->pattern == y->pattern && x->joules == y->joules && x->seconds == y->seconds);
            assert_true(x->roomy_joules == y->roomy_joules && x->roomy_seconds == y->roomy_seconds);
            assert_memory_equal(x->times, y->times, sizeof *x->times);
        }
    }
    assert_true(n >= ENOUGH);
    dfl_session_free(s[0]);
    dfl_session_free(s[1]);
}

/* Least energy first, what is equal as it was made; room only raises bounds, and some are raised, but for `plain`. */
static void are_in_order(void **state)
{
    (void)state;
    for (uint32_t plain = 0; plain < 2; plain++) {
        dfl_session *s = open_pair();
        dfl_deadline halt = { .budget = &s->budget };
        uint32_t raised = 0;
        dfl_einsum_classes k;
        assert_true(make(s, 1, plain, &halt, &k));
        for (size_t c = 0; c < k.at.n; c++)
            for (size_t i = 0; i < k.at.at[c].candidates.n; i++) {
                const dfl_candidate *x = &k.at.at[c].candidates.at[i], *before = i > 0 ? x - 1 : x;
                assert_true(before->joules < x->joules || (before->joules == x->joules && before->at <= x->at));
                assert_true(x->joules >= x->roomy_joules && x->seconds >= x->roomy_seconds && x->roomy_joules > 0);
                raised += x->joules > x->roomy_joules;
            }
        assert_int_equal(raised > 0, !plain);
        dfl_session_free(s);
    }
}

/* No row of a template costs less than its bounds. */
static void are_below_all_rows(void **state)
{
    dfl_session *s = open_pair();
    dfl_deadline halt = { .budget = &s->budget };
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    uint32_t found = 0;
    dfl_einsum_classes k;

    (void)state;
    assert_true(make(s, 1, false, &halt, &k));
    for (size_t c = 0; c < k.at.n; c++)
        for (size_t i = 0; i < k.at.at[c].candidates.n; i += 7) {
            const dfl_candidate *x = &k.at.at[c].candidates.at[i];
            dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .by_energy = true, .by_time = true, .limit = INFINITY,
                                   .halt = &halt, .max_loops = 1 };
            dfl_pareto_set *rows = dfl_pareto_set_new(arena, scratch);
            const dfl_pmapping *const *list;
            uint32_t n;
            (void)dfl_tile_search(rows, x->problem, x->form, &goal);
            list = dfl_pareto_set_list(rows, &n);
            for (uint32_t r = 0; r < n; r++)
                assert_true(list[r]->joules >= x->joules * (1 - 1e-12) && list[r]->seconds >= x->seconds * (1 - 1e-12));
            found += n;
        }
    assert_true(found > 0);
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
    dfl_session_free(s);
}

static void say_when_they_are_stopped(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= THREADS; threads += 2) {
        dfl_session *s = open_pair();
        dfl_deadline halt = { .budget = &s->budget, .at = dfl_deadline_clock() - 1 };
        dfl_einsum_classes k = { .n = 0 };
        (void)make(s, threads, false, &halt, &k);
        assert_int_equal(halt.why, DFL_STOP_TIME);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_the_same_with_threads),
        cmocka_unit_test(are_in_order),
        cmocka_unit_test(are_below_all_rows),
        cmocka_unit_test(say_when_they_are_stopped),
    };

    return cmocka_run_group_tests_name("mapper.candidates", tests, NULL, NULL);
}
