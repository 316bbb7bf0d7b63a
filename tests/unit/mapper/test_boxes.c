/* Boxes of amounts: those that divide (rule D5), and those of written lines (rules D6, D7). */
#include "mapper/tiling/box.h"
#include "mapper/tiling/written.h"
#include "tests/unit/mapper/cuts.h"
#include "tests/unit/mapper/job.h"

/* Rank of 60 elements: a loop, a loop whose tile is the product of the parts below, and an axis of 8. `low`, `high`: limits of
   the amounts, 0 = none. `want_low`, `want_high`: ends of the box, 0 if no box is possible. */
typedef struct {
    const char *name;
    dfl_chain_cut at[3];
    int last;
    int64_t low[3], high[3], want_low[3], want_high[3];
} divisor_row;

static const divisor_row DIVISORS[] = {
    { "parts divide the extent", { T(0), T(1), X(1, 0) }, 1, { 0 }, { 0 }, { 1, 1, 1 }, { 60, 6, 6 } },
    { "ends move inwards", { T(0), T(1), X(1, 0) }, 1, { 7, 0, 0 }, { 59, 0, 0 }, { 10, 1, 1 }, { 30, 6, 6 } },
    { "parts divide a tile that is known", { T(0), T(1), X(1, 0) }, 1, { 15, 0, 0 }, { 15, 0, 0 }, { 15, 1, 1 }, { 15, 5, 5 } },
    { "four parts of 15: five", { T(0), T(1), X(1, 0) }, 1, { 15, 0, 4 }, { 15, 0, 0 }, { 15, 5, 5 }, { 15, 5, 5 } },
    { "a tile holds the parts below it", { T(0), T(1), X(1, 0) }, 1, { 0, 0, 4 }, { 0 }, { 4, 4, 4 }, { 60, 6, 6 } },
    { "no tile of 14", { T(0), T(1), X(1, 0) }, 1, { 14, 0, 0 }, { 14, 0, 0 }, { 0 }, { 0 } },
    { "parts leave the tile below: at most 60 / 15", { X(0, 0), T(1), T(2) }, 2, { 0, 15, 0 }, { 0 }, { 1, 15, 1 },
      { 4, 60, 1 } },
    { "a tile divides what parts leave: 60 / 4", { X(0, 0), T(1), T(2) }, 2, { 4, 4, 0 }, { 4, 0, 0 }, { 4, 5, 1 },
      { 4, 15, 1 } },
};

static void divides(void **state)
{
    const divisor_row *row = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_problem problem = { .n_ranks = 1, .extent = { 60 }, .n_axes = 1, .axis = { { .size = 8 } } };
    const dfl_amounts divisors = dfl_divisors(arena, 60);
    dfl_chain chain = { .extent = 60, .n = 3, .last = row->last };
    const dfl_form form = { .problem = &problem, .chain = &chain, .divisors = &divisors };

    memcpy(chain.at, row->at, sizeof row->at);
    const dfl_box *b = dfl_box_within(arena, &form, 0, row->low, row->high);
    assert_int_equal(b->is_possible, row->want_low[0] != 0);
    for (uint32_t i = 0; i < 3 && b->is_possible; i++) {
        assert_int_equal(b->low[i], row->want_low[i]);
        assert_int_equal(b->high[i], row->want_high[i]);
    }
    dfl_arena_free(arena);
}

/* 60 in loops of 30 in gap 0, two tiles; then of 5 in gap 1, six tiles; then 5 parts (rule D6). */
static void cuts_of_lines(void **state)
{
    (void)state;
    const dfl_problem problem = { .n_ranks = 1, .extent = { 60 }, .n_axes = 1, .axis = { { .size = 8 } } };
    const dfl_tiling_template skeleton = { .n_keeps = 2 };
    dfl_chain chain = { .extent = 60, .n = 3, .at = { T(0), T(1), X(1, 0) }, .last = 1 };
    const dfl_form form = { .problem = &problem, .skeleton = &skeleton, .chain = &chain };
    int64_t cut[6] = { 0 }, parts[2] = { 0 };

    dfl_box_cuts(&form, 0, (const int64_t[]){ 30, 5, 5 }, 2, cut, parts);
    assert_int_equal(cut[0], 2);
    assert_int_equal(cut[2], 6);
    assert_int_equal(cut[4], 1);
    assert_int_equal(parts[0], 5);
}

/* The lines r:?, r/8 on an axis, and r, for 12 elements (rule D7): tiles 12, 6, 4 .. go with 8, 6, 4 .. parts; a part of 12 has
   two. Parts of a loop that may not divide are not known. */
static void sizes_of_lines(void **state)
{
    (void)state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_problem problem = { .n_ranks = 1, .extent = { 12 }, .n_axes = 1, .axis = { { .size = 8 } } };
    const dfl_hole hole = { .by = DFL_BY_SIZE };
    const dfl_line lines[3] = { { .by = DFL_BY_HOLE, .hole = &hole }, { .by = DFL_BY_PARTS, .amount = 8 },
                                { .by = DFL_BY_SIZE, .amount = 1 } };
    dfl_fixed_skeleton form = { .n = 3, .slot = { { .kind = DFL_GIVEN_TEMPORAL, .line = &lines[0] },
                                                  { .kind = DFL_GIVEN_SPATIAL, .line = &lines[1] },
                                                  { .kind = DFL_GIVEN_TEMPORAL, .line = &lines[2] } } };
    const dfl_tiling_template skeleton = { .form = &form };
    const dfl_written_amounts *all = dfl_written_list(arena, &problem, &skeleton, false);
    dfl_chain chain = { .n = 0 };

    assert_true(dfl_written_is_whole(&skeleton));
    assert_true(dfl_written_chain(&problem, &skeleton, 0, &chain));
    assert_int_equal(chain.n, 3);
    assert_int_equal(chain.last, 2);
    assert_non_null(all);
    assert_int_equal(all->at[0][0].n, 6); /* 1, 2, 3, 4, 6, 12 */
    assert_int_equal(all->at[0][1].n, 8);
    assert_true(dfl_written_admits(&problem, &skeleton, 0, (const int64_t[]){ 6, 6, 1 }, false));
    assert_false(dfl_written_admits(&problem, &skeleton, 0, (const int64_t[]){ 6, 8, 1 }, false));
    assert_true(dfl_written_admits(&problem, &skeleton, 0, (const int64_t[]){ 12, 8, 1 }, false)); /* two elements in a part */
    assert_false(dfl_written_admits(&problem, &skeleton, 0, (const int64_t[]){ 5, 5, 1 }, false));
    form.slot[1].kind = DFL_GIVEN_TEMPORAL;
    assert_null(dfl_written_list(arena, &problem, &skeleton, false));
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_of_lines), cmocka_unit_test(sizes_of_lines),
    };
    int failed = CHECK_TABLE("mapper.boxes.divisors", DIVISORS, divides);

    return CHECK_GROUP("mapper.boxes", tests) + failed;
}
