/*
 * The lower bound of a pattern if the search of its templates stops early. The einsum is Z[i, j] = A[i] * B[j], 8 x 8
 * elements of 8 bits, where only A may be kept on the chip; reading outside costs 1 J/bit and takes 1 s/bit. Without
 * the keep A and B are read at every point, 1024 bits; with it A is read once, 576 bits. Each case states the bounds of
 * the templates that are known before the search.
 */
#include <math.h>

#include "tests/harness/check.h"

#include "mapper/exact/pattern_bounds.h"

enum { A, B, Z, OPERANDS, I = 1, J = 2, BARE = 0, KEPT = 1, TEMPLATES = 2 };

typedef struct {
    const char *name;
    double bound[TEMPLATES];     /* of joules and of seconds: without the keep, with it */
    double capacity;             /* of the memory on the chip, bits */
    uint64_t enough;
    double joules, seconds;      /* the least */
    double within;               /* what is known to be possible, joules; 0 = nothing */
} least_case;

static const least_case cases[] = {
    { "all is looked at", { 0, 0 }, 64, DFL_LEAST_ENOUGH, 576, 576, 0 },
    { "what is known is found to be so", { 1024, 576 }, 64, DFL_LEAST_ENOUGH, 576, 576, 0 },
    { "only the bare one fits", { 0, 0 }, 7, DFL_LEAST_ENOUGH, 1024, 1024, 0 },
    /* a glance finds both, and that is enough: what has not been looked at to the end counts as known before; for the time there is
       a limit by then, and no glance, but a look at the first, the one with the keep */
    { "enough: what is known of both", { 500, 400 }, 64, 0, 400, 500, 0 },
    { "enough: what is known of the other", { 300, 400 }, 64, 0, 300, 300, 0 },
    { "enough: one cannot be better than what a glance found", { 600, 500 }, 64, 0, 500, 576, 0 },
    { "enough: neither can", { 600, 576 }, 64, 0, 576, 576, 0 },
    { "enough, and only the bare one fits", { 700, 800 }, 7, 0, 700, 700, 0 },
    /* 1000 J of the bare one may be worth as much as what is known, or not */
    { "nothing left out", { 1000, 500 }, 7, DFL_LEAST_ENOUGH, 1024, 1024, 1000 },
    { "the bare one left out", { 1000, 500 }, 7, DFL_LEAST_ENOUGH, INFINITY, INFINITY, 999 },
};

typedef struct {
    dfl_arena *arena;
    dfl_einsum_class *class;
    const dfl_problem *problem;
    const least_case *of;
} collector;

static bool add(void *context, const dfl_tiling_template *t)
{
    collector *k = context;
    double bound = k->of->bound[t->n_keeps > 0 ? KEPT : BARE];
    dfl_tiling_template *copy = DFL_NEW(k->arena, dfl_tiling_template);

    *copy = *t;
    DFL_PUSH(k->arena, &k->class->candidates,
             ((dfl_candidate){ .problem = k->problem, .form = copy, .joules = bound, .seconds = bound }));
    return true;
}

static dfl_problem_operand indexed(uint32_t rank)
{
    return (dfl_problem_operand){ .ranks = 1u << rank, .plain = 1u << rank, .bits = 8, .elements = 8, .n_dims = 1,
                                  .dims = { { .n = 1, .rank = { (uint8_t)rank }, .coef = { 1 } } } };
}

static void finds_least(void **state)
{
    const least_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_problem problem = { .n_ranks = 2, .n_operands = OPERANDS, .n_places = 2, .extent = { 8, 8 }, .points = 64 };
    dfl_einsum_class class = { .first = 0 };
    dfl_budget budget = { 0 };
    dfl_deadline halt = { .budget = &budget };
    dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .by_energy = true, .by_time = true };
    dfl_tile_goal within = goal;
    dfl_pattern_bound_work work = { .goal = &goal, .halt = &halt, .arena = arena, .scratch = scratch };
    const dfl_goal of = goal.of;
    dfl_pattern_bound k;
    collector all = { arena, &class, &problem, c };

    problem.operand[A] = indexed(0);
    problem.operand[B] = indexed(1);
    problem.operand[Z] = indexed(0);
    problem.operand[Z].output = true;
    problem.operand[Z].ranks = problem.operand[Z].plain = I | J;
    problem.operand[Z].elements = 64;
    problem.operand[A].places = 2;
    problem.place[0] = (dfl_problem_place){ .bits = INFINITY, .read_joules = 1, .read_seconds = 1, .buffers = 1 };
    problem.place[1] = (dfl_problem_place){ .memory = 1, .bits = c->capacity, .buffers = 1 };
    dfl_templates_each(&problem, NULL, add, &all);
    assert_int_equal(class.candidates.n, TEMPLATES);
    DFL_PUSH(arena, &class.patterns, ((dfl_pattern){ .least = dfl_criteria_none() }));
    within.limit = c->within;
    work.within = c->within > 0 ? &within : NULL;
    k = dfl_pattern_bound_start(&class, 0, &of, true, c->enough);
    for (uint32_t round = 0; round < DFL_LEAST_ROUNDS; round++)
        dfl_pattern_bound_round(&k, round, &work);
    dfl_pattern_bound_tell(&k, &of);
    assert_close(class.patterns.at[0].least.at[DFL_COST_JOULES], c->joules, 1e-12);
    assert_close(class.patterns.at[0].least.at[DFL_COST_SECONDS], c->seconds, 1e-12);
    assert_int_equal(k.best.form != NULL, c->joules < INFINITY);
    if (k.best.form != NULL)
        assert_close(k.best.joules, c->capacity < 8 ? 1024 : 576, 1e-12);
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

int main(void)
{
    return CHECK_TABLE("mapper.least", cases, finds_least);
}
