/* Nests of small einsums (rules D11, D13): how many there are, what keeps add (lemma B35), and the search. By hand. */
#include <stdio.h>

#include "mapper/nests/keep_costs.h"
#include "mapper/nests/keep_orders.h"
#include "mapper/nests/nests.h"
#include "mapper/nests/ragged_nest.h"
#include "mapper/problem/floor.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name;
    int64_t extent[2];
    int64_t size;             /* of an axis for both ranks; 0 = no axis */
    uint64_t n;
    uint32_t others;          /* mask: ranks that stand on the axis only where more of it is at work */
    bool is_ragged;
} count_row;

static const count_row COUNTS[] = {
    { "two orders of two loops", { 2, 2 }, 0, 2, 0, false },
    { "one loop of 4, or two of 2", { 4, 1 }, 0, 2, 0, false },
    { "a loop of 6, or of 2 and 3 in either order", { 6, 1 }, 0, 3, 0, false },
    { "4 and 2: the loop of 2 before or behind 4, or in three places of 2, 2", { 4, 2 }, 0, 5, 0, false },
    /* nothing on the axis: two orders; the one or the other rank on it: the loop of the other is left */
    { "an axis of two", { 2, 2 }, 2, 4, 0, false },
    { "an axis of four has both", { 2, 2 }, 4, 5, 0, false },
    { "three parts do not divide four", { 4, 1 }, 3, 3, 0, false },
    { "the second rank keeps no more at work than the first: its loop is left where the first is on the axis", { 2, 2 }, 2, 3, 2, false },
    { "both keep four at work", { 2, 2 }, 4, 4, 2, false },
    { "of 4: 1, each of 2 and 3 before it, and 3 before 2", { 4, 1 }, 0, 4, 0, true },
    { "3 and 2: the loop of 2 before or behind 1, or in three places of 2, 1", { 3, 2 }, 0, 5, 0, true },
    /* of 3, tiles of 2 leave two parts, and tiles of 1 three, which have no room: 1; 2, 1; 2 on the axis, 1; 2, 1 on the axis */
    { "an axis of two before or behind a loop of 3", { 3, 1 }, 2, 4, 0, true },
    /* also 1 on the axis, and 2 and 1 on it */
    { "an axis of four", { 3, 1 }, 4, 6, 0, true },
    /* 1; 3, 1; 2, 1; 3, 2, 1; one of them on the axis: 3, 1 only the first, 2, 1 either, 3, 2, 1 each */
    { "two parts of 4 are 2 and 2, or 3 and 1", { 4, 1 }, 2, 10, 0, true },
};

static uint64_t count_any(dfl_arena *arena, const count_row *row, const dfl_problem *problem, uint64_t most)
{
    return row->is_ragged ? dfl_ragged_nests_count(arena, problem, most) : dfl_nests_count(arena, problem, most);
}

static void counts(void **state)
{
    const count_row *row = *state;
    dfl_problem problem = { .n_ranks = 2, .n_axes = row->size > 0, .axis = { { .size = row->size, .ranks = 3 } } };

    dfl_arena *arena = dfl_arena_new(NULL);

    memcpy(problem.extent, row->extent, sizeof row->extent);
    problem.axis[0].others = row->others;
    problem.axis[0].sharing = 3 & ~row->others;
    assert_int_equal(count_any(arena, row, &problem, 1000), row->n);
    assert_int_equal(count_any(arena, row, &problem, 2), 2);
    problem.extent[0] = INT64_C(1) << 50;
    assert_int_equal(count_any(arena, row, &problem, 2), 2);
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

/* Lemmas B35 and B59. The nest m, n, k reads 8 bytes of A, 8 of B and 4 partial sums, and updates 8 of Z at dram. With A below m, near is
   filled with 4 bytes of A, and serves 8. With Z below n, dram is updated 4 times, and near reads 8 - 4 old sums and 4 that leave,
   for 8 updates. */
static void keeps_add(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_problem_limits limits = { .spread = true };
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s, PRODUCT("8B", "1", "1"), &limits, &problem);
    dfl_bare_nest nest = { .set = 1, .n = 3 };
    dfl_keep_book *book = dfl_keep_book_make(s->arena, s->names, m, &problem, false);
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
    assert_close(costs->input.ramp, 2 / 2., 1e-12); /* 2 bytes leave dram and enter near */
    assert_close(costs->own, 4 * 8 * (8 + 1) + 8 * 8, 1e-12); /* no less can enter */
    assert_close(dfl_floor_joules_at(&problem, 0, 1u << 1), costs->own, 1e-12);
    assert_close(dfl_floor_joules_of(&problem, 0), 4 * 8 * 8 + 8 * 8, 1e-12);
    assert_close(costs->served[0], 4 / 2., 1e-12);
    assert_close(costs->served[2], (4 + 8) / 8., 1e-12);
    add_costs(&sum, costs);
    costs = dfl_keep_book_find(book, 2, &z);
    assert_close(costs->busy[1], 4 - 8, 1e-12);
    assert_close(costs->waits[1], 4, 1e-12);
    assert_close(costs->own, 4 * 64 + (4 + 4 + 8) * 8, 1e-12);
    assert_close(dfl_floor_joules_at(&problem, 2, 1u << 1), 4 * 8 * (1 + 8) + 8 * 8, 1e-12); /* no old sums are read */
    assert_close(costs->room[1], 8, 1e-12);
    assert_close(costs->result.ramp, 1, 1e-12); /* one byte leaves near and enters dram */
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

/* Behind m:2, k, dram gives B 2 times, behind m, k 3 times, 2 bytes each at 2 B/s. */
static void ragged_keeps_add(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_problem_limits limits = { .spread = true };
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s,
        "workload w : i8 { rank m = 3, k = 2; input A[m], B[k]; output Z[m, k] = A[m] * B[k]; }\n"
        "system chip {\n    memory dram { size = unlimited; read { bandwidth = 2B/s; } write { bandwidth = 2B/s; } }\n"
        "    memory near { size = 8B; bandwidth = 8B/s; }\n    compute pe { rate = 1FLOP/s; }\n}\n"
        "mapping best for w on chip { ...; minimize latency; }\n", &limits, &problem);
    const dfl_bare_nest ragged = { .set = 1, .n = 3, .loop = { { .rank = 0, .factor = 2, .tile = 2 },
                                                               { .rank = 1, .factor = 2, .tile = 1 },
                                                               { .rank = 0, .factor = 2, .tile = 1 } } };
    const dfl_bare_nest whole = { .set = 1, .n = 2, .loop = { { .rank = 0, .factor = 3, .tile = 1 },
                                                              { .rank = 1, .factor = 2, .tile = 1 } } };
    const dfl_nest_keeps b = { .n = 1, .keep = { { .operand = 1, .place = 1, .at = 2 } } };
    dfl_keep_book *book = dfl_keep_book_make(s->arena, s->names, m, &problem, true);

    dfl_keep_book_turn(book, &ragged);
    assert_close(dfl_keep_book_find(book, 1, &b)->waits[0], 2, 1e-12);
    dfl_keep_book_turn(book, &whole);
    assert_close(dfl_keep_book_find(book, 1, &b)->waits[0], 3, 1e-12);
    dfl_keep_book_free(book);
    dfl_session_free(s);
}

/* An axis in front of a loop: coordinates have 3, 3 and 1 of 7 elements, and tiles of two of these. */
typedef struct {
    const char *name;
    uint32_t place;
    uint32_t at;              /* loops above the keep */
    double elements;
} room_row;

static const room_row ROOMS[] = {
    { "outside of the axis, above the loop: all", 1, 0, 7 },
    { "outside of it, below the loop: 2, 2 and 1", 1, 1, 5 },
    { "inside of it, above the loop: 3", 2, 0, 3 },
    { "inside of it, below the loop: 2", 2, 1, 2 },
};

static void takes_room(void **state)
{
    const room_row *row = *state;
    dfl_problem problem = { .n_ranks = 1, .extent = { 7 }, .n_operands = 1, .n_places = 3, .n_axes = 1 };
    const dfl_nest_keep keep = { .place = (uint8_t)row->place, .at = row->at };
    const dfl_keep_book book = { .problem = &problem, .is_ragged = true,
                                 .nest = { .n = 2, .n_axes = 1, .loop = { { .tile = 2 }, { .tile = 1 } },
                                           .axis = { { .parts = 3, .tile = 3 } } } };

    problem.operand[0] = (dfl_problem_operand){ .bits = 8, .ranks = 1, .plain = 1, .n_dims = 1 };
    problem.operand[0].dims[0] = (dfl_problem_dim){ .n = 1, .coef = { 1 } };
    problem.place[1] = (dfl_problem_place){ .buffers = 1 };
    problem.place[2] = (dfl_problem_place){ .buffers = 2, .axes = 1 };
    assert_close(dfl_keep_book_room(&book, &keep), row->elements * 8 * (row->place == 2 ? 2 : 1), 1e-12);
    assert_close(dfl_nest_steps(&problem, &book.nest), 3, 1e-12);
}

/* Place 1 stops the work, place 2 is a stream. */
typedef struct {
    const char *name;
    uint32_t n;
    struct { uint8_t operand, place; uint32_t at, inmost; } keep[3];
    const char *orders;       /* of each keep: its operand, and the loops above it */
} order_row;

static const order_row ORDERS[] = {
    { "none", 0, { { 0 } }, ";" },
    { "both stop the work", 2, { { 0, 1, 1, 1 }, { 1, 1, 1, 1 } }, "01 11;" },
    { "at their outermost places", 2, { { 0, 1, 0, 2 }, { 1, 1, 1, 2 } }, "00 11;" },
    { "a stream on either side", 2, { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, "01 11;11 01;" },
    { "behind a stream further in", 2, { { 0, 1, 0, 1 }, { 1, 2, 1, 1 } }, "00 11;11 01;" },
    { "not so far in", 2, { { 0, 1, 0, 1 }, { 1, 2, 2, 2 } }, "00 12;" },
    { "a stream behind what stops the work further in", 2, { { 0, 1, 1, 1 }, { 1, 2, 0, 1 } }, "10 01;01 11;" },
    { "one operand goes inwards", 2, { { 0, 1, 1, 1 }, { 0, 2, 1, 1 } }, "01 01;" },
    { "each on either side", 3, { { 0, 1, 1, 1 }, { 1, 1, 1, 1 }, { 2, 2, 1, 1 } },
      "01 11 21;01 21 11;11 21 01;21 01 11;" },
};

static bool write_order(void *context, const dfl_nest_keep *keeps, uint32_t n)
{
    FILE *out = context;

    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s%u%u", i > 0 ? " " : "", keeps[i].operand, keeps[i].at);
    return fputs(";", out) >= 0;
}

static void orders(void **state)
{
    const order_row *row = *state;
    const dfl_order_kinds kinds = { .stops = 1u << 1, .streams = 1u << 2 };
    dfl_nest_keep keeps[3];
    uint32_t inmost[3];
    char text[100] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    assert_non_null(out);
    for (uint32_t i = 0; i < row->n; i++) {
        keeps[i] = (dfl_nest_keep){ .operand = row->keep[i].operand, .place = row->keep[i].place, .at = row->keep[i].at };
        inmost[i] = row->keep[i].inmost;
    }
    assert_true(dfl_keep_orders_each(kinds, keeps, inmost, row->n, write_order, out));
    fclose(out);
    assert_string_equal(text, row->orders);
}

/* Outer products with sums over b: A may stop the work in near, Z is a stream in far that dram takes in 2 s. */
#define STREAMED(ranks, b, z)                                                                                             \
    "workload w : i8 { rank " ranks ", b = 2; input A[a], " b "; output " z " += A[a] * " b "; }\n"                     \
    "system chip {\n    memory dram { size = unlimited; read { bandwidth = 1B/s; } write { bandwidth = 0.5B/s; } }\n"    \
    "    memory near { size = 1B; }\n    memory far { size = 2B; buffers = 2; overlap = stream; holds = output; }\n"     \
    "    compute pe { rate { mac = 1MAC/s; } }\n}\nmapping best for w on chip { ...; minimize latency; }\n"

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
    /* Z outside of A does not start anew: 1 s until A is in, 6 s of work, 2 stalls of 1 s, and 2 s for the last byte of Z. Inside
       of A each stall takes 2 s */
    { "a stream stands outside of what stops the work", STREAMED("a = 3", "B[b]", "Z[a]"), 1 + 6 + 2 + 2 },
    /* loops a, c, b: only behind c, where Z comes and goes, A stands inside of it */
    { "what stops the work goes in behind a stream", STREAMED("a = 2, c = 2", "B[b, c]", "Z[a, c]"), 1 + 8 + 1 + 2 },
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
    assert_true(dfl_nests_handles(s->arena, m, list, 1, false));
    r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &none, INFINITY);
    assert_true(r.is_complete);
    assert_close(r.value, row->seconds, 1e-12);
    r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &none, row->seconds);
    assert_true(r.is_complete);
    assert_null(r.mapping);
    r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &few, INFINITY);
    assert_false(r.is_complete);
    assert_int_equal(r.stopped, DFL_STOP_EVALUATIONS);
    assert_int_equal(r.evaluated, few.evaluations); /* of the keeps of the first operand already */
    dfl_session_free(s);
}

/* 3 s until dram gives the first bytes, and 2 s of work: 5 s without keeps. A byte in near comes in for 0.5 s more, twice; one of
   Z in near leaves after 3 s more. So nothing below 5 s is left to evaluate but the mapping without keeps, and Z without one: that
   B takes 5 s with and without a keep needs no model (B59). */
static void ends_bound(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_problem_limits limits = { .spread = true };
    const dfl_search_limits none = { .evaluations = 0 };
    dfl_objective objective;
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s,
        "workload w : i8 { rank m = 2; input A[m], B[m]; output Z[m] = A[m] * B[m]; }\n"
        "system chip {\n    memory dram { size = unlimited; latency = 3s; read { bandwidth = 2B/s; } write { bandwidth = 1B/s; } }\n"
        "    memory near { size = 1B; }\n    compute pe { rate = 1FLOP/s; }\n}\n"
        "mapping best for w on chip { ...; minimize latency; }\n", &limits, &problem);
    const dfl_problem *const list[] = { &problem };
    dfl_nests_result r;

    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &none, INFINITY);
    assert_close(r.value, 5, 1e-12);
    r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &none, 5);
    assert_true(r.is_complete);
    assert_int_equal(r.evaluated, 1 + 1);
    dfl_session_free(s);
}

/* Rule D14: A, B and Z of one byte each do not fit in 2 bytes, which the mapping without keeps shows. Beside A and B
   at home, near has no room left for a keep of Z: the model sees no mapping but that without keeps, as such, as that of each
   operand, and as the best. */
static void homes_take_room(void **state)
{
    (void)state;
    static const struct { const char *text; bool fits; uint64_t evaluated; } rows[] = {
        { "workload w : i8 { rank m = 1; input A[m], B[m]; output Z[m] = A[m] * B[m]; }\n"
          "system chip {\n    memory dram { size = 2B; }\n    compute pe { rate = 1FLOP/s; }\n}\n"
          "mapping best for w on chip { ...; minimize latency; }\n", false, 1 },
        { "workload w : i8 { rank m = 2; input A[m], B[m]; output Z[m] = A[m] * B[m]; }\n"
          "system chip {\n    memory dram { size = unlimited; holds = output; }\n    memory near { size = 4B; }\n"
          "    compute pe { rate = 1FLOP/s; }\n}\nmapping best for w on chip { ...; minimize latency; }\n", true, 5 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dfl_session *s = dfl_session_new(NULL);
        const dfl_problem_limits limits = { .spread = true };
        const dfl_search_limits none = { .evaluations = 0 };
        dfl_objective objective;
        dfl_problem problem;
        const dfl_mapping *m = open_problem(s, rows[i].text, &limits, &problem);
        const dfl_problem *const list[] = { &problem };
        dfl_nests_result r;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        r = dfl_nests_search(s->arena, s->names, m, list, 1, false, &objective, &none, INFINITY);
        assert_true(r.is_complete);
        assert_true((r.mapping != NULL) == rows[i].fits);
        assert_int_equal(r.evaluated, rows[i].evaluated);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keeps_add), cmocka_unit_test(ragged_keeps_add),
                                        cmocka_unit_test(ends_bound), cmocka_unit_test(homes_take_room) };

    return CHECK_TABLE("mapper.nests.counts", COUNTS, counts) + CHECK_TABLE("mapper.nests.rooms", ROOMS, takes_room) +
           CHECK_TABLE("mapper.nests.orders", ORDERS, orders) + CHECK_TABLE("mapper.nests.searches", SEARCHES, searches) +
           CHECK_GROUP("mapper.nests", tests);
}
