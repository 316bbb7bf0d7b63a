/*
 * Dominance of rows. Each case has two rows with equal shared loops over ranks 0 and 1, and the second row costs more.
 * The second row is dominated unless the first row is compatible with fewer rows of other einsums, because of its keeps
 * above loops, or of keeps that it lacks.
 */
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/divisors/pareto_set.h"

enum { X, T, U, OPERANDS };      /* several read X, one reads T, and nobody else touches U */
enum { OUTER, NEAR, INSIDE, PLACES };
enum { NOWHERE = 255 };

/* Keeps of X, T and U each in one memory: the memory, and the shared loops above it. */
typedef struct { uint32_t place, above; } held;

typedef struct {
    const char *name;
    uint32_t loops;
    held first[OPERANDS], second[OPERANDS];
    bool stays;                  /* the second row is not dominated */
} beaten;

#define NONE { 0, NOWHERE }
#define BARE { NONE, NONE, NONE }

static const beaten cases[] = {
    { "nothing is kept", 2, BARE, BARE, false },
    { "above a loop, which others would have to do, too", 2, { { NEAR, 1 }, NONE, NONE }, BARE, true },
    { "above all loops", 2, { { NEAR, 0 }, NONE, NONE }, BARE, true },
    { "below all loops, which goes with more", 2, { { NEAR, 2 }, NONE, NONE }, BARE, false },
    { "the other one goes with more", 2, BARE, { { NEAR, 2 }, NONE, NONE }, true },
    { "and above a loop, too", 2, BARE, { { NEAR, 1 }, NONE, NONE }, true },
    { "both above a loop", 2, { { NEAR, 1 }, NONE, NONE }, { { NEAR, 1 }, NONE, NONE }, false },
    { "further out", 2, { { NEAR, 0 }, NONE, NONE }, { { NEAR, 1 }, NONE, NONE }, true },
    { "further in", 2, { { NEAR, 1 }, NONE, NONE }, { { NEAR, 0 }, NONE, NONE }, false },
    { "in another memory", 2, { { OUTER, 1 }, NONE, NONE }, { { NEAR, 1 }, NONE, NONE }, true },
    { "inside of arrays nobody keeps it above loops", 2, { { INSIDE, 2 }, NONE, NONE }, BARE, false },
    { "nor does it matter there that it is not kept", 2, BARE, { { INSIDE, 2 }, NONE, NONE }, false },
    { "read by one alone, above a loop", 2, { NONE, { NEAR, 1 }, NONE }, BARE, true },
    { "read by one alone, below the loops", 2, BARE, { NONE, { NEAR, 2 }, NONE }, false },
    { "of no concern to others", 2, { NONE, NONE, { NEAR, 1 } }, { NONE, NONE, { NEAR, 2 } }, false },
    { "no loops", 0, { { NEAR, 0 }, NONE, NONE }, BARE, false },
};

/* Keeps stand in gap order: below so many of the loops, of which number k stands in gap k of three keeps. */
static dfl_pmapping row_of(dfl_arena *arena, const dfl_problem *problem, uint32_t loops, const held *of, double joules)
{
    dfl_tiling_template *t = DFL_NEW(arena, dfl_tiling_template);
    dfl_pmapping row = { .joules = joules, .form = t, .problem = problem, .way = { .n_loops = (uint8_t)loops } };

    for (uint32_t above = 0; above <= loops; above++) {
        for (uint32_t o = 0; o < OPERANDS; o++)
            if (of[o].above == above)
                t->keep[t->n_keeps++] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)of[o].place };
        if (above < loops)
            row.gap[above] = (uint8_t)t->n_keeps;
    }
    t->shared_gaps = t->n_keeps + 1;
    row.cut = DFL_NEW_ARRAY(arena, int64_t, (size_t)(t->n_keeps + 1) * 2);
    return row;
}

static void try_case(void **state)
{
    const beaten *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_problem *problem = DFL_NEW(arena, dfl_problem);
    const dfl_tile_goal goal = { .by_energy = true };
    dfl_pareto_set *rows = dfl_pareto_set_new(arena, scratch);
    dfl_pmapping first, second;
    uint32_t n;

    problem->n_ranks = 2;
    problem->n_operands = OPERANDS;
    problem->n_places = PLACES;
    for (uint32_t p = 0; p < PLACES; p++)
        problem->place[p] = (dfl_problem_place){ .memory = p, .axes = p == INSIDE };
    problem->operand[X] = (dfl_problem_operand){ .common = 1u << NEAR, .several = true };
    problem->operand[T] = (dfl_problem_operand){ .shared = true };
    first = row_of(arena, problem, c->loops, c->first, 1);
    second = row_of(arena, problem, c->loops, c->second, 2);
    dfl_pareto_set_add(rows, &first, &goal);
    assert_int_equal(dfl_pareto_set_is_open_to(rows, &second, &goal), c->stays);
    rows = dfl_pareto_set_new(arena, scratch);
    dfl_pareto_set_add(rows, &second, &goal);
    assert_true(dfl_pareto_set_is_open_to(rows, &first, &goal));
    dfl_pareto_set_add(rows, &first, &goal);
    (void)dfl_pareto_set_list(rows, &n);
    assert_int_equal(n, c->stays ? 2 : 1);
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

/* With `beside` what keeps a port less busy stays, too. */
static void busy_ports_count(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_problem *problem = DFL_NEW(arena, dfl_problem);
    dfl_tile_goal goal = { .by_time = true, .n_ports = 1 };
    dfl_pareto_set *rows = dfl_pareto_set_new(arena, scratch);
    static const held bare[OPERANDS] = BARE;
    dfl_pmapping first, second;

    (void)state;
    problem->n_ranks = 2;
    first = row_of(arena, problem, 1, bare, 0);
    second = row_of(arena, problem, 1, bare, 0);
    first.seconds = 1;
    first.busy[0] = 5;
    second.seconds = 2;
    second.busy[0] = 4;
    dfl_pareto_set_add(rows, &first, &goal);
    assert_false(dfl_pareto_set_is_open_to(rows, &second, &goal));
    goal.beside = true;
    assert_true(dfl_pareto_set_is_open_to(rows, &second, &goal));
    second.busy[0] = 5;
    assert_false(dfl_pareto_set_is_open_to(rows, &second, &goal));
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N + 1];

    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, try_case, NULL, NULL, (void *)(uintptr_t)&cases[i] };
    tests[N] = (struct CMUnitTest)cmocka_unit_test(busy_ports_count);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
