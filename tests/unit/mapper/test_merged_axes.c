/* Merged axes (B16): which axes merge, factorings of their parts, and bounds against chains with both axes. */
#include "mapper/tiling/box.h"
#include "mapper/tiling/merge.h"
#include "tests/harness/draw.h"
#include "tests/unit/mapper/cuts.h"
#include "tests/unit/mapper/job.h"

/* Sizes of two axes of one array, parts of three ranks, and whether some factoring has them. */
typedef struct {
    const char *name;
    int64_t size[2], parts[3];
    bool fits;
} factor_row;

static const factor_row FACTORS[] = {
    { "4 x 3 and 2 x 5: 8 and 15 parts", { 8, 15 }, { 4, 2, 15 }, true },
    { "17 is no product of numbers up to 16", { 16, 16 }, { 17, 1, 1 }, false },
    { "13 and 11 stand on an axis each", { 16, 16 }, { 13, 11, 1 }, true },
    { "13, 11 and 2 do not", { 16, 16 }, { 13, 11, 2 }, false },
    { "6 = 2 x 3 fills up both axes", { 8, 9 }, { 6, 4, 3 }, true },
};

/* A problem with two axes, which are merged. */
static const dfl_merge *merge_of(dfl_arena *arena, uint32_t n_ranks, const int64_t *size)
{
    dfl_problem *problem = DFL_NEW(arena, dfl_problem);

    *problem = (dfl_problem){ .n_ranks = n_ranks, .n_axes = 2, .axis = { { .size = size[0], .ranks = 7, .upto = 3 },
                                                                         { .size = size[1], .ranks = 7, .upto = 3 } } };
    return dfl_merge_make(arena, problem);
}

static void factors(void **state)
{
    const factor_row *row = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_merge *merge = merge_of(arena, 3, row->size);

    assert_non_null(merge);
    assert_int_equal(merge->problem->n_axes, 1);
    assert_int_equal(merge->problem->axis[0].size, row->size[0] * row->size[1]);
    assert_int_equal(dfl_merge_fits(merge, 0, row->parts), row->fits);
    dfl_arena_free(arena);
}

/* Axes with a memory between, or that share transfers of other operands, stay apart. */
static void stays_apart(void **state)
{
    (void)state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_problem problem = { .n_ranks = 1, .n_axes = 2, .axis = { { .size = 4, .upto = 3 }, { .size = 4, .upto = 3 } },
                            .n_places = 2, .place = { { .axes = 0 }, { .axes = 3 } } };

    assert_non_null(dfl_merge_make(arena, &problem));
    problem.place[1].axes = 1;
    assert_null(dfl_merge_make(arena, &problem));
    problem.place[1].axes = 3;
    problem.axis[0].shared = 1;
    assert_null(dfl_merge_make(arena, &problem));
    problem.axis[1].shared = 1;
    problem.axis[1].joules = 1;
    assert_null(dfl_merge_make(arena, &problem));
    problem.axis[1].joules = 0;
    problem.windows = true;
    assert_null(dfl_merge_make(arena, &problem));
    dfl_arena_free(arena);
}

/* 5 elements on 2 x 3: five parts are no product, six are, and leave one element each; 7 on 2 x 2 leave two. Parts may be more than
   elements, for the sake of other ranks: 3 elements on 4 x 4 have up to 16. */
static void cuts_to_single_elements(void **state)
{
    static const struct { int64_t size[2], extent, most; } ROWS[] = { { { 2, 3 }, 5, 6 }, { { 2, 2 }, 7, 4 }, { { 4, 4 }, 3, 16 } };

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        const dfl_merge *merge = merge_of(arena, 1, ROWS[i].size);
        dfl_chain chain = { .extent = ROWS[i].extent, .n = 2, .at = { X(0, 0), T(0) }, .last = 1 };
        const dfl_form form = { .problem = merge->problem, .chain = &chain, .merge = merge };
        const dfl_box *b = dfl_box_make(arena, &form, 0);
        assert_true(b->is_possible);
        assert_int_equal(b->low[0], 1);
        assert_int_equal(b->high[0], ROWS[i].most);
        dfl_arena_free(arena);
    }
}

/* Bounds of a chain with merged axes against chains with both axes. */
static void holds_for_all_factorings(void **state)
{
    static const int64_t SIZE[2] = { 3, 4 };
    dfl_arena *arena = dfl_arena_new(NULL);
    uint64_t seed = 17;
    int tried = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const dfl_merge *merge = merge_of(arena, 1, SIZE);
        const int64_t extent = 2 + draw(&seed, 40), low = 1 + draw(&seed, 12), high = low + draw_amount(&seed, 13 - low);
        const int64_t a = 1 + draw(&seed, 3), b = 1 + draw(&seed, 4);
        const int64_t outer = 1 + draw_amount(&seed, extent), tile = 1 + draw_amount(&seed, extent);
        const bool exact = draw(&seed, 2) == 1;
        dfl_chain merged = { .extent = extent, .n = 3, .at = { T(0), X(0, 0), T(1) }, .last = -1 };
        dfl_chain real = { .extent = extent, .n = 4, .at = { T(0), X(0, 0), X(0, 0), T(1) }, .last = -1 };
        static const dfl_chain_kind KINDS[] = { DFL_CHAIN_PIECES, DFL_CHAIN_ELEMENTS, DFL_CHAIN_TILE, DFL_CHAIN_STAYS };
        const dfl_chain_figure f = { KINDS[draw(&seed, 4)], 1, 0, (uint8_t)draw(&seed, 2) };
        const int64_t lows[3] = { exact ? outer : 1, low, exact ? tile : 1 }, highs[3] = { outer, high, tile };
        double bound, got;
        (void)dfl_chain_ask(arena, &merged, f);
        (void)dfl_chain_ask(arena, &real, f);
        if (a * b >= low && a * b <= high) {
            (void)dfl_merge_bound(arena, merge, &merged, lows, highs, &bound);
            dfl_chain_count(&real, (const int64_t[]){ outer, a, b, tile }, &got);
            assert_true(f.kind == DFL_CHAIN_STAYS ? bound >= got : bound <= got);
            tried++;
        }
        dfl_arena_reset(arena);
    }
    assert_true(tried > 300);
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_apart), cmocka_unit_test(cuts_to_single_elements), cmocka_unit_test(holds_for_all_factorings),
    };
    int failed = CHECK_TABLE("mapper.merged_axes.factors", FACTORS, factors);

    return CHECK_GROUP("mapper.merged_axes", tests) + failed;
}
