/*
 * Sizes of window tiles along a dimension, and elements that enter when a tile slides, computed by hand; the model
 * gives equal numbers for the same lines. Reading an element from dram costs 8 J; weights enter once; results are not
 * read.
 */
#include "mapper/problem/extents.h"
#include "tests/unit/mapper/job.h"

/* `values`: number of different values of coef[0] * a + coef[1] * b for a < piece[0], b < piece[1]. `stays`: number of
   values v for which v + shift is a value, too. */
typedef struct {
    const char *name;
    uint32_t n;
    int64_t coef[2];
    double piece[2], shift, values, stays;
} held_case;

static const held_case held[] = {
    { "one rank", 1, { 1 }, { 6 }, 2, 6, 4 },
    { "a window", 2, { 1, 1 }, { 6, 3 }, 1, 8, 7 },
    { "of one element", 2, { 1, 1 }, { 1, 1 }, 1, 1, 0 },
    { "as far as it is long", 2, { 1, 1 }, { 6, 3 }, 8, 8, 0 },
    { "steps of two, windows of three", 2, { 2, 1 }, { 4, 3 }, 2, 9, 7 },
    { "steps of two, a row of it", 2, { 2, 1 }, { 4, 1 }, 1, 4, 0 },
    { "steps as long as windows", 2, { 3, 1 }, { 4, 3 }, 3, 12, 9 },
    { "longer ones leave gaps", 2, { 3, 1 }, { 4, 2 }, 3, 8, 6 },
    { "and what moves by one meets a half", 2, { 3, 1 }, { 4, 2 }, 1, 8, 4 },
    { "dilation", 2, { 1, 2 }, { 1, 3 }, 1, 3, 0 },
    { "dilation that is filled, but for its ends", 2, { 1, 2 }, { 2, 3 }, 1, 6, 5 },
    /* 0 2 4, 3 5 7, 6 8 10 */
    { "both have steps", 2, { 3, 2 }, { 3, 3 }, 2, 9, 7 },
    /* 0 2 4 6, 3 5 7 9, 6 8 10 12: 6 twice */
    { "and meet", 2, { 3, 2 }, { 3, 4 }, 3, 11, 8 },
};

static void holds(void **state)
{
    const held_case *c = *state;
    const dfl_problem_dim d = { .n = c->n, .coef = { c->coef[0], c->coef[1] }, .rank = { 0, 1 } };

    assert_true(dfl_dim_values(&d, c->piece) == c->values);
    assert_true(dfl_dim_stays(&d, c->piece, c->shift) == c->stays);
}

typedef struct {
    const char *name, *index;
    unsigned window;
    const char *lines;           /* behind W and Z, which are kept whole */
    unsigned elements;           /* of I that come in */
} slid_case;

static const slid_case slid[] = {
    { "all at once", "p + r", 3, "keep I in near; temporal k, p, r;", 8 },
    { "along the output", "p + r", 3, "temporal p; keep I in near; temporal k, r;", 8 },
    { "along the window", "p + r", 3, "temporal r; keep I in near; temporal k, p;", 8 },
    { "again for another rank", "p + r", 3, "temporal k, p; keep I in near; temporal r;", 32 },
    { "one element at a time", "p + r", 3, "temporal p, r; keep I in near; temporal k;", 18 },
    { "steps of two", "2*p + r", 3, "temporal p; keep I in near; temporal k, r;", 13 },
    { "steps of two, along the window", "2*p + r", 3, "temporal r; keep I in near; temporal k, p;", 18 },
    { "steps that leave gaps", "3*p + r", 2, "temporal p; keep I in near; temporal k, r;", 12 },
    { "gaps, all at once", "3*p + r", 2, "keep I in near; temporal k, p, r;", 12 },
    { "dilation", "p + 2*r", 3, "temporal p; keep I in near; temporal k, r;", 18 },
    { "dilation, along the window", "p + 2*r", 3, "temporal r; keep I in near; temporal k, p;", 10 },
};

static void slides(void **state)
{
    const slid_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena,
        "workload conv : i8 { rank k = 4, p = 6, r = %u; input I[x: 20], W[k, r]; output Z[k, p] += I[%s] * W[k, r]; }\n"
        "system chip {\n    memory dram { size = unlimited; read { energy = 1J/bit; } write { energy = 0J/bit; } }\n"
        "    memory near { size = 1KiB; energy = 0J/bit; }\n    compute mac { rate { mac = 1MAC/s; } }\n}\n"
        "mapping m for conv on chip {\n    on mac;\n    keep I, W, Z in dram;\n    keep W, Z in near;\n    %s\n"
        "    minimize energy;\n}\n", c->window, c->index, c->lines);
    dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .by_energy = true };
    const dfl_problem_limits limits = { .overlapped = true };
    const double joules = 8.0 * (c->elements + 4 * c->window);

    assert_close(search_lines(text, &limits, s, &goal), joules, 1e-12);
    assert_close(goal.best_joules, joules, 1e-12);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.windows_held", held, holds) + CHECK_TABLE("mapper.windows", slid, slides); }
