/* Results of a crew: equal for any number of threads and any limit, and within the limit on evaluations. The problem
   has two einsums in different classes, on a machine with two memories on the chip, which gives several patterns. */
#include <math.h>

#include "tests/unit/mapper/pair.h"

#include "mapper/exact/workers.h"

/* SLACK: evaluations of one node, by which each piece may exceed its limit. FEW: a limit too small for any piece to finish. */
enum { CLASSES = 2, SLACK = 40, FEW = 1000 };

/* One search: its classes, and a crew for them. */
typedef struct {
    dfl_session *session;
    dfl_einsum_classes classes;
    dfl_tile_goal goal;
    dfl_workers crew;
} search;

static void open_search(search *s, uint32_t threads, uint64_t limit)
{
    const dfl_problem_limits limits = { .overlapped = true };
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_deadline halt;

    *s = (search){ .session = open_pair() };
    halt = (dfl_deadline){ .budget = &s->session->budget };
    assert_true(dfl_einsum_classes_make(s->session->arena, scratch, s->session->sink, s->session->names,
                                        s->session->program->designs[0].mapping, &limits, 1, &halt, &s->classes));
    dfl_arena_free(scratch);
    s->goal = (dfl_tile_goal){ .of = { .value = dfl_value_joules }, .by_energy = true, .limit = INFINITY, .max_loops = 2 };
    s->crew = (dfl_workers){ .arena = s->session->arena, .classes = &s->classes, .goal = &s->goal, .threads = threads,
                             .limit = limit };
    assert_int_equal(s->classes.at.n, CLASSES);
}

static void close_search(search *s)
{
    dfl_workers_forget(&s->crew);
    dfl_workers_end(&s->crew);
    dfl_session_free(s->session);
}

static void add_others(search *s)
{
    for (size_t i = 0; i < s->classes.at.n; i++) {
        dfl_einsum_class *c = &s->classes.at.at[i];
        c->others = DFL_NEW_ARRAY(s->session->arena, dfl_criteria, c->patterns.n);
        for (size_t p = 0; p < c->patterns.n; p++)
            c->others[p] = dfl_criteria_zero();
    }
}

static void same_row(const dfl_pmapping *a, const dfl_pmapping *b)
{
    assert_memory_equal(&a->way, &b->way, sizeof a->way);
    assert_true(a->joules == b->joules && a->seconds == b->seconds && a->form->n_keeps == b->form->n_keeps);
    assert_memory_equal(a->room, b->room, sizeof a->room);
    for (uint32_t i = 0; i < (a->form->n_keeps + 1) * a->problem->n_ranks; i++)
        assert_int_equal(a->cut[i], b->cut[i]);
}

static void same_classes(const search *a, const search *b)
{
    for (size_t c = 0; c < CLASSES; c++) {
        const dfl_einsum_class *x = &a->classes.at.at[c], *y = &b->classes.at.at[c];
        assert_int_equal(x->patterns.n, y->patterns.n);
        for (size_t p = 0; p < x->patterns.n; p++)
            for (uint32_t i = 0; i < DFL_COSTS; i++)
                assert_true(x->patterns.at[p].least.at[i] == y->patterns.at[p].least.at[i]);
        assert_true(x->apart != NULL && y->apart != NULL);
        same_row(x->apart, y->apart);
        assert_int_equal(x->n_list, y->n_list);
        for (uint32_t i = 0; i < x->n_list; i++)
            same_row(x->list[i], y->list[i]);
    }
    assert_int_equal(a->crew.evaluated, b->crew.evaluated);
    assert_int_equal(a->crew.pruned, b->crew.pruned);
    assert_int_equal(a->crew.stopped, b->crew.stopped);
}

static void find_least(search *s)
{
    bool more = true;

    for (uint32_t round = 0; more; round++)
        more = dfl_workers_least(&s->crew, round, INFINITY);
}

static void find_all(search *s)
{
    static const uint32_t all[CLASSES] = { 0, 1 };

    find_least(s);
    add_others(s);
    (void)dfl_workers_rows(&s->crew, all, CLASSES);
}

/*
 * Largest number of evaluations of a limit that may stay unused. A small limit is divided among all pieces and every
 * piece stops at its share, so less than one evaluation per piece remains. With a larger limit some pieces finish, and
 * the others start again with the rest of the limit if their share grows.
 */
static uint64_t given_up(const search *s, uint64_t limit)
{
    uint64_t pieces = 0;

    for (size_t c = 0; c < CLASSES; c++)
        pieces += s->classes.at.at[c].patterns.n;
    return (limit > FEW ? s->crew.evaluated : 0) + pieces - 1;
}

/* Without a limit, with some that stop the least, and with some that stop the rows; the pieces, and so what is exceeded, are as
   many as patterns. */
static void finds_the_same_with_threads(void **state)
{
    static const uint64_t limits[] = { 0, 1, 63, 64, 65, 200, 500, 1000, 2000, 5000, 20000, 1000000 };
    uint64_t all = 0;

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        search one, three;
        open_search(&one, 1, limits[i]);
        open_search(&three, 3, limits[i]);
        find_all(&one);
        find_all(&three);
        same_classes(&one, &three);
        if (limits[i] == 0)
            all = one.crew.evaluated;
        else if (limits[i] >= all)
            assert_int_equal(one.crew.evaluated, all);
        else
            assert_int_equal(one.crew.stopped, DFL_STOP_EVALUATIONS);
        if (limits[i] > 0) {
            assert_true(one.crew.evaluated + given_up(&one, limits[i]) >= (limits[i] < all ? limits[i] : all));
            assert_true(one.crew.evaluated <= limits[i] + SLACK);
        }
        close_search(&one);
        close_search(&three);
    }
    assert_true(all > 5000);
}

/* The list holds the rows of every pattern once, in the order of patterns. */
static void lists_rows_by_pattern(void **state)
{
    search s;

    (void)state;
    open_search(&s, 2, 0);
    find_all(&s);
    for (size_t c = 0; c < CLASSES; c++) {
        const dfl_einsum_class *class = &s.classes.at.at[c];
        uint32_t last = 0;
        assert_true(class->n_list > 1 && class->patterns.n > 1);
        for (uint32_t i = 0; i < class->n_list; i++) {
            uint32_t p = dfl_einsum_classes_pattern(class, class->list[i]->problem, class->list[i]->form);
            assert_true(p >= last && p < class->patterns.n);
            last = p;
            assert_true(class->list[i]->joules >= class->patterns.at[p].least.at[DFL_COST_JOULES] * (1 - 1e-12));
        }
        assert_true(last > 0);
    }
    close_search(&s);
}

/* The best unfused row is taken, and its cost is at least the bound of its pattern. */
static void takes_the_best_apart(void **state)
{
    search s;

    (void)state;
    open_search(&s, 1, 0);
    find_least(&s);
    for (size_t c = 0; c < CLASSES; c++) {
        const dfl_einsum_class *class = &s.classes.at.at[c];
        const dfl_pmapping *apart = class->apart;
        uint32_t p;
        assert_non_null(apart);
        p = dfl_einsum_classes_pattern(class, apart->problem, apart->form);
        assert_true(fabs(apart->joules - class->patterns.at[p].least.at[DFL_COST_JOULES]) <= 1e-9 * apart->joules);
    }
    close_search(&s);
}

/* A crew that is stopped before it begins still has one row of every class. */
static void has_some_row_when_stopped(void **state)
{
    search s;

    (void)state;
    open_search(&s, 1, 0);
    s.crew.deadline = dfl_deadline_clock() - 1;
    find_least(&s);
    assert_int_equal(s.crew.stopped, DFL_STOP_TIME);
    for (size_t c = 0; c < CLASSES; c++)
        assert_non_null(s.classes.at.at[c].apart);
    close_search(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_same_with_threads),
        cmocka_unit_test(lists_rows_by_pattern),
        cmocka_unit_test(takes_the_best_apart),
        cmocka_unit_test(has_some_row_when_stopped),
    };

    return cmocka_run_group_tests_name("mapper.crew", tests, NULL, NULL);
}
