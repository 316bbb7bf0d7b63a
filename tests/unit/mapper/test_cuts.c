/*
 * Ways to cut a rank into factors for the loop gaps, and dominance between them: by hand, and all small tables compared
 * with the definition. In front of the gaps of one mask a transfer repeats for each iteration above the gap. In front
 * of the gaps of the other mask a tile shrinks with the number of iterations above the gap. Some way of the table must
 * dominate each way that the table omits.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/divisors/divisors_internal.h"

enum { MOST_GAPS = 3 };

typedef struct {
    const char *name;
    int64_t left;
    uint32_t n_gaps, needs, costs, rooms;
    uint32_t n;
    int64_t cut[8][MOST_GAPS];
} cuts_case;

static const cuts_case cases[] = {
    { "all count", 4, 2, 0, 2, 2, 3, { { 1, 4 }, { 2, 2 }, { 4, 1 } } },
    { "nothing moves between", 4, 2, 0, 0, 2, 1, { { 4, 1 } } },
    { "nothing takes room between", 4, 2, 0, 2, 0, 1, { { 1, 4 } } },
    { "nothing is between", 4, 2, 0, 0, 0, 1, { { 1, 4 } } },
    { "a loop that must be there, where longer ones cost", 6, 2, 1, 2, 0, 2, { { 2, 3 }, { 3, 2 } } },
    { "a loop that must be there, of a square", 4, 2, 1, 2, 0, 1, { { 2, 2 } } },
    { "a loop that must be there, and longer ones stand above", 8, 2, 2, 0, 2, 1, { { 4, 2 } } },
    { "two loops that must be there", 8, 2, 3, 2, 2, 2, { { 2, 4 }, { 4, 2 } } },
    { "a single element", 1, 2, 0, 2, 2, 1, { { 1, 1 } } },
    { "a loop over a single element", 1, 2, 1, 2, 2, 0, { { 0 } } },
    { "no gap, a single element", 1, 0, 0, 0, 0, 1, { { 1 } } },
    { "no gap, several elements", 2, 0, 0, 0, 0, 0, { { 0 } } },
    { "three gaps", 2, 3, 0, 6, 6, 3, { { 1, 1, 2 }, { 1, 2, 1 }, { 2, 1, 1 } } },
    { "of three gaps the second moves nothing", 2, 3, 0, 4, 6, 2, { { 1, 1, 2 }, { 2, 1, 1 } } },
    { "of three gaps the second is all that counts", 2, 3, 0, 2, 4, 1, { { 1, 2, 1 } } },
    { "a prime", 7, 2, 0, 2, 2, 2, { { 1, 7 }, { 7, 1 } } },
};

typedef struct {
    dfl_arena *arena, *scratch;
    dfl_search *s;
    dfl_deadline halt;
    dfl_budget budget;
    dfl_tile_goal goal;
    dfl_problem problem;
    dfl_tiling_template form;
    dfl_spatial spread;
} bench;

static void open_bench(bench *b)
{
    memset(b, 0, sizeof *b);
    b->arena = dfl_arena_new(NULL);
    b->scratch = dfl_arena_new(NULL);
    b->halt.budget = &b->budget;
    b->goal.halt = &b->halt;
    b->problem.n_ranks = 1;
    b->s = DFL_NEW(b->arena, dfl_search);
    b->s->rows = dfl_pareto_set_new(b->arena, b->scratch);
    b->s->goal = &b->goal;
    b->s->problem = &b->problem;
    b->s->t = &b->form;
    b->s->now = &b->spread;
    b->s->shared_by[0] = 1;
}

static void close_bench(const bench *b)
{
    dfl_arena_free(b->arena);
    dfl_arena_free(b->scratch);
}

static const dfl_cuts *cuts_of(bench *b, int64_t left, uint32_t n_gaps, uint32_t needs, uint32_t costs, uint32_t rooms)
{
    b->spread.left[0] = left;
    b->s->divisors[0] = dfl_divisors(b->arena, left);
    b->s->own_gaps[0] = n_gaps;
    b->s->own_needs[0] = needs;
    b->s->own_costs[0] = costs;
    b->s->own_rooms[0] = rooms;
    return dfl_cuts_of(b->s, 0);
}

static void lists_cuts(void **state)
{
    const cuts_case *c = *state;
    bench b;
    const dfl_cuts *got;

    open_bench(&b);
    got = cuts_of(&b, c->left, c->n_gaps, c->needs, c->costs, c->rooms);
    assert_int_equal(got->count, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t g = 0; g < c->n_gaps; g++)
            assert_int_equal(got->cut[i][g], c->cut[i][g]);
    assert_ptr_equal(cuts_of(&b, c->left, c->n_gaps, c->needs, c->costs, c->rooms), got);
    close_bench(&b);
}

/* Whether the cut `a` is at least as good as the cut `other`: at each gap with a cost, the product of its factors up to the gap
   is not larger, and at each gap with a limit on room not smaller. */
static bool beats(const int64_t *a, const int64_t *other, const dfl_cuts *c)
{
    int64_t of_a = 1, of_b = 1;

    for (uint32_t g = 0; g < c->n_gaps; g++) {
        if ((c->costs >> g & 1 && of_a > of_b) || (c->rooms >> g & 1 && of_a < of_b))
            return false;
        of_a *= a[g];
        of_b *= other[g];
    }
    return true;
}

/* Enumerates all ways from gap `g` on and counts those that no way of the table dominates. */
static uint32_t unbeaten(const dfl_cuts *c, uint32_t g, int64_t left, int64_t *cut)
{
    uint32_t n = 0;

    if (g == c->n_gaps) {
        bool beaten = left != 1;
        for (uint32_t i = 0; i < c->count && !beaten; i++)
            beaten = beats(c->cut[i], cut, c);
        return !beaten;
    }
    for (int64_t d = 1 + (c->needs >> g & 1); d <= left; d++)
        if (left % d == 0) {
            cut[g] = d;
            n += unbeaten(c, g + 1, left / d, cut);
        }
    return n;
}

static void leaves_out_what_is_beaten(void **state)
{
    static const int64_t lefts[] = { 1, 2, 4, 6, 8, 12, 30 };
    bench b;
    uint32_t dropped = 0;

    (void)state;
    open_bench(&b);
    for (size_t l = 0; l < sizeof lefts / sizeof *lefts; l++)
        for (uint32_t n_gaps = 1; n_gaps <= MOST_GAPS; n_gaps++)
            for (uint32_t all = 0; all < 1u << 3 * n_gaps; all++) {
                uint32_t one = 1u << n_gaps, costs = all / one % one & ~1u, rooms = all / one / one & ~1u;
                int64_t cut[MOST_GAPS];
                const dfl_cuts *c = cuts_of(&b, lefts[l], n_gaps, all % one, costs, rooms);
                if (unbeaten(c, 0, c->left, cut) > 0)
                    fail_msg("%d elements, %u gaps, needs %u, costs %u, rooms %u", (int)c->left, n_gaps, c->needs, costs, rooms);
                for (uint32_t i = 0; i < c->count; i++)
                    for (uint32_t g = 0; g < n_gaps; g++)
                        assert_true(!(c->needs >> g & 1) || c->cut[i][g] > 1);
                dropped += c->costs != c->rooms;
            }
    assert_true(dropped > 0);
    close_bench(&b);
}

typedef struct {
    const char *name;
    bool windows, limited, tracked, negative;
    uint32_t group_gap;          /* of what is moved for each iteration of the rank */
    uint32_t costs, rooms;
} masks_case;

/* Two keeps, the second of an operand that the rank indexes, and a loop in each of the three gaps. */
static const masks_case masks[] = {
    { "moved before the second keep", .group_gap = 0, .costs = 2 },
    { "moved at the second keep", .group_gap = 1, .costs = 4 },
    { "moved at the unit, by all iterations", .group_gap = 2 },
    { "taken back before the second keep", .group_gap = 0, .negative = true, .costs = 2, .rooms = 2 },
    { "the second keep has a limit", .group_gap = 0, .limited = true, .costs = 2, .rooms = 4 },
    { "its peak is asked for", .group_gap = 0, .tracked = true, .costs = 2, .rooms = 4 },
    { "windows", .group_gap = 0, .windows = true, .costs = 6, .rooms = 6 },
};

static void finds_masks(void **state)
{
    const masks_case *c = *state;
    bench b;

    open_bench(&b);
    b.problem.windows = c->windows;
    b.problem.operand[1].ranks = 1;
    b.problem.place[1].memory = 3;
    b.form.n_keeps = 2;
    b.form.keep[1] = (dfl_template_keep){ .operand = 1, .place = 1 };
    b.goal.n_tracks = c->tracked;
    b.goal.track[0] = 3;
    b.s->limited[1] = c->limited;
    b.s->own_gaps[0] = 3;
    for (uint32_t g = 0; g < 3; g++)
        b.s->cut_at[0][g] = (uint8_t)(g + 1);
    b.s->terms.n_groups = 1;
    b.s->terms.group[0] = (dfl_term_group){ .ranks = 1, .gap = (uint8_t)c->group_gap, .window = -1 };
    b.s->negative[0] = c->negative;
    dfl_cuts_prepare(b.s);
    assert_int_equal(b.s->own_costs[0], c->costs);
    assert_int_equal(b.s->own_rooms[0], c->rooms);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(leaves_out_what_is_beaten) };

    return CHECK_TABLE("mapper.cuts", cases, lists_cuts) + CHECK_TABLE("mapper.cuts.masks", masks, finds_masks) +
           CHECK_GROUP("mapper.cuts.all", all);
}
