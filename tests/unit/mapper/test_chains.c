/* Chains of cuts by hand and element by element, and the bounds of their figures in boxes against the points of the boxes. */
#include "tests/harness/draw.h"
#include "tests/unit/mapper/cuts.h"
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
static void draw_chain(uint64_t *seed, dfl_arena *arena, dfl_chain *c, dfl_chain_figure *f)
{
    static const dfl_chain_kind KINDS[] = { DFL_CHAIN_PIECES, DFL_CHAIN_ELEMENTS, DFL_CHAIN_TILE, DFL_CHAIN_STAYS,
                                            DFL_CHAIN_CUTS_FULL, DFL_CHAIN_RUNS };

    *c = (dfl_chain){ .extent = 2 + draw_amount(seed, EXTENT - 1), .n = 2 + draw(seed, CUTS - 1), .last = -1 };
    *f = (dfl_chain_figure){ .kind = KINDS[draw(seed, 6)], .gap = (uint8_t)draw(seed, c->n), .axes = (uint8_t)draw(seed, 4) };
    f->from = f->kind >= DFL_CHAIN_STAYS ? (uint8_t)draw(seed, f->gap + 1u) : 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const bool may_be_axis = f->kind == DFL_CHAIN_TILE ? false : f->kind != DFL_CHAIN_RUNS || i <= f->from;
        c->at[i] = (dfl_chain_cut){ .gap = (uint8_t)i, .axis = may_be_axis ? (int8_t)((int)draw(seed, 4) - 2) : -1 };
        if (c->at[i].axis < -1 || (i > 0 && c->at[i].axis >= 0 && c->at[i - 1].axis == c->at[i].axis))
            c->at[i].axis = -1;
    }
    (void)dfl_chain_ask(arena, c, *f);
}

static void counts_as_elements_say(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    uint64_t seed = 17;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t amount[CUTS];
        dfl_chain c;
        dfl_chain_figure f;
        double got;
        draw_chain(&seed, arena, &c, &f);
        for (uint32_t i = 0; i < c.n; i++)
            amount[i] = 1 + draw_amount(&seed, c.extent);
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
    uint64_t seed = 17;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        int64_t low[CUTS], high[CUTS], amount[CUTS];
        dfl_chain c;
        dfl_chain_figure f;
        double bound, got;
        draw_chain(&seed, arena, &c, &f);
        for (uint32_t i = 0; i < c.n; i++) {
            low[i] = 1 + draw_amount(&seed, c.extent);
            high[i] = low[i] + draw_amount(&seed, c.extent - low[i] + 1);
        }
        dfl_chain_bound(&c, low, high, &bound);
        for (int point = 0; point < 60; point++) {
            for (uint32_t i = 0; i < c.n; i++)
                amount[i] = low[i] + draw_amount(&seed, high[i] - low[i] + 1);
            dfl_chain_count(&c, amount, &got);
            assert_true(f.kind == DFL_CHAIN_STAYS || f.kind == DFL_CHAIN_RUNS ? bound >= got : bound <= got);
        }
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_as_elements_say), cmocka_unit_test(holds_for_all_points),
    };
    int failed = CHECK_TABLE("mapper.chains.counts", CHAINS, counts);

    failed += CHECK_TABLE("mapper.chains.bounds", BOUNDS, bounds);
    return CHECK_GROUP("mapper.chains", tests) + failed;
}
