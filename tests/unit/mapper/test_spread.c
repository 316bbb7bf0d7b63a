/* Dominance of spreads. Each case adds spreads one after another and lists the spreads that remain. A spread dominates
   another if it leaves the loops equal elements and no number of it is larger. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/divisors/port_time.h"
#include "support/hash.h"

enum { RANKS = 2, GROUPS = 2, PORTS = 2, KEEPS = 2, MOST = 4, OTHER = -1 };

typedef struct {
    int64_t left[RANKS];
    double joules[GROUPS];
    double ports[PORTS * GROUPS], apart[PORTS * GROUPS]; /* port times: of all keeps; without keeps above shared loops */
    double inner[KEEPS * RANKS];                         /* extents inside of each keep */
} numbers;

typedef struct {
    const char *name;
    bool windows, form, untimed;
    bool counted;                /* the peak of memory 1 is part of the objective */
    uint32_t n;
    numbers added[MOST];
    const char *useful;          /* for each added spread: `+` if it remains, `-` if not */
} dominance;

/* Elements of the first rank in place of 4, of the second 8, that spreads are looked up by in the same list. */
static int64_t other_elements(void)
{
    int64_t left[RANKS] = { 4, 8 };
    uint64_t home = dfl_hash(left, sizeof left, 0) % DFL_SPREAD_HOMES;

    do
        left[0]++;
    while (dfl_hash(left, sizeof left, 0) % DFL_SPREAD_HOMES != home);
    return left[0];
}

/* The spread that the others are compared with. */
#define BASE  { { 4, 8 }, { 5, 6 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } }

static const dominance cases[] = {
    { .name = "equal", .n = 2, .added = { BASE, BASE }, .useful = "+-" },
    { .name = "less energy", .n = 2,
      .added = { BASE, { { 4, 8 }, { 5, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "-+" },
    { .name = "more energy", .n = 2,
      .added = { BASE, { { 4, 8 }, { 6, 6 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "+-" },
    { .name = "less energy in one group, more in another", .n = 2,
      .added = { BASE, { { 4, 8 }, { 6, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "++" },
    { .name = "less energy, more time of a port", .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 5 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "++" },
    { .name = "less energy, more time below shared loops", .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 2, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "++" },
    { .name = "time does not count", .untimed = true, .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 5 }, { 2, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "-+" },
    { .name = "less energy, less room", .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 2, 2 } } }, .useful = "-+" },
    { .name = "less energy, more room", .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 3, 2, 2 } } }, .useful = "++" },
    { .name = "more room where it is not limited", .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 3, 3 } } }, .useful = "-+" },
    { .name = "more room where its peak is asked for", .counted = true, .n = 2,
      .added = { BASE, { { 4, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 3 } } }, .useful = "++" },
    { .name = "less room where its peak is asked for", .counted = true, .n = 2,
      .added = { BASE, { { 4, 8 }, { 5, 6 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 1, 2 } } }, .useful = "-+" },
    { .name = "other elements are left", .n = 2,
      .added = { BASE, { { OTHER, 8 }, { 4, 5 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "++" },
    { .name = "other elements are left, the worse ones last", .n = 2,
      .added = { BASE, { { OTHER, 8 }, { 6, 7 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } } }, .useful = "++" },
    { .name = "one drops two", .n = 3,
      .added = { { { 4, 8 }, { 5, 7 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } },
                 { { 4, 8 }, { 6, 6 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } }, BASE }, .useful = "--+" },
    { .name = "one drops the second of three", .n = 4,
      .added = { { { 4, 8 }, { 4, 9 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } },
                 { { 4, 8 }, { 6, 6 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } },
                 { { 4, 8 }, { 9, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 2, 2, 2, 2 } }, BASE }, .useful = "+-++" },
    { .name = "windows are not compared", .windows = true, .n = 2, .added = { BASE, BASE }, .useful = "++" },
    { .name = "nor where lines are written", .form = true, .n = 2, .added = { BASE, BASE }, .useful = "++" },
};

static void try_case(const dominance *c)
{
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_search *s = DFL_NEW(arena, dfl_search);
    dfl_problem *problem = DFL_NEW(arena, dfl_problem);
    dfl_tiling_template *t = DFL_NEW(arena, dfl_tiling_template);
    dfl_tile_goal goal = { .by_time = !c->untimed, .n_tracks = c->counted, .track = { 1 } };
    dfl_spatials *all = DFL_NEW(arena, dfl_spatials);

    problem->n_ranks = RANKS;
    problem->n_axes = 1;
    problem->windows = c->windows;
    problem->place[1].memory = 1;
    t->n_keeps = KEEPS;
    t->keep[1].place = 1;
    t->form = c->form ? (const void *)t : NULL; /* which nothing looks into */
    s->rows = dfl_pareto_set_new(arena, scratch);
    s->problem = problem;
    s->t = t;
    s->goal = &goal;
    s->terms.n_groups = GROUPS;
    s->n_used = PORTS;
    s->n_sets = 2;
    s->limited[0] = true;
    s->now = dfl_spatial_new(s, scratch);
    for (uint32_t i = 0; i < c->n; i++) {
        dfl_spatial *mine = s->now;
        memcpy(mine->left, c->added[i].left, sizeof c->added[i].left);
        mine->left[0] = mine->left[0] == OTHER ? other_elements() : mine->left[0];
        memcpy(mine->joules, c->added[i].joules, sizeof c->added[i].joules);
        memcpy(mine->ports, c->added[i].ports, sizeof c->added[i].ports);
        memcpy(mine->ports + PORTS * GROUPS, c->added[i].apart, sizeof c->added[i].apart);
        memcpy(mine->inner, c->added[i].inner, sizeof c->added[i].inner);
        mine->parts[0] = i;
        dfl_spatials_add(s, all);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        bool useful = false;
        for (size_t k = 0; k < all->at.n; k++)
            useful |= all->at.at[k]->useful && all->at.at[k]->parts[0] == i;
        if (useful != (c->useful[i] == '+'))
            fail_msg("%s: number %u is %s", c->name, i, useful ? "left" : "dropped");
    }
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

static void beaten_spreads_are_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_case(&cases[i]);
}

/* Loops of rank I in a gap, and whether its transfers are the einsum's own, keep by keep: `+`, or `-` where a loop is below. */
typedef struct {
    const char *name, *keeps;    /* `h`: a home */
    uint32_t shared_gaps, allow; /* gaps above homes, and a mask of those where loops may stand */
    bool alone;
    uint32_t loops, n_sets;      /* mask of the gaps with one */
    const char *own;
} own_case;

static const own_case own_cases[] = {
    { "none shared", "kh", 2, 3, false, 0, 2, "++" },
    { "above all", "kh", 2, 3, false, 1, 2, "++" },
    { "between a keep and a home", "kh", 2, 3, false, 2, 2, "-+" },
    { "above and between", "kh", 2, 3, false, 3, 2, "-+" },
    { "none may be between", "kh", 2, 1, false, 1, 1, "++" },
    { "behind one of two", "kkh", 3, 7, false, 2, 3, "-++" },
    { "behind both", "kkh", 3, 7, false, 4, 3, "--+" },
    { "behind both, where none may be between them", "kkh", 3, 5, false, 4, 2, "--+" },
    { "homes have no transfers", "hh", 2, 3, false, 2, 1, "++" },
    { "behind a home, and before another", "hkh", 3, 7, false, 2, 2, "+++" },
    { "behind a home and a keep", "hkh", 3, 7, false, 4, 2, "--+" },
    { "keeps below all homes", "hkk", 1, 7, false, 1, 1, "+++" },
    { "all transfers are counted", "kh", 2, 3, true, 2, 1, "++" },
};

static void transfers_below_the_last_shared_loop_are_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof own_cases / sizeof *own_cases; i++) {
        const own_case *c = &own_cases[i];
        dfl_problem problem = { .n_ranks = 3 };
        dfl_tile_goal goal = { .alone = c->alone, .beside = true };
        dfl_tiling_template t = { .n_keeps = (uint32_t)strlen(c->keeps), .shared_gaps = c->shared_gaps };
        dfl_search *s = calloc(1, sizeof *s);
        uint32_t set;
        s->problem = &problem;
        s->t = &t;
        s->goal = &goal;
        for (uint32_t g = 0; g < t.n_keeps; g++) {
            t.keep[g].home = c->keeps[g] == 'h';
            t.allow[g] = c->allow >> g & 1;
            s->shared_by[g] = c->loops >> g & 1 ? 2 : 1;
            s->shared_gap[g] = c->loops >> g & 1 ? g : DFL_NONE;
            s->n_shared += c->loops >> g & 1;
        }
        dfl_port_time_sets(s);
        set = dfl_port_time_set(s);
        if (s->n_sets != c->n_sets || set > dfl_port_time_least(s))
            fail_msg("%s: %u sets, number %u", c->name, s->n_sets, set);
        for (uint32_t g = 0; g < t.n_keeps; g++)
            if (!t.keep[g].home && (g >= s->apart[set]) != (c->own[g] == '+'))
                fail_msg("%s: keep %u", c->name, g);
        goal.beside = false;
        assert_int_equal(dfl_port_time_set(s), s->n_shared > 0 ? dfl_port_time_least(s) : 0);
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(beaten_spreads_are_dropped),
                                        cmocka_unit_test(transfers_below_the_last_shared_loop_are_its_own) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
