/* Exchange of bounds between classes of einsums: the order in which classes are searched, and the extra cost that a way
   to exchange an operand causes on its other side, above the least cost of that side. All numbers are computed by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "mapper/exact/einsum_classes.h"

enum { MAKER, USER, LAST, OTHER, CLASSES };
enum { IN, OUT };

/* A chain of three einsums: USER reads the result of MAKER, LAST the result of USER. OTHER is a second producer. */
typedef struct {
    dfl_arena *arena;
    dfl_problem problem[CLASSES];
    dfl_problems problems[CLASSES];
    dfl_einsum_class at[CLASSES];
    dfl_einsum_classes classes;
    dfl_goal goal;
} bench;

static void partner(bench *b, uint32_t class, uint32_t operand, uint32_t other, uint32_t of_other)
{
    DFL_PUSH(b->arena, &b->at[class].next[operand], ((dfl_partner){ other, of_other }));
}

/* Operand IN is an input, OUT the result: two dimensions, each with a rank of its own. Ranks 0 and 1 index the input, 0 and 2
   the result. */
static void set_bench(bench *b)
{
    *b = (bench){ .arena = dfl_arena_new(NULL) };
    for (uint32_t c = 0; c < CLASSES; c++) {
        const dfl_problem_dim dim[] = { { .n = 1, .rank = { 0 }, .coef = { 1 } }, { .n = 1, .rank = { 1 }, .coef = { 1 } },
                                        { .n = 1, .rank = { 2 }, .coef = { 1 } } };

        b->problem[c].n_ranks = 3;
        b->problem[c].n_operands = 2;
        b->problem[c].operand[IN] = (dfl_problem_operand){ .shared = c == USER || c == LAST, .ranks = 3, .plain = 3, .n_dims = 2,
                                                           .dims = { dim[0], dim[1] } };
        b->problem[c].operand[OUT] = (dfl_problem_operand){ .output = true, .shared = c != LAST, .ranks = 5, .plain = 5,
                                                            .n_dims = 2,
                                                            .dims = { dim[0], dim[2] } };
        DFL_PUSH(b->arena, &b->problems[c], &b->problem[c]);
        b->at[c].first = c;
        b->at[c].filter = (dfl_compatibility){ .classes = &b->classes, .class = c };
    }
    partner(b, MAKER, OUT, USER, IN);
    partner(b, USER, IN, MAKER, OUT);
    partner(b, USER, OUT, LAST, IN);
    partner(b, LAST, IN, USER, OUT);
    b->classes = (dfl_einsum_classes){ .n = CLASSES, .problems = b->problems, .at = { b->at, 3, CLASSES } };
}

/* ---- waves ---- */

typedef struct { uint32_t n, class[CLASSES], known[CLASSES]; } wave;

static void expect_waves(bench *b, const wave *expected, uint32_t n)
{
    uint32_t found[CLASSES];

    dfl_einsum_classes_restart(&b->classes);
    for (uint32_t number = 0; number < n; number++) {
        assert_int_equal(dfl_einsum_classes_wave(&b->classes, number, found), expected[number].n);
        for (uint32_t i = 0; i < expected[number].n; i++) {
            const dfl_einsum_class *c = &b->at[found[i]];
            assert_int_equal(found[i], expected[number].class[i]);
            assert_int_equal(c->wave, number);
            assert_int_equal(c->filter.class, found[i]);
            assert_int_equal(c->filter.known, expected[number].known[i]);
        }
        for (uint32_t i = 0; i < expected[number].n; i++)
            b->at[found[i]].searched = true;
    }
    assert_int_equal(dfl_einsum_classes_wave(&b->classes, n, found), 0);
}

static void waves_begin_where_least_is_free(void **state)
{
    /* the ends have one way to choose, the user two, and none once both are known */
    static const wave both_ends[] = { { 2, { MAKER, LAST }, { 0, 0 } }, { 1, { USER }, { 1u << IN | 1u << OUT } } };
    /* of equal ones that with fewer rows before; then the user has one that is free, as has the other end, but exchanges more */
    static const wave fewer_rows[] = { { 1, { LAST }, { 0 } }, { 1, { MAKER }, { 0 } },
                                       { 1, { USER }, { 1u << IN | 1u << OUT } } };
    /* a second maker of the input: it is known when both are */
    static const wave two_makers[] = { { 3, { MAKER, LAST, OTHER }, { 0, 0, 0 } },
                                       { 1, { USER }, { 1u << IN | 1u << OUT } } };
    static const wave late_maker[] = { { 2, { MAKER, LAST }, { 0, 0 } }, { 1, { OTHER }, { 0 } },
                                       { 1, { USER }, { 1u << IN | 1u << OUT } } };
    /* one that exchanges less, but is free to */
    static const wave known_first[] = { { 2, { MAKER, LAST }, { 0, 0 } }, { 1, { USER }, { 1u << IN | 1u << OUT } },
                                        { 1, { OTHER }, { 0 } } };
    bench b;

    (void)state;
    set_bench(&b);
    expect_waves(&b, both_ends, 2);
    b.at[MAKER].n_list = 8;
    b.at[LAST].n_list = 7;
    expect_waves(&b, fewer_rows, 3);
    b.at[MAKER].n_list = b.at[LAST].n_list = 0;
    partner(&b, USER, IN, OTHER, OUT);
    partner(&b, OTHER, OUT, USER, IN);
    b.classes.at.n = CLASSES;
    expect_waves(&b, two_makers, 2);
    b.at[OTHER].n_list = 1;
    expect_waves(&b, late_maker, 3);
    dfl_arena_free(b.arena);
    set_bench(&b);
    partner(&b, OTHER, OUT, OTHER, IN);
    b.classes.at.n = CLASSES;
    b.at[OTHER].n_list = 1;
    b.at[USER].n_list = 2;
    expect_waves(&b, known_first, 3);
    dfl_arena_free(b.arena);
}

/* ---- what ways cost more ---- */

/* Shared loops over one rank, above the operand. */
static dfl_way way_of(uint32_t operand, uint16_t memory, uint8_t depth, uint8_t rank, int64_t trips)
{
    dfl_way w;

    memset(&w, 0, sizeof w);
    w.memory[operand] = memory;
    w.depth[operand] = depth;
    w.n_loops = depth;
    w.loop_rank[0] = depth > 0 ? rank : 0;
    w.trips[0] = depth > 0 ? trips : 0;
    return w;
}

typedef struct {
    dfl_way way;
    double joules, seconds;
} row;

static void give_rows(bench *b, uint32_t class, const row *rows, uint32_t n)
{
    const dfl_pmapping **list = DFL_NEW_ARRAY(b->arena, const dfl_pmapping *, n);

    for (uint32_t i = 0; i < n; i++) {
        dfl_pmapping *r = DFL_NEW(b->arena, dfl_pmapping);
        *r = (dfl_pmapping){ .way = rows[i].way, .joules = rows[i].joules, .seconds = rows[i].seconds, .problem = &b->problem[class] };
        list[i] = r;
    }
    b->at[class].list = list;
    b->at[class].n_list = n;
    dfl_einsum_classes_offer(b->arena, &b->classes, &b->goal, class);
}

static void give_pattern(bench *b, uint32_t class, uint32_t in, uint32_t out, double joules, double seconds, double mixed)
{
    dfl_pattern p = { .memory = { in, out }, .least = dfl_criteria_zero() };

    p.least.at[DFL_COST_JOULES] = joules;
    p.least.at[DFL_COST_SECONDS] = seconds;
    p.least.at[DFL_COST_MIXED] = mixed;
    DFL_PUSH(b->arena, &b->at[class].patterns, p);
}

/* Whether the user may go that way with its input, and what that costs more: nothing is known with NAN. */
static void expect_more(const bench *b, uint32_t known, dfl_way way, double joules, double seconds, double mixed)
{
    dfl_compatibility f = { .classes = &b->classes, .class = USER, .known = known };
    dfl_criteria more;
    bool wanted = dfl_einsum_classes_wanted(&f, &b->problem[USER], &way, &more);

    assert_int_equal(wanted, !isnan(joules));
    if (!wanted)
        return;
    assert_true(more.at[DFL_COST_JOULES] == joules);
    assert_true(more.at[DFL_COST_SECONDS] == seconds);
    assert_true(more.at[DFL_COST_MIXED] == mixed);
    assert_true(more.at[DFL_COST_BUSY] == 0);
}

static void ways_cost_more_than_the_least(void **state)
{
    enum { KNOWN = 1u << IN };
    const row made[] = {
        { way_of(OUT, 1, 0, 0, 0), 6, 4 }, /* beyond 5 J, 2 s and 12 J mixed at 3 W: 1, 2, 6 */
        { way_of(OUT, 1, 0, 0, 0), 7, 2 }, /* 2, 0, 1 */
        { way_of(OUT, 1, 1, 2, 4), 6, 3 }, /* 1, 1, 3; the loop goes along the second dimension */
        { way_of(OUT, 0, 0, 0, 0), 9, 1 }, /* another pattern, of 8 J, 1 s and 10: 1, 0, 2 */
    };
    const row also_made[] = { { way_of(OUT, 1, 0, 0, 0), 5.5, 7 } };
    bench b;

    (void)state;
    set_bench(&b);
    b.goal = (dfl_goal){ .n_mixes = 1, .rate = { 3 } };
    give_pattern(&b, MAKER, 0, 1, 5, 2, 12);
    give_pattern(&b, MAKER, 0, 0, 8, 1, 10);
    give_rows(&b, MAKER, made, 4);
    expect_more(&b, KNOWN, way_of(IN, 1, 0, 0, 0), 1, 0, 1); /* the least of two rows, measure by measure */
    expect_more(&b, KNOWN, way_of(IN, 1, 1, 1, 4), 1, 1, 3);
    expect_more(&b, KNOWN, way_of(IN, 0, 0, 0, 0), 1, 0, 2);
    expect_more(&b, KNOWN, way_of(IN, 1, 1, 1, 2), NAN, 0, 0); /* other iterations, another dimension, another memory */
    expect_more(&b, KNOWN, way_of(IN, 1, 1, 0, 4), NAN, 0, 0);
    expect_more(&b, KNOWN, way_of(IN, 2, 0, 0, 0), NAN, 0, 0);
    expect_more(&b, 0, way_of(IN, 2, 0, 0, 0), 0, 0, 0); /* as long as nothing is known */

    /* the operand of a neighbour that another operand is of as well is looked at, but not counted again */
    b.at[USER].repeated = 1u << IN;
    expect_more(&b, KNOWN, way_of(IN, 1, 0, 0, 0), 0, 0, 0);
    expect_more(&b, KNOWN, way_of(IN, 2, 0, 0, 0), NAN, 0, 0);
    b.at[USER].repeated = 0;
    b.classes.plain = true;
    expect_more(&b, KNOWN, way_of(IN, 1, 0, 0, 0), 0, 0, 0);
    b.classes.plain = false;

    /* some einsums of the class have the operand from here, others from there */
    partner(&b, USER, IN, OTHER, OUT);
    b.classes.at.n = CLASSES;
    give_pattern(&b, OTHER, 0, 1, 5, 2, 12);
    give_rows(&b, OTHER, also_made, 1); /* 0.5, 5, 14.5 */
    expect_more(&b, KNOWN, way_of(IN, 1, 0, 0, 0), 0.5, 0, 1);
    expect_more(&b, KNOWN, way_of(IN, 1, 1, 1, 4), 1, 1, 3);
    dfl_arena_free(b.arena);
}

static void loops_are_wanted_that_some_way_has(void **state)
{
    const row made[] = { { way_of(OUT, 1, 1, 2, 4), 6, 3 }, { way_of(OUT, 0, 0, 0, 0), 9, 1 } };
    dfl_compatibility f = { .class = USER, .known = 1u << IN };
    bench b;

    (void)state;
    set_bench(&b);
    give_pattern(&b, MAKER, 0, 1, 5, 2, 0);
    give_rows(&b, MAKER, made, 2);
    f.classes = &b.classes;
    assert_true(dfl_einsum_classes_loop_wanted(&f, &b.problem[USER], IN, 1, 1, 4));
    assert_false(dfl_einsum_classes_loop_wanted(&f, &b.problem[USER], IN, 1, 1, 2));
    assert_false(dfl_einsum_classes_loop_wanted(&f, &b.problem[USER], IN, 1, 0, 4));
    assert_false(dfl_einsum_classes_loop_wanted(&f, &b.problem[USER], IN, 0, 1, 4));
    assert_true(dfl_einsum_classes_loop_wanted(&f, &b.problem[USER], OUT, 7, 1, 3)); /* of which nothing is known */
    dfl_arena_free(b.arena);
}

/* Where einsums are connected in one way only, a row costs more by what is further away, too. */
static void more_adds_up_along_a_tree(void **state)
{
    const row made[] = { { way_of(OUT, 1, 0, 0, 0), 7, 2 } }; /* 2 J beyond the least */
    static const bool trees[] = { false, true };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        row used = { way_of(IN, 1, 0, 0, 0), 14, 3 }; /* 4 J and 1 s beyond */
        dfl_way way = way_of(IN, 2, 0, 0, 0);
        dfl_compatibility f = { .class = LAST, .known = 1u << IN };
        dfl_criteria more;
        bench b;
        set_bench(&b);
        used.way.memory[OUT] = 2;
        b.classes.tree = trees[i];
        give_pattern(&b, MAKER, 0, 1, 5, 2, 0);
        give_pattern(&b, USER, 1, 2, 10, 2, 0);
        give_rows(&b, MAKER, made, 1);
        b.at[USER].filter.known = 1u << IN;
        give_rows(&b, USER, &used, 1);
        f.classes = &b.classes;
        assert_true(dfl_einsum_classes_wanted(&f, &b.problem[LAST], &way, &more));
        assert_true(more.at[DFL_COST_JOULES] == (trees[i] ? 6 : 4));
        assert_true(more.at[DFL_COST_SECONDS] == 1);
        dfl_arena_free(b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_begin_where_least_is_free),
        cmocka_unit_test(ways_cost_more_than_the_least),
        cmocka_unit_test(loops_are_wanted_that_some_way_has),
        cmocka_unit_test(more_adds_up_along_a_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
