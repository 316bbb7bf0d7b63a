/* Nests of small einsums (rule D11): how many there are, what keeps add (lemma B35), and the search. By hand. */
#include "mapper/nests/keep_costs.h"
#include "mapper/nests/nests.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name;
    int64_t extent[2];
    int64_t size;             /* of an axis for both ranks; 0 = no axis */
    uint64_t n;
    uint32_t others;          /* mask: ranks that stand on the axis only where more of it is at work */
} count_row;

static const count_row COUNTS[] = {
    { "two orders of two loops", { 2, 2 }, 0, 2, 0 },
    { "one loop of 4, or two of 2", { 4, 1 }, 0, 2, 0 },
    { "a loop of 6, or of 2 and 3 in either order", { 6, 1 }, 0, 3, 0 },
    { "4 and 2: the loop of 2 before or behind 4, or in three places of 2, 2", { 4, 2 }, 0, 5, 0 },
    /* nothing on the axis: two orders; the one or the other rank on it: the loop of the other is left */
    { "an axis of two", { 2, 2 }, 2, 4, 0 },
    { "an axis of four has both", { 2, 2 }, 4, 5, 0 },
    { "three parts do not divide four", { 4, 1 }, 3, 3, 0 },
    { "the second rank keeps no more at work than the first: its loop is left where the first is on the axis", { 2, 2 }, 2, 3, 2 },
    { "both keep four at work", { 2, 2 }, 4, 4, 2 },
};

static void counts(void **state)
{
    const count_row *row = *state;
    dfl_problem problem = { .n_ranks = 2, .n_axes = row->size > 0, .axis = { { .size = row->size, .ranks = 3 } } };

    dfl_arena *arena = dfl_arena_new(NULL);

    memcpy(problem.extent, row->extent, sizeof row->extent);
    problem.axis[0].others = row->others;
    problem.axis[0].sharing = 3 & ~row->others;
    assert_int_equal(dfl_nests_count(arena, &problem, 1000), row->n);
    assert_int_equal(dfl_nests_count(arena, &problem, 2), 2);
    problem.extent[0] = INT64_C(1) << 50;
    assert_int_equal(dfl_nests_count(arena, &problem, 2), 2);
    dfl_arena_free(arena);
}

/* Products of 2 x 2 x 2, 8 bits, in one memory and another of `near`. dram writes `out` B/s. */
#define PRODUCT(near, out, rate)                                                                                          \
    "workload mm : i8 { rank m = 2, n = 2, k = 2; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; }\n"        \
    "system chip {\n    memory dram { size = unlimited; read { bandwidth = 2B/s; energy = 8J/bit; } "                     \
    "write { bandwidth = " out "B/s; energy = 8J/bit; } }\n    memory near { size = " near "; bandwidth = 8B/s; "         \
    "read { energy = 1J/bit; } write { energy = 1J/bit; } }\n    compute pe { rate { mac = " rate "MAC/s; } }\n}\n"      \
    "mapping best for mm on chip { ...; minimize latency; }\n"

/* Adds `with` to `sum`. */
static void add_costs(dfl_keep_costs *sum, const dfl_keep_costs *with)
{
    sum->joules += with->joules;
    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
        sum->busy[p] += with->busy[p];
}

/* Lemma B35. The nest m, n, k reads 8 bytes of A, 8 of B and 4 partial sums, and updates 8 of Z at dram. With A below m, near is
   filled with 4 bytes of A, and serves 8. With Z below n, dram is updated 4 times, and near reads 8 - 4 old sums and 4 that leave,
   for 8 updates. */
static void keeps_add(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_problem_limits limits = { .spread = true };
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s, PRODUCT("8B", "1", "1"), &limits, &problem);
    dfl_bare_nest nest = { .n = 3 };
    dfl_keep_book *book = dfl_keep_book_make(s->arena, s->names, m, &problem);
    const dfl_nest_keeps a = { .n = 1, .keep = { { .operand = 0, .place = 1, .at = 1 } } };
    const dfl_nest_keeps z = { .n = 1, .keep = { { .operand = 2, .place = 1, .at = 2 } } };
    const dfl_nest_keep both[] = { a.keep[0], z.keep[0] };
    const dfl_keep_costs *costs;
    const dfl_result *model;
    dfl_keep_costs sum;

    for (uint32_t i = 0; i < 3; i++) {
        nest.loop[i].rank = i;
        nest.loop[i].factor = 2;
        nest.loop[i].tile = 1;
    }
    for (uint32_t r = 0; r < 3; r++)
        nest.parts[r][0] = 1;
    dfl_keep_book_turn(book, &nest);
    assert_true(book->is_known);
    sum = book->base;
    assert_close(book->base.busy[0], 20 / 2., 1e-12);
    assert_close(book->base.busy[1], 8, 1e-12);
    assert_close(book->base.joules, (20 + 8) * 64, 1e-12);
    costs = dfl_keep_book_find(book, 0, &a);
    assert_close(costs->busy[0], (4 - 8) / 2., 1e-12);
    assert_close(costs->waits[0], 4 / 2., 1e-12);
    assert_close(costs->waits[2], 4 / 8., 1e-12); /* near reads and writes over one port */
    assert_close(costs->room[1], 2 * 8, 1e-12);
    add_costs(&sum, costs);
    costs = dfl_keep_book_find(book, 2, &z);
    assert_close(costs->busy[1], 4 - 8, 1e-12);
    assert_close(costs->waits[1], 4, 1e-12);
    assert_close(costs->room[1], 8, 1e-12);
    add_costs(&sum, costs);
    assert_true(dfl_keep_book_find(book, 2, &z) == costs);
    model = dfl_mapping_costs(s->arena, s->names, dfl_nest_mapping(s->arena, m, &problem, &nest, both, 2));
    assert_non_null(model);
    assert_close(sum.joules, model->joules, 1e-12);
    assert_close(sum.busy[0], model->memories[0].read_seconds, 1e-12);
    assert_close(sum.busy[1], model->memories[0].write_seconds, 1e-12);
    assert_close(sum.busy[2], model->memories[1].read_seconds + model->memories[1].write_seconds, 1e-12);
    dfl_keep_book_free(book);
    dfl_session_free(s);
}

/* `seconds`: least latency. */
typedef struct {
    const char *name, *text;
    double seconds;
} search_row;

static const search_row SEARCHES[] = {
    /* dram reads 8 + 8 + 4 bytes beside 8 s of work */
    { "nothing has room", PRODUCT("4bit", "1", "1"), 10 },
    /* with A below m, k: 2 s in which A comes in, and 8 s of work, or of results that dram is written */
    { "what enters stops the work", PRODUCT("1B", "1", "1"), 10 },
    /* 2 s for A, then dram reads 8 + 4 bytes beside 4 s of work */
    { "a keep pays where the unit is quick", PRODUCT("1B", "2", "2"), 8 },
};

static void searches(void **state)
{
    const search_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_problem_limits limits = { .spread = true };
    const dfl_search_limits none = { .evaluations = 0 }, few = { .evaluations = 2 };
    dfl_objective objective;
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s, row->text, &limits, &problem);
    const dfl_problem *const list[] = { &problem };
    dfl_nests_result r;

    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_true(dfl_nests_handles(s->arena, m, list, 1));
    r = dfl_nests_search(s->arena, s->names, m, list, 1, &objective, &none, INFINITY);
    assert_true(r.is_complete);
    assert_close(r.value, row->seconds, 1e-12);
    r = dfl_nests_search(s->arena, s->names, m, list, 1, &objective, &none, row->seconds);
    assert_true(r.is_complete);
    assert_null(r.mapping);
    r = dfl_nests_search(s->arena, s->names, m, list, 1, &objective, &few, INFINITY);
    assert_false(r.is_complete);
    assert_int_equal(r.stopped, DFL_STOP_EVALUATIONS);
    assert_int_equal(r.evaluated, few.evaluations); /* of the keeps of the first operand already */
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keeps_add) };

    return CHECK_TABLE("mapper.nests.counts", COUNTS, counts) + CHECK_TABLE("mapper.nests.searches", SEARCHES, searches) +
           CHECK_GROUP("mapper.nests", tests);
}
