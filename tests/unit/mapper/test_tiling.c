/*
 * The search by boxes: chains by hand and element by element, bounds of boxes against their points, costs of forms against the
 * model, and claims against mappings that exist.
 */
#include <stdio.h>

#include "mapper/problem/evaluate.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/box_trim.h"
#include "mapper/tiling/box_search.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/merge.h"
#include "mapper/tiling/point.h"
#include "mapper/tiling/wider.h"
#include "mapper/tiling/written.h"
#include "tests/unit/mapper/job.h"

/* ---- chains by hand ---- */

typedef struct {
    const char *name;
    int64_t extent;
    uint32_t n;
    dfl_chain_cut at[4];
    int64_t amount[4];
    dfl_chain_figure figure;
    double want;
} chain_row;

#define T(g) { .gap = (g), .axis = -1 }
#define X(g, a) { .gap = (g), .axis = (a) }
static const chain_row CHAINS[] = {
    { "12 in tiles of 6, then 4: 4 + 2, twice", 12, 2, { T(0), T(1) }, { 6, 4 }, { DFL_CHAIN_PIECES, 1, 0, 0 }, 4 },
    { "12 in tiles of 8, then 4: 2 and 1", 12, 2, { T(0), T(1) }, { 8, 4 }, { DFL_CHAIN_PIECES, 1, 0, 0 }, 3 },
    { "gaps behind do not count", 12, 2, { T(0), T(1) }, { 8, 4 }, { DFL_CHAIN_PIECES, 0, 0, 0 }, 2 },
    { "10 on 4 parts: 3, 3, 3, 1", 10, 1, { X(0, 0) }, { 4 }, { DFL_CHAIN_PIECES, 0, 0, 1 }, 4 },
    { "coordinate 0 of 4 has 3", 10, 1, { X(0, 0) }, { 4 }, { DFL_CHAIN_ELEMENTS, 0, 0, 0 }, 3 },
    { "coordinate 0 of each tile: 2 + 2 + 2", 10, 2, { T(0), X(0, 0) }, { 4, 2 }, { DFL_CHAIN_ELEMENTS, 0, 0, 0 }, 6 },
    { "tile of 9 in 4 parts", 9, 1, { X(0, 0) }, { 4 }, { DFL_CHAIN_TILE, 0, 0, 0 }, 3 },
    { "a tile is no larger than the one around it", 12, 2, { T(0), T(1) }, { 3, 5 }, { DFL_CHAIN_TILE, 1, 0, 0 }, 3 },
    { "parts on one of two axes", 12, 2, { X(0, 0), X(0, 1) }, { 3, 2 }, { DFL_CHAIN_PARTS, 0, 0, 2 }, 2 },
    { "10 in 4, 4, 2: tiles of 2 cut the first two", 10, 2, { T(0), T(1) }, { 4, 2 }, { DFL_CHAIN_STAYS, 1, 0, 0 }, 2 },
    { "tiles of 3 leave 1 of each 4, and 2 stays", 10, 2, { T(0), T(1) }, { 4, 3 }, { DFL_CHAIN_STAYS, 1, 0, 0 }, 2 },
    { "nothing stays where full tiles are not cut", 10, 2, { T(0), T(1) }, { 4, 4 }, { DFL_CHAIN_STAYS, 1, 0, 0 }, 0 },
    { "windows: tiles of 4 of 10 are 3 passes", 10, 2, { T(0), T(1) }, { 4, 2 }, { DFL_CHAIN_RUNS, 1, 0, 0 }, 3 },
    { "with no gap above there is one pass", 10, 2, { T(0), T(1) }, { 4, 2 }, { DFL_CHAIN_RUNS, 1, DFL_CHAIN_TOP, 0 }, 1 },
    { "a pass on each of 3 coordinates", 10, 2, { T(0), X(1, 0) }, { 4, 3 }, { DFL_CHAIN_RUNS, 1, 0, 1 }, 9 },
    { "with no gap above tiles of 4 leave nothing", 10, 2, { T(0), T(1) }, { 4, 2 }, { DFL_CHAIN_STAYS, 1, DFL_CHAIN_TOP, 0 },
      0 },
    { "full tiles are cut", 10, 2, { T(0), T(1) }, { 4, 2 }, { DFL_CHAIN_CUTS_FULL, 1, 0, 0 }, 1 },
    { "full tiles are not cut", 10, 2, { T(0), T(1) }, { 4, 4 }, { DFL_CHAIN_CUTS_FULL, 1, 0, 0 }, 0 },
};

static dfl_chain chain_of(dfl_arena *arena, const chain_row *row)
{
    dfl_chain c = { .extent = row->extent, .n = row->n, .last = -1 };

    memcpy(c.at, row->at, sizeof row->at);
    assert_int_equal(dfl_chain_ask(arena, &c, row->figure), 0);
    return c;
}

static void counts(void **state)
{
    const chain_row *row = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_chain c = chain_of(arena, row);
    double out;

    dfl_chain_count(&c, row->amount, &out);
    assert_close(out, row->want, 0);
    dfl_arena_free(arena);
}

/* ---- bounds by hand ---- */

typedef struct {
    const char *name;
    int64_t extent;
    uint32_t n;
    dfl_chain_cut at[4];
    int64_t low[4], high[4];
    dfl_chain_figure figure;
    double want;
} bound_row;

static const bound_row BOUNDS[] = {
    { "12 in tiles of 3 to 5: at least 3 (B1)", 12, 1, { T(0) }, { 3 }, { 5 }, { DFL_CHAIN_PIECES, 0, 0, 0 }, 3 },
    { "the finer of two cuts", 12, 2, { T(0), T(1) }, { 2, 1 }, { 5, 4 }, { DFL_CHAIN_PIECES, 1, 0, 0 }, 3 },
    { "the coarser one cuts, too", 12, 2, { T(0), T(1) }, { 2, 1 }, { 5, 12 }, { DFL_CHAIN_PIECES, 1, 0, 0 }, 3 },
    { "pieces on 2 to 4 parts", 12, 1, { X(0, 0) }, { 2 }, { 4 }, { DFL_CHAIN_PIECES, 0, 0, 1 }, 2 },
    { "coordinate 0 of 2 to 4 parts (B1)", 12, 1, { X(0, 0) }, { 2 }, { 4 }, { DFL_CHAIN_ELEMENTS, 0, 0, 0 }, 3 },
    { "its iterations: 3 elements in tiles of 2",
      12, 2, { X(0, 0), T(1) }, { 2, 1 }, { 4, 2 }, { DFL_CHAIN_PIECES, 1, 0, 0 }, 2 },
    { "least tile", 12, 2, { T(0), X(0, 0) }, { 4, 2 }, { 9, 3 }, { DFL_CHAIN_TILE, 0, 0, 0 }, 2 },
    { "101 in two tiles of 60 to 70: 31 to 41 are left, 20 have room", 101, 2, { T(0), T(1) }, { 60, 1 }, { 70, 20 },
      { DFL_CHAIN_STAYS, 1, 0, 0 }, 0 },
    { "101 in two tiles of 60 to 70: 41 are left at most (B4)", 101, 2, { T(0), T(1) }, { 60, 1 }, { 70, 50 },
      { DFL_CHAIN_STAYS, 1, 0, 0 }, 41 },
    { "of two or more tiles one has at most half (B4)",
      101, 2, { T(0), T(1) }, { 2, 1 }, { 80, 60 }, { DFL_CHAIN_STAYS, 1, 0, 0 }, 50.5 },
    { "one tile has no short piece", 101, 2, { T(0), T(1) }, { 101, 1 }, { 101, 50 }, { DFL_CHAIN_STAYS, 1, 0, 0 }, 0 },
    { "34 in 30 and 4: the 4 stay, and coordinate 0 of 4 parts has one of them", 34, 4, { T(0), T(1), X(1, 0), X(1, 1) },
      { 30, 4, 4, 6 }, { 30, 4, 4, 6 }, { DFL_CHAIN_STAYS, 1, 0, 2 }, 1 },
    { "26 in 16 and 10, then 12: the 10 stay, on 10 coordinates", 26, 3, { T(0), T(1), X(1, 0) }, { 16, 12, 12 }, { 16, 12, 12 },
      { DFL_CHAIN_STAYS, 1, 0, 1 }, 10 },
    { "axes behind the loops leave nothing that these do not cut", 32, 3, { T(0), T(1), X(1, 0) }, { 16, 7, 3 }, { 16, 7, 3 },
      { DFL_CHAIN_STAYS, 1, 0, 1 }, 0 },
    { "3 or 4 parts of 30: tiles of at most 4 cut all (B4)", 30, 2, { X(0, 0), T(1) }, { 3, 1 }, { 4, 4 },
      { DFL_CHAIN_STAYS, 1, 0, 1 }, 0 },
    { "3 or 4 parts of 30: the last one has 5 or more, and stays in tiles of 5", 30, 2, { X(0, 0), T(1) }, { 3, 1 }, { 4, 5 },
      { DFL_CHAIN_STAYS, 1, 0, 1 }, 5 },
    { "passes over 101 in tiles of 10 to 20, at most (B11)", 101, 2, { T(0), T(1) }, { 10, 1 }, { 20, 5 },
      { DFL_CHAIN_RUNS, 1, 0, 0 }, 11 },
    { "tiles of at most 3 cut tiles of 4", 12, 2, { T(0), T(1) }, { 4, 1 }, { 6, 3 }, { DFL_CHAIN_CUTS_FULL, 1, 0, 0 }, 1 },
    { "tiles of 4 may be whole", 12, 2, { T(0), T(1) }, { 4, 1 }, { 6, 4 }, { DFL_CHAIN_CUTS_FULL, 1, 0, 0 }, 0 },
};

static void bounds(void **state)
{
    const bound_row *row = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    chain_row as = { .extent = row->extent, .n = row->n, .figure = row->figure };
    dfl_chain c;
    double out;

    memcpy(as.at, row->at, sizeof as.at);
    c = chain_of(arena, &as);
    dfl_chain_bound(&c, row->low, row->high, &out);
    assert_close(out, row->want, 0);
    dfl_arena_free(arena);
}

/* ---- random chains, element by element ---- */

static uint64_t random_state = 17;

static int64_t draw(int64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(random_state >> 33) % n;
}

enum { EXTENT = 12, CUTS = 4 };

/* Where an element goes: by cut, the number of its tile, or its coordinate. */
typedef struct { int64_t at[CUTS]; } path;

static path path_of(const dfl_chain *c, const int64_t *amount, int64_t element)
{
    int64_t full = c->extent;
    path p = { { 0 } };

    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t tile = c->at[i].axis >= 0 ? (full + amount[i] - 1) / amount[i] : amount[i] < full ? amount[i] : full;
        p.at[i] = element / tile;
        element %= tile;
        full = tile;
    }
    return p;
}

static bool is_equal(const dfl_chain *c, const path *a, const path *b, int gap)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].gap <= gap && a->at[i] != b->at[i])
            return false;
    return true;
}

/* A figure by looking at every element. */
static double look(const dfl_chain *c, const int64_t *amount, const dfl_chain_figure *f)
{
    path all[EXTENT];
    double pieces = 0, elements = 0, stays = 0, largest = 0, runs = 0;
    bool cuts = false;
    uint32_t n = 0;

    for (int64_t e = 0; e < c->extent; e++) {
        bool counted = true;
        all[n] = path_of(c, amount, e);
        for (uint32_t i = 0; i < c->n; i++)
            counted &= c->at[i].axis < 0 || (f->axes >> c->at[i].axis & 1) || all[n].at[i] == 0 ||
                       (f->kind != DFL_CHAIN_ELEMENTS && c->at[i].gap > f->gap);
        n += counted;
    }
    for (uint32_t a = 0; a < n; a++) {
        double size = 0, whole = 0;
        bool is_first = true, is_cut = false, begins = true;
        for (uint32_t b = 0; b < n; b++) {
            if (is_equal(c, &all[a], &all[b], f->gap)) {
                is_first &= b >= a;
                size++;
            }
            for (uint32_t i = 0; i < c->n; i++) /* a loop behind gap `from` cuts a piece */
                is_cut |= c->at[i].axis < 0 && c->at[i].gap > f->from && c->at[i].gap <= f->gap && all[a].at[i] != all[b].at[i] &&
                    is_equal(c, &all[a], &all[b], c->at[i].gap - 1);
            if (is_equal(c, &all[a], &all[b], f->from)) {
                begins &= b >= a;
                whole++;
            }
        }
        pieces += is_first;
        runs += begins;
        elements++;
        largest = size > largest ? size : largest;
        stays += !is_cut;
        cuts |= is_cut;
    }
    switch (f->kind) {
    case DFL_CHAIN_PIECES: return pieces;
    case DFL_CHAIN_ELEMENTS: return elements;
    case DFL_CHAIN_TILE: return largest;
    case DFL_CHAIN_STAYS: return cuts ? stays : 0;
    case DFL_CHAIN_CUTS_FULL: return cuts;
    case DFL_CHAIN_RUNS: return runs;
    case DFL_CHAIN_PARTS: break;
    }
    return 1;
}

/* Loops and axes; of RUNS, axes only in the first gaps. */
static void draw_chain(dfl_arena *arena, dfl_chain *c, dfl_chain_figure *f)
{
    static const dfl_chain_kind KINDS[] = { DFL_CHAIN_PIECES, DFL_CHAIN_ELEMENTS, DFL_CHAIN_TILE, DFL_CHAIN_STAYS,
                                            DFL_CHAIN_CUTS_FULL, DFL_CHAIN_RUNS };

    *c = (dfl_chain){ .extent = 2 + draw(EXTENT - 1), .n = 2 + (uint32_t)draw(CUTS - 1), .last = -1 };
    *f = (dfl_chain_figure){ .kind = KINDS[draw(6)], .gap = (uint8_t)draw(c->n), .axes = (uint8_t)draw(4) };
    f->from = f->kind >= DFL_CHAIN_STAYS ? (uint8_t)draw(f->gap + 1) : 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const bool may_be_axis = f->kind == DFL_CHAIN_TILE ? false : f->kind != DFL_CHAIN_RUNS || i <= f->from;
        c->at[i] = (dfl_chain_cut){ .gap = (uint8_t)i, .axis = may_be_axis ? (int8_t)(draw(4) - 2) : -1 };
        if (c->at[i].axis < -1 || (i > 0 && c->at[i].axis >= 0 && c->at[i - 1].axis == c->at[i].axis))
            c->at[i].axis = -1;
    }
    (void)dfl_chain_ask(arena, c, *f);
}

/* ---- merged axes (B16) ---- */

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
    int tried = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const dfl_merge *merge = merge_of(arena, 1, SIZE);
        const int64_t extent = 2 + draw(40), low = 1 + draw(12), high = low + draw(13 - low), a = 1 + draw(3), b = 1 + draw(4);
        const int64_t outer = 1 + draw(extent), tile = 1 + draw(extent), exact = draw(2);
        dfl_chain merged = { .extent = extent, .n = 3, .at = { T(0), X(0, 0), T(1) }, .last = -1 };
        dfl_chain real = { .extent = extent, .n = 4, .at = { T(0), X(0, 0), X(0, 0), T(1) }, .last = -1 };
        static const dfl_chain_kind KINDS[] = { DFL_CHAIN_PIECES, DFL_CHAIN_ELEMENTS, DFL_CHAIN_TILE, DFL_CHAIN_STAYS };
        const dfl_chain_figure f = { KINDS[draw(4)], 1, 0, (uint8_t)draw(2) };
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

/* ---- boxes of amounts that divide (rule D5) ---- */

/* Rank of 60 elements: a loop, a loop whose tile is the product of the parts below, and an axis of 8. `low`, `high`: limits of
   the box, 0 = none; then the ends of the box. An impossible box has ends 0. */
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

/* The lines r:?, r/8 on an axis, and r, for 12 elements (rule D7): tiles 12, 6, 4 .. go with 8, 6, 4 .. parts; a part of 12 has two. Parts of a loop that
   may not divide are not known. */
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

static void counts_as_elements_say(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t amount[CUTS];
        dfl_chain c;
        dfl_chain_figure f;
        double got;
        draw_chain(arena, &c, &f);
        for (uint32_t i = 0; i < c.n; i++)
            amount[i] = 1 + draw(c.extent);
        dfl_chain_count(&c, amount, &got);
        if (f.kind == DFL_CHAIN_RUNS) /* pieces at most */
            assert_true(got >= look(&c, amount, &f));
        else
            assert_close(got, look(&c, amount, &f), 0);
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

static void holds_for_all_points(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (int round = 0; round < 3000; round++) {
        int64_t low[CUTS], high[CUTS], amount[CUTS];
        dfl_chain c;
        dfl_chain_figure f;
        double bound, got;
        draw_chain(arena, &c, &f);
        for (uint32_t i = 0; i < c.n; i++) {
            low[i] = 1 + draw(c.extent);
            high[i] = low[i] + draw(c.extent - low[i] + 1);
        }
        dfl_chain_bound(&c, low, high, &bound);
        for (int point = 0; point < 60; point++) {
            for (uint32_t i = 0; i < c.n; i++)
                amount[i] = low[i] + draw(high[i] - low[i] + 1);
            dfl_chain_count(&c, amount, &got);
            assert_true(f.kind == DFL_CHAIN_STAYS || f.kind == DFL_CHAIN_RUNS ? bound >= got : bound <= got);
        }
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

/* ---- forms against the model ---- */

#define SYSTEM                                                                                                            \
    "dfl 1; workload w : i8 { rank m = 7, n = 6, k = 10; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "           \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; "                                                                   \
    "memory dram { size = 1MB; bandwidth = 1GB/s; energy = 10pJ/bit; } "                                                   \
    "memory sram { size = 200B; bandwidth = 4GB/s; energy = 1pJ/bit; } "                                                   \
    "array x[4] { memory reg { size = 16B; bandwidth = 10MB/s; energy = 0.1pJ/bit; } "                                     \
    "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } } } "                                               \
    "mapping best for w on chip { option overlap = perfect; on mac; keep A, B, Z in dram; "

/* Lines below the homes; amounts by rank and cut; what the bound of the point is, in energy, compared with the model. */
typedef struct {
    const char *name, *lines;
    int64_t amount[3][4];
    double above;               /* energy of the model over that of the bound */
} point_row;

static const point_row POINTS[] = {
    { "one keep, tiles that divide", "temporal m, k; keep A in sram; temporal n; minimize energy; }",
      { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 1 },
    { "ragged tiles of the operand",
      "temporal n:4; keep B in sram; temporal m:3, k:4; keep A in sram; temporal m, n, k; minimize energy; }",
      { { 3, 1, 1 }, { 4, 1, 1 }, { 4, 1, 1 } }, 1 },
    { "partial sums go back (B2)",
      "temporal k:4; keep B in sram; temporal m:2; keep Z in sram; temporal m, n, k; minimize energy; }",
      { { 2, 1, 1 }, { 1, 1 }, { 4, 1, 1 } }, 1 },
    { "140 + 50 + 10 bytes fill sram (B5)",
      "temporal n:5; keep Z in sram; keep B in sram; temporal m; keep A in sram; temporal n, k; minimize energy; }",
      { { 1, 1 }, { 5, 1, 1 }, { 1, 1 } }, 1 },
    { "4 parts fill an axis (B5)",
      "temporal k:4; keep B in sram; temporal m:2; spatial n/4 on x; keep Z in reg; temporal m, n, k; minimize energy; }",
      { { 2, 1, 1 }, { 4, 1 }, { 4, 1, 1 } }, 1 },
    { "k in 4, 4, 2, then 2: the last 2 stay while n advances (B4)",
      "temporal k:4; keep B in sram; temporal n:2; keep Z in sram; temporal k:2; keep A in sram; temporal m, n, k; "
      "minimize energy; }", { { 1, 1 }, { 2, 1, 1 }, { 4, 2, 1, 1 } }, 1 },
    { "A stays while n advances: the keep further out has this count (D1), the bound counts A twice more",
      "temporal n:2; keep A in sram; temporal m, n, k; minimize energy; }",
      { { 1, 1 }, { 2, 1, 1 }, { 1, 1 } }, 298522.0 / 310842 },
    { "A further out, with what it moves (D1)", "keep A in sram; temporal m, n, k; minimize energy; }",
      { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 1 },
    { "latency of the unit", "temporal k:5; keep B in sram; temporal m, n, k; minimize latency; }",
      { { 1, 1 }, { 1, 1 }, { 5, 1, 1 } }, 1 },
    { "latency of a port", "temporal m; keep Z in sram; temporal n:2; keep B in sram; temporal n, k; minimize latency; }",
      { { 1, 1 }, { 2, 1, 1 }, { 1, 1 } }, 1 },
    { "latency of the ports of one instance of three (B3)",
      "temporal k:5; keep B in sram; temporal m:2; spatial n/3 on x; keep Z in reg; temporal m, n, k; minimize latency; }",
      { { 2, 1, 1 }, { 3, 1 }, { 5, 1, 1 } }, 1 },
};

/* A template with the axes of the lines, too. */
static void set_axes(const dfl_problem *problem, const dfl_mapping *m, dfl_tiling_template *t)
{
    uint32_t keeps = 0;

    t->axis_gap[0] = (uint8_t)t->n_keeps;
    for (uint32_t g = 0; g <= t->n_keeps; g++)
        t->allow[g] = 0;
    for (uint32_t i = dfl_body_count_homes(m->root); i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP)
            keeps++;
        else if (line->kind == DFL_LINE_SPATIAL)
            t->axis_gap[0] = (uint8_t)keeps;
        else
            t->allow[keeps] |= 1u << dfl_problem_find_rank(problem, line->rank);
    }
}

/* The box of one point, on the way from the root: no bound on the way may be above that of the point. */
static dfl_box *find_point(dfl_arena *arena, const dfl_form *f, uint32_t rank, const int64_t *amounts)
{
    dfl_box *b = dfl_box_make(arena, f, rank);

    while (!b->is_point) {
        const dfl_box *lower = dfl_box_half(arena, f, rank, b, 0);
        const uint32_t cut = b->widest;
        b = dfl_box_half(arena, f, rank, b, amounts[cut] > lower->high[cut] || !lower->is_possible);
        assert_true(b->is_possible);
    }
    for (uint32_t i = 0; i < f->chain[rank].n; i++)
        assert_int_equal(b->low[i], amounts[i]);
    return b;
}

static double bound_of(const dfl_box_costs *costs, const dfl_form *f, dfl_box *const *boxes)
{
    double others[DFL_FORM_PRODUCTS];

    return dfl_box_multiply(f, boxes, 0, others) ? dfl_box_bound(costs, f, boxes, 0, others) : INFINITY;
}

static void costs_as_the_model_says(void **state)
{
    const point_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_terms *terms = DFL_NEW(s->arena, dfl_terms);
    char text[2000];
    dfl_tiling_template t;
    dfl_objective objective;
    const int64_t *amounts[3];
    dfl_box *boxes[3], *roots[3];
    dfl_problem problem;
    double bound, value;

    snprintf(text, sizeof text, "%s%s", SYSTEM, row->lines);
    const dfl_mapping *m = open_problem(s, text, &limits, &problem);
    problem_template(&problem, m, &t);
    set_axes(&problem, m, &t);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    const dfl_form *f = dfl_form_make(s->arena, &problem, &t, terms);
    const dfl_box_costs costs = { .objective = &objective };
    dfl_point *p = dfl_point_make(s->arena, s->names, m, f, DFL_NONE);
    for (uint32_t r = 0; r < 3; r++) {
        amounts[r] = row->amount[r];
        roots[r] = dfl_box_make(s->arena, f, r);
        boxes[r] = find_point(s->arena, f, r, amounts[r]);
    }
    bound = bound_of(&costs, f, boxes);
    value = dfl_point_value(p, &objective, amounts);
    assert_true(isfinite(bound));
    assert_close(value, bound * row->above, 1e-12);
    assert_true(bound_of(&costs, f, roots) <= bound * (1 + 1e-12));
    dfl_point_free(p);
    dfl_session_free(s);
}

/* ---- programs by hand (B22) ---- */

/* Lines as above, and the least energy over all amounts, pJ: what the program of the form says of the whole range. */
typedef struct {
    const char *name, *lines;
    double least;
} program_row;

static const program_row PROGRAMS[] = {
    /* A and B: 420 * 8 bits * 10 pJ each; Z: 420 writes and 378 reads of 32 bits; 420 * 0.1 */
    { "no keeps", "temporal m, n, k; minimize energy; }", 322602 },
    /* A: 70 elements from dram and into sram, 420 reads there */
    { "A is fetched once, if n is not cut above", "temporal n; keep A in sram; temporal m, n, k; minimize energy; }", 298522 },
    /* 12 elements of Z have room, so n or m is cut; A and B from dram, Z in sram: 420 writes, 378 reads, 42 writes at home */
    { "Z stays during k", "temporal m, n; keep Z in sram; temporal m, n, k; minimize energy; }",
      2 * 33600 + 32 * 798 + 32 * 42 * 11 + 42 },
};

static void programs(void **state)
{
    const program_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    const dfl_geometric_effort effort = { .precision = 1e-4, .cutoff = INFINITY, .steps = 60 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_geometric_draft *draft = DFL_NEW(s->arena, dfl_geometric_draft);
    dfl_geometric_solution *found = DFL_NEW(s->arena, dfl_geometric_solution);
    dfl_geometric_box range;
    dfl_tiling_template t;
    dfl_objective objective;
    dfl_form_goal goal;
    dfl_box *roots[3];
    char text[2000];
    dfl_problem problem;

    snprintf(text, sizeof text, "%s%s", SYSTEM, row->lines);
    const dfl_mapping *m = open_problem(s, text, &limits, &problem);
    problem_template(&problem, m, &t);
    set_axes(&problem, m, &t);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_true(dfl_form_goal_make(&objective, 0, &goal));
    const dfl_form *f = dfl_form_make(s->arena, &problem, &t, DFL_NEW(s->arena, dfl_terms));
    for (uint32_t r = 0; r < 3; r++)
        roots[r] = dfl_box_make(s->arena, f, r);
    dfl_form_program *p = dfl_form_program_make(s->arena, draft, f, roots, &goal);
    assert_non_null(p);
    dfl_form_program_fit(p, roots, &range);
    dfl_geometric_solve(p->program, &range, NULL, &effort, found);
    assert_true(dfl_form_goal_bound(&goal, found->bound) <= row->least * 1e-12 * (1 + 1e-12));
    assert_true(dfl_form_goal_bound(&goal, found->bound) >= row->least * 1e-12 * 0.999);
    dfl_session_free(s);
}

/* ---- trimmed boxes (B21, B23) ---- */

/* A is fetched N times, once for each tile of n above it: 292,362 + 6,160 N pJ, least 298,522. The plane touches ln (energy) at
   N = 1 and has the slope -6,160 / 298,522 in ln (tile). `cutoff`: energy, pJ; `least`: the least tile of n that is left. */
typedef struct {
    const char *name;
    double cutoff;
    int64_t least;
} trim_row;

static const trim_row TRIMS[] = {
    /* ln (304682 / 298522) = 0.0204: tiles from 6 * e^-0.99 = 2.2 on, with the energy of two fetches */
    { "twice (B23)", 304682, 3 },
    /* 0.001: tiles from 6 * e^-0.048 = 5.7 on */
    { "hardly more than once", 298522 * 1.001, 6 },
    /* 0.22: all */
    { "far above", 298522 * 1.25, 1 },
};

static void trims(void **state)
{
    const trim_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    const dfl_geometric_effort effort = { .precision = 1e-6, .cutoff = INFINITY, .steps = 60 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_geometric_draft *draft = DFL_NEW(s->arena, dfl_geometric_draft);
    dfl_geometric_solution *found = DFL_NEW(s->arena, dfl_geometric_solution);
    dfl_geometric_box range;
    dfl_tiling_template t;
    dfl_objective objective;
    dfl_form_goal goal;
    dfl_box *boxes[3];
    char text[2000];
    dfl_problem problem;

    snprintf(text, sizeof text, "%s%s", SYSTEM, PROGRAMS[1].lines);
    const dfl_mapping *m = open_problem(s, text, &limits, &problem);
    problem_template(&problem, m, &t);
    set_axes(&problem, m, &t);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_true(dfl_form_goal_make(&objective, 0, &goal));
    const dfl_form *f = dfl_form_make(s->arena, &problem, &t, DFL_NEW(s->arena, dfl_terms));
    for (uint32_t r = 0; r < 3; r++)
        boxes[r] = dfl_box_make(s->arena, f, r);
    dfl_form_program *p = dfl_form_program_make(s->arena, draft, f, boxes, &goal);
    assert_non_null(p);
    dfl_form_program_fit(p, boxes, &range);
    dfl_geometric_solve(p->program, &range, NULL, &effort, found);
    assert_true(dfl_box_trim_node(s->arena, &(dfl_box_trim){ p, &found->plane, &range,
                                                             dfl_form_goal_cutoff(&goal, row->cutoff * 1e-12) }, boxes));
    assert_int_equal(boxes[1]->low[0], row->least);
    assert_int_equal(boxes[1]->high[0], 6);
    dfl_session_free(s);
}

/* ---- time before the first step and after the last one: B6, B7, B8, D3 ---- */

#define RAMPS                                                                                                             \
    "dfl 1; workload w : i8 { rank m = 7, n = 6, k = 10; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "           \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; "                                                                   \
    "memory dram { size = 1MB; latency = 20ns; read { bandwidth = 1GB/s; } write { bandwidth = 2GB/s; } } "                \
    "memory sram { size = 800B; latency = 3ns; %s } "                                                                      \
    "compute mac { ops = mac; rate = 1MAC/cycle; launch = 30ns; } }%s "                                                    \
    "mapping best for w on chip { %s on mac; keep A, B, Z in dram; %s minimize latency; }"

/* `sram`: attributes; lines as above; time of the bound of the point and of the model, ns. */
typedef struct {
    const char *name, *sram, *option, *lines;
    int64_t amount[3][4];
    double bound, model;
} ramp_row;

static const ramp_row RAMP_ROWS[] = {
    /* launch 30, A in 20 + 70, its first operand 3, 420 steps, Z out 20 + 42 * 4 / 2. The model: first of B 20 */
    { "first tile, last tile (B19)", "buffers = 2;", "", "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } },
      647, 664 },
    /* the work waits for A, 70, and for Z, 84, which leaves behind it over the port for writes; latencies 23 and 20 */
    { "waits and latencies", "", "", "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 647, 664 },
    /* A in 70, and beside none of it Z out, 42 * 4 / 2 = 84, at the advances */
    { "first tiles beside what waits for the result (B19)", "} memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n; keep Z in reg; temporal k;", { { 1 }, { 1 }, { 1 } }, 647, 2304 },
    /* A waits for reg 420 / 0.5 = 840, beside the first 60 of B, in the same level; then Z out, 84. The
       model: 420 passes of 3 + 1; 419 advances in 20 + 2; first tiles in 20 + 61, the last one out in 20 + 84 */
    { "first tiles of one level (B15)", "buffers = 2; } memory reg { size = 12B; write { bandwidth = 0.5GB/s; }", "",
      "keep B, Z in sram; temporal m, n, k; keep A in reg;", { { 1 }, { 1 }, { 1 } }, 1417, 11113 },
    /* the unit reads A and 9 of 10 times Z out of sram: (420 + 378 * 4) / 0.5 = 3864 (B17); A is in after 70, Z out in
       168 / 0.5 */
    { "what waits for one port beside the last tile (B19)", "read { bandwidth = 0.5GB/s; }", "",
      "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 4343, 4360 },
    /* launch 30, 420 steps, latencies 20 and 20; B enters reg for 4 and for 3 rows, in 60 each; the last tile of Z has one row at
       least, 4 / 2. The model: 120 passes, at each of which A waits 20, and B 20 + 1 */
    { "a ragged last tile (B19)", "buffers = 2; } memory reg { size = 12B;", "",
      "temporal m:4, n; keep Z in sram; temporal k; keep B in reg; temporal m;", { { 4, 1 }, { 1 }, { 1 } }, 612, 5409.5 },
    { "nothing with perfect overlap but the launch", "", "option overlap = perfect;", "keep A, Z in sram; temporal m, n, k;",
      { { 1 }, { 1 }, { 1 } }, 520, 520 },
    /* launch 30, first operand 20; Z is read 9 of 10 times: 420 * (1 + 1 + 4 * 0.9) = 2352 at the port for reads */
    { "no keeps", "", "", "temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 2402, 2402 },
    { "no keeps, but one could be filled ahead (B17)", "buffers = 2;", "", "temporal m, n, k;", { { 1 }, { 1 }, { 1 } },
      2402, 2402 },
    /* launch 30, A and B 840 (B17), first operand 20, Z out 20 + 4 / 2 */
    { "a stream", "buffers = 2; overlap = stream;", "", "temporal m, n; keep Z in sram; temporal k;", { { 1 }, { 1 }, { 1 } },
      912, 912 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. A waits for sram 70 * 3 / 4 = 52.5, Z for writes to dram 42 * 4 / 2 = 84; at
       each of 2 * 7 * 3 advances A, of 4 B at most, takes 1 beside Z: 587.5. Z, and the first 70 of A
       out of dram, are more (B15) */
    { "two ports by turns (B9)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n:2; keep Z in reg; temporal k; keep A in reg; temporal n;", { { 1 }, { 2, 1 }, { 1 } },
      647.25, 5921.5 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. A waits for sram 420 / 4 = 105; its first 70 elements leave dram in 70
       (B15), the last one of Z enters it in 2 (B19). The model: 420 passes of 20 + 1; 378 advances of A alone in 3 + 1 / 4, 41
       with Z in 20 + 3 + 2; first tiles in 20 + 70 and 3.25, the last one out in 22 */
    { "first tiles at another port (B15)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n:1; keep Z in reg; temporal k; keep A in reg;", { { 1 }, { 1 }, { 1 } }, 670, 11218.75 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20; Z leaves in 42 * 4 / 2 = 84, behind the first 60 of B (B19). The
       model: first tiles in 20 + 60, 42 passes of 10 + 20, 41 advances and the end in 20 + 2 */
    { "first tiles before the result leaves (B19)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep B in sram; temporal m, n; keep Z in reg; temporal k;", { { 1 }, { 1 }, { 1 } }, 637, 2294 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. The second visits of Z read 42 * 4 = 168 out of dram, behind the first tiles
       of B and A, 60 and 35 (B14), and before the last element of Z, 2 (B19). The model: first tiles in 20 + 95, 84 passes of
       5 + 3; 41 advances with Z out in 20 + 2, 42 with Z out and in, in 40 + 4; the last one out in 22 */
    { "first tiles at a port that waits (B14)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep B in sram; temporal k:5; keep A in sram; temporal m, n; keep Z in reg; temporal k;",
      { { 1 }, { 1 }, { 5, 1 } }, 758, 3589 },
    /* the same without A in sram: 420 of A, with the first one, 168 of Z, the first 30 of B and 2 for the last of Z. The model:
       first tiles in 20 + 31, side by side in one level, 420 passes of 1 + 3; 336 advances of A alone in 20 + 1, 41 with Z out in 40 + 2, 42 with Z
       out and in, in 40 + 5; the last one out in 22 */
    { "first tiles that wait count once (B14)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "temporal k:5; keep B in sram; temporal m, n; keep Z in reg; temporal k; keep A in reg;",
      { { 1 }, { 1 }, { 5, 1 } }, 1113, 12451 },
    /* launch 30, A and B 840 (B17), latencies 20 and 20. Z leaves the two instances in 21 * 4 each, and enters dram in 42 * 4 / 2
       meanwhile */
    { "last tiles of two instances (B19)",
      "} network wires = bus { } array x[2] over wires { memory reg { size = 84B; read { bandwidth = 1GB/s; }",
      "", "spatial n/2 on x; keep Z in reg; temporal m, n, k;", { { 1, 1 }, { 2, 1 }, { 1, 1 } }, 994, 994 },
    /* the first operand comes over two links of 5 */
    { "no keeps behind a network",
      "} network wires = switch { latency = 5ns; } array x[2] over wires { memory reg { size = 9B;", "",
      "temporal m, n, k;", { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 2412, 2412 },
};

static void check_ramp(const char *text, const int64_t (*amount)[4], double bound, double model)
{
    const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_tiling_template t;
    dfl_objective objective;
    const int64_t *amounts[3];
    dfl_box *boxes[3];
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s, text, &limits, &problem);

    problem_template(&problem, m, &t);
    set_axes(&problem, m, &t);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    const dfl_form *f = dfl_form_make(s->arena, &problem, &t, DFL_NEW(s->arena, dfl_terms));
    const dfl_box_costs costs = { .objective = &objective, .ramp = dfl_ramp_make(s->arena, s->names, m, f) };
    dfl_point *p = dfl_point_make(s->arena, s->names, m, f, DFL_NONE);
    for (uint32_t r = 0; r < 3; r++) {
        amounts[r] = amount[r];
        boxes[r] = find_point(s->arena, f, r, amounts[r]);
    }
    assert_close(bound_of(&costs, f, boxes), bound * 1e-9, 1e-12);
    assert_int_equal(dfl_ramp_time_is_counted(m, &problem), m->options.overlap_perfect);
    assert_close(dfl_point_value(p, &objective, amounts), model * 1e-9, 1e-12);
    dfl_point_free(p);
    dfl_session_free(s);
}

static void ramps(void **state)
{
    const ramp_row *row = *state;
    char text[2000];

    snprintf(text, sizeof text, RAMPS, row->sram, strchr(row->sram, '[') != NULL ? " }" : "", row->option, row->lines);
    check_ramp(text, row->amount, row->bound, row->model);
}

/* ---- the longest step: B24 ---- */

/* 4 rows of Z at a time: 2 * 32 B of A, 2 * 16 B of Z and 2 B of B fill 98 B of sram, and a step works for 4 ns. */
#define STEPS                                                                                                             \
    "dfl 1; workload w : i8 { rank m = 4, n = 6, k = 8; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "            \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; memory dram { size = 1MB; %s } "                                     \
    "memory sram { size = %s; buffers = 2; } compute mac { ops = mac; rate = 1MAC/cycle; } } "                             \
    "mapping best for w on chip { on mac; keep A, B, Z in dram; keep A in sram; temporal n; keep Z in sram; temporal k; "  \
    "keep B in sram; temporal m; minimize latency; }"

/* `dram`: attributes; time of the bound of the point and of the model, ns. */
typedef struct {
    const char *name, *dram, *size;
    double bound, model;
} step_row;

static const step_row STEP_ROWS[] = {
    /* A in 32, Z out 96; two of 8 values of k are in the steps beside: 4 * 6 * (8 - 2) = 144. The model: A and B in 33, 192 steps,
       Z and B beside 5 steps 17 - 4, the last of Z 16 */
    { "results that leave within one step (B24)", "bandwidth = 1GB/s;", "98B", 272, 306 },
    /* A and B in 33, 192 steps, the last of Z 16 */
    { "results that leave beside the work (B24)", "read { bandwidth = 1GB/s; } write { bandwidth = 1GB/s; }", "98B", 241, 241 },
    /* the same, as in another mapping B may have 9 elements, so all 8 of k in a step */
    { "room for longer steps (B24)", "bandwidth = 1GB/s;", "114B", 241, 306 },
};

static void longest_steps(void **state)
{
    static const int64_t AMOUNTS[3][4] = { { 1 }, { 1 }, { 1 } };
    const step_row *row = *state;
    char text[2000];

    snprintf(text, sizeof text, STEPS, row->dram, row->size);
    check_ramp(text, AMOUNTS, row->bound, row->model);
}

/* The result of a search over all tile sizes for the only mapping of a file; it belongs to the session. */
static const dfl_filled *fill_any_tiles(dfl_session *s, const char *text)
{
    const dfl_search_options options = { .size = sizeof options, .imperfect = true, .spread = true };
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled;

    dfl_session_set_search(s, &options);
    filled = dfl_session_fill(s, open_mapping(s, text), &stopped);
    assert_non_null(filled);
    return filled;
}

/* ---- claims against mappings that exist ---- */

/* Searches whose points are not the best mappings: a keep that saves no transfer may save a wait (D2). */
typedef struct {
    const char *name, *text;
    double known;               /* the value of a mapping outside of the skeletons */
} claim_row;

static const claim_row CLAIMS[] = {
    { "44 J in the skeletons, 43 J if both operands are fetched early, 1 W of leakage (D2)",
      "dfl 1; workload w : bits(8) { rank a = 2; input A[]; weight B[a]; output Z[a] = A[] * B[a]; } system chip { "
      "memory m0 { size = unlimited; latency = 1s; leakage = 1W; energy = 1J/bit; } memory m1 { size = 2B; energy = 0J/bit; } "
      "memory m2 { size = 2B; energy = 0J/bit; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize energy; }", 43 },
    { "1440 J s in the skeletons, 1360 J s with an operand that is fetched early (D2)",
      "dfl 1; workload w : bits(8) { rank a = 2, c = 2, d = 2; input A[a] : bits(4); weight B[c, d]; "
      "output Z[a, c, d] = A[a] * B[c, d]; } system chip { memory m0 { size = unlimited; latency = 1s; energy = 1J/bit; } "
      "memory m1 { size = 1B; energy = 0J/bit; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize energy * latency; }", 1360 },
    /* out of m0 A takes 10, B 1; B takes 10 into m1 */
    { "20 s in the skeletons, 11.1 s if A moves into m2 beside B (B17)",
      "dfl 1; workload w : bits(8) { rank a = 10; input A[a]; weight B[]; output Z[a] = A[a] * B[]; } system chip { "
      "memory m0 { size = unlimited; read { bandwidth = 1B/s; } } "
      "memory m1 { size = 1B; holds = weight; write { bandwidth = 0.1B/s; } } "
      "memory m2 { size = 10B; holds = input; } compute unit { rate { mac = 100MAC/s; flop = 100FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize latency; }", 11.1 },
};

static void claims(void **state)
{
    const claim_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, row->text);

    assert_true(filled->search->lower_bound <= row->known);
    assert_true(filled->search->lower_bound <= filled->search->value);
    dfl_session_free(s);
}

/* A GEMM whose lower bound is final long before all points are evaluated, so that 24,000 nodes are split in place of
   172,000 (D2). */
static void settles(void **state)
{
    static const char text[] =
        "dfl 1; workload w : i8 { rank m = 1000, n = 1009, k = 197; input A[m, k]; weight B[k, n]; output Z[m, n] : i32 += "
        "A[m, k] * B[k, n]; } system chip { clock = 1GHz; memory dram { size = unlimited; bandwidth = 16GB/s; energy = 15pJ/bit; } "
        "memory pad { size = 256KiB; holds = input, weight; buffers = 2; bandwidth = 64B/cycle; energy = 0.1pJ/bit; } "
        "memory sums { size = 64KiB; holds = output; overlap = stream; read { bandwidth = 64B/cycle; } "
        "write { bandwidth = 64B/cycle; } energy = 0.1pJ/bit; } network net = mesh { multicast = col; reduce = row; } "
        "array row[16], col[16] over net { memory reg { size = 2B; holds = weight; buffers = 2; energy = 0pJ/bit; } "
        "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } } } mapping best for w on chip { ...; }";
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, text);
    (void)state;

    assert_false(filled->search->optimal);
    assert_true(filled->search->lower_bound <= filled->search->value);
    assert_non_null(strstr(filled->search->unproven, "the lower bound cannot rise"));
    assert_true(filled->search->value <= 5.6694e-7); /* that of the search which evaluates all of them */
    assert_true(filled->search->evaluated < 60000);
    dfl_session_free(s);
}

/* ---- searches whose bound is tight ---- */

typedef struct {
    const char *name, *text;
    double value;
} tight_row;

static const tight_row TIGHT[] = {
    /* one point on each of two instances, behind the link of a bus, 2 s */
    { "links behind a home that is a stream (B6)",
      "dfl 1; workload w : bits(8) { rank a = 2; input T0[a]; weight T1[a]; output T2[a] = T0[a] * T1[a]; } "
      "system chip { memory m0 { size = unlimited; buffers = 2; overlap = stream; } network net0 = bus { latency = 2s; } "
      "array x[3] over net0 { compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } } "
      "mapping best for w on chip { ...; minimize latency; }", 3 },
    /* the bus takes 12 bytes in and 6 out: 9 s, after the first 3 s, also if T0 or T1 are kept in m1 outside of it; 144 bits of
       7 J and 6 points of 1 J */
    { "links between one more keep and the unit (B17)",
      "dfl 1; workload w : bits(8) { rank a = 6; input T0[a]; weight T1[a]; output T2[a] = T0[a] + T1[a]; } "
      "system chip { memory m0 { size = unlimited; buffers = 2; energy = 5J/bit; } "
      "memory m1 { size = 8B; ports = shared; energy = 2J/bit; } "
      "network net0 = bus { bandwidth = 2B/s; latency = 3s; energy = 2J/bit; } array x[3] over net0 { "
      "compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } energy { mac = 1J/MAC; flop = 1J/FLOP; } } } } "
      "mapping best for w on chip { ...; minimize energy * latency; }", 12168 },
};

static void tight(void **state)
{
    const tight_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, row->text);

    assert_close(filled->search->value, row->value, 1e-9 * row->value);
    assert_true(filled->search->optimal);
    dfl_session_free(s);
}

/* ---- wider tiles ---- */

/* A enters in 16 beside a step of 16 with 2 of Z at 3 advances of m: 16 + 384 + 3 * 2 + 2. With steps of 32 nothing waits, and
   the last tile of Z has 4: 404. */
static void widens(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    dfl_objective objective;
    dfl_box_result out = { .value = 408e-9 };

    out.mapping = dfl_mapping_copy(s->arena, open_mapping(s,
        "dfl 1; workload w : i8 { rank m = 8, n = 6, k = 8; input A[m, k]; input B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; } "
        "system chip { clock = 1GHz; memory rom { size = 1MB; } memory dram { size = 1MB; bandwidth = 1GB/s; } "
        "memory sram { size = 40B; buffers = 2; } compute mac { ops = mac; rate = 1MAC/cycle; } } "
        "mapping best for w on chip { on mac; keep B in rom; keep A, Z in dram; temporal m:2; keep A in sram; temporal n:1; "
        "keep Z in sram; temporal m, k; minimize latency; }"));
    assert_true(dfl_objective_make(s->sink, s->names, out.mapping, &objective));
    assert_close(dfl_mapping_value(NULL, s->names, out.mapping, &objective), 408e-9, 1e-12);
    dfl_box_widen(s->arena, s->names, &objective, true, &out);
    assert_close(out.value, 404e-9, 1e-12);
    assert_close(out.seconds, 404e-9, 1e-12);
    assert_close(dfl_mapping_value(NULL, s->names, out.mapping, &objective), 404e-9, 1e-12);
    assert_true(dfl_mapping_divides(NULL, s->names, out.mapping));
    dfl_session_free(s);
}

/* ---- operands that the unit holds (rule D8) ---- */

/* 2 x 3 points, 8 bits and 1 J/bit each: 6 results written, 48 J; what is read depends on what the unit holds. */
typedef struct {
    const char *name, *reuse;
    double joules;
} held_row;

static const held_row HELD[] = {
    { "both operands at each step: 2 * 6 * 8 J", "", 48 + 96 },
    { "W stays while b advances: 2 + 6 reads", "operand_reuse = W; ", 48 + 64 },
    { "X stays while a advances: 3 + 6 reads", "operand_reuse = X; ", 48 + 72 },
    { "one of both stays: 2 + 6 reads", "operand_reuse = X, W; ", 48 + 64 },
};

static void holds(void **state)
{
    const held_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    char text[512];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload w : bits(8) { rank a = 2, b = 3; input X[b]; weight W[a]; output Z[a, b] = X[b] * W[a]; } "
                   "system chip { memory m { size = unlimited; energy = 1J/bit; } compute unit { %s"
                   "rate { mac = 1MAC/s; flop = 1FLOP/s; } } } mapping best for w on chip { ...; minimize energy; }", row->reuse);
    const dfl_filled *filled = fill_any_tiles(s, text);
    assert_close(filled->search->value, row->joules, 1e-9);
    assert_close(filled->search->lower_bound, row->joules, 1e-9);
    assert_true(filled->search->optimal);
    dfl_session_free(s);
}

/* ---- links of networks (lemma B18) ---- */

/* 8 elements of 4 bits in and 4 of 8 bits out over links of 1 B/s; units take no time to speak of. */
typedef struct {
    const char *name, *network;
    double seconds, bound;
} link_row;

static const link_row LINKS[] = {
    { "4 B down, 4 B up side by side", "crossbar { bandwidth = 1B/s; }", 4, 4 },
    { "a bus carries both", "bus { bandwidth = 1B/s; }", 8, 8 },
    { "links between neighbours carry nothing if one instance works", "mesh { bandwidth = 1B/s; }", 0.04, 0.02 },
    { "no limit", "bus { energy = 1J/bit; }", 0.02, 0.02 },
};

static void links(void **state)
{
    const link_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload w : bits(8) { rank a = 4; input X[a] : bits(4); input Y[a] : bits(4); "
                   "output Z[a] = X[a] + Y[a]; } "
                   "system chip { memory m { size = unlimited; energy = 1J/bit; } network net = %s array x[2] over net { "
                   "compute unit { rate { mac = 100MAC/s; flop = 100FLOP/s; } } } } mapping best for w on chip { "
                   "option overlap = perfect; ...; minimize latency; }", row->network);
    const dfl_filled *filled = fill_any_tiles(s, text);
    assert_close(filled->search->value, row->seconds, 1e-9);
    assert_close(filled->search->lower_bound, row->bound, 1e-9);
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_as_elements_say), cmocka_unit_test(holds_for_all_points), cmocka_unit_test(cuts_of_lines),
        cmocka_unit_test(sizes_of_lines), cmocka_unit_test(stays_apart), cmocka_unit_test(cuts_to_single_elements),
        cmocka_unit_test(holds_for_all_factorings), cmocka_unit_test(settles), cmocka_unit_test(widens),
    };
    int failed = CHECK_TABLE("mapper.tiling.chains", CHAINS, counts);

    failed += CHECK_TABLE("mapper.tiling.bounds", BOUNDS, bounds);
    failed += CHECK_TABLE("mapper.tiling.factors", FACTORS, factors);
    failed += CHECK_TABLE("mapper.tiling.divisors", DIVISORS, divides);
    failed += CHECK_TABLE("mapper.tiling.points", POINTS, costs_as_the_model_says);
    failed += CHECK_TABLE("mapper.tiling.programs", PROGRAMS, programs);
    failed += CHECK_TABLE("mapper.tiling.trims", TRIMS, trims);
    failed += CHECK_TABLE("mapper.tiling.ramps", RAMP_ROWS, ramps);
    failed += CHECK_TABLE("mapper.tiling.tight", TIGHT, tight);
    failed += CHECK_TABLE("mapper.tiling.longest_step", STEP_ROWS, longest_steps);
    failed += CHECK_TABLE("mapper.tiling.claims", CLAIMS, claims);
    failed += CHECK_TABLE("mapper.tiling.held", HELD, holds);
    failed += CHECK_TABLE("mapper.tiling.links", LINKS, links);
    return CHECK_GROUP("mapper.tiling", tests) + failed;
}
