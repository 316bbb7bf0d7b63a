/*
 * Forms with windows against the model: random boxes and random points of all skeletons of small convolutions. No bound of a box
 * around a point is above the value of the point, in any order of the loops in its gaps (SEARCH.md, B10, B11, B12, B13).
 */
#include <stdio.h>
#include <stdlib.h>

#include "mapper/problem/factors.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/point.h"
#include "tests/harness/draw.h"
#include "tests/unit/mapper/job.h"

#define CHIP(size, inner)                                                                                                 \
    " system chip { clock = 1GHz; memory dram { size = 1MB; bandwidth = 1GB/s; energy = 10pJ/bit; } "                      \
    "memory sram { size = " size "; bandwidth = 4GB/s; energy = 1pJ/bit; } " inner " } "                                   \
    "mapping best for w on chip { ...; option overlap = perfect; minimize "
#define UNIT "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; }"
#define ARRAY "array x[3] { memory reg { size = 12B; bandwidth = 100MB/s; energy = 0.1pJ/bit; } " UNIT " }"
#define SHARED "network bus = bus { multicast = x; reduce = x; energy = 0.5pJ/bit; } array x[3] over bus { " \
    "memory reg { size = 12B; bandwidth = 100MB/s; energy = 0.1pJ/bit; } " UNIT " }"
#define ROW(shape, out)                                                                                                   \
    "dfl 1; workload w : i8 { rank p = 6, r = 3, c = 2, k = 2; input X" shape "; weight B[k, c, r]; output Y[p, k] += X" out   \
    " * B[k, c, r]; }"

static const struct { const char *name, *text; } ROWS[] = {
    { "a sum of two ranks", ROW("[h: 8, c]", "[p + r, c]") CHIP("40B", UNIT) "energy; }" },
    { "a border of zeros, an array", ROW("[h: 6, c]", "[p + r - 1, c]") CHIP("40B", ARRAY) "energy; }" },
    { "steps of 2, transfers that are shared", ROW("[h: 12, c]", "[2*p + r - 1, c]") CHIP("60B", SHARED) "energy; }" },
    { "steps of 2, latency", ROW("[h: 13, c]", "[2*p + r, c]") CHIP("40B", ARRAY) "energy * latency; }" },
    { "a border of zeros, latency", ROW("[h: 6, c]", "[p + r - 1, c]") CHIP("40B", SHARED) "latency; }" },
    { "steps of 2 in the window", ROW("[h: 10, c]", "[p + 2*r, c]") CHIP("40B", UNIT) "energy * latency; }" },
    { "two windows",
      "dfl 1; workload w : i8 { rank p = 3, q = 4, r = 2, s = 3, k = 2; input X[h: 3, v: 4]; weight B[k, r, s]; "
      "output Y[p, q, k] += X[p + r - 1, q + s - 1] * B[k, r, s]; }" CHIP("30B", UNIT) "energy; }" },
};

typedef struct {
    dfl_session *s;
    const dfl_mapping *m;
    dfl_problem problem;
    dfl_objective objective;
    dfl_terms terms;
    dfl_form_goal goal;
    bool has_goal;
    dfl_geometric_draft *draft;
    uint64_t random;
    dfl_amounts divisors[DFL_PROBLEM_RANKS];
    bool divides;                /* amounts divide what they cut (rule D5) */
    int skip, every, points, compared;
} bench;

/* Whether the loop next above each keep changes its tile. Otherwise the keep belongs further out (D1). */
static bool is_own(const bench *b, const dfl_mapping *m)
{
    const dfl_body *body = m->root;

    for (uint32_t i = dfl_body_count_homes(body); i < body->n_lines; i++) {
        if (body->lines[i].kind != DFL_LINE_KEEP)
            continue;
        for (uint32_t l = i; l-- > 0;)
            if (body->lines[l].kind == DFL_LINE_TEMPORAL) {
                const uint32_t o = dfl_problem_find_operand(&b->problem, body->lines[i].tensor);
                if (!(b->problem.operand[o].ranks >> dfl_problem_find_rank(&b->problem, body->lines[l].rank) & 1))
                    return false;
                break;
            }
    }
    return true;
}

/* Least value of the point over the orders of loops; INFINITY if there is none. */
static double least_value(bench *b, const dfl_form *f, dfl_box *const *boxes)
{
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    double least = INFINITY;

    for (uint32_t r = 0; r < b->problem.n_ranks; r++)
        amounts[r] = boxes[r]->low;
    for (uint32_t last = 0; last <= b->problem.n_ranks; last++) {
        dfl_point *p = dfl_point_make(b->s->arena, b->s->names, b->m, f, last < b->problem.n_ranks ? last : DFL_NONE);
        const double value = dfl_point_value(p, &b->objective, amounts);
        if (value < INFINITY && is_own(b, dfl_point_copy(b->s->arena, p)))
            least = fmin(least, value);
        dfl_point_free(p);
    }
    return least;
}

static double bound_of(const bench *b, const dfl_form *f, dfl_box *const *boxes)
{
    const dfl_box_costs costs = { .objective = &b->objective };
    double others[DFL_FORM_PRODUCTS];

    return dfl_box_multiply(f, boxes, 0, others) ? dfl_box_bound(&costs, f, boxes, 0, others) : INFINITY;
}

static double program_of(bench *b, dfl_form_program *p, dfl_box *const *boxes)
{
    const dfl_geometric_effort effort = { .precision = 1e-2, .steps = 60, .cutoff = INFINITY };
    dfl_geometric_solution *solution = DFL_NEW(b->s->arena, dfl_geometric_solution);
    dfl_geometric_box range;

    if (p == NULL)
        return 0;
    dfl_form_program_fit(p, boxes, &range);
    dfl_geometric_solve(p->program, &range, NULL, &effort, solution);
    return dfl_form_goal_bound(&b->goal, solution->bound);
}

/* Goes from the root to a random point and compares the bounds on the way with the value of the point. */
static void descend(bench *b, const dfl_form *f, dfl_form_program *program, dfl_box *const *roots)
{
    dfl_box *boxes[DFL_PROBLEM_RANKS];
    double bound[400], above = 0, value;
    uint32_t n = 0;

    memcpy(boxes, roots, sizeof boxes);
    for (;;) {
        uint32_t r = draw(&b->random, b->problem.n_ranks), tries = b->problem.n_ranks;
        while (tries > 0 && boxes[r]->is_point) {
            r = (r + 1) % b->problem.n_ranks;
            tries--;
        }
        bound[n] = bound_of(b, f, boxes);
        if (bound[n] == INFINITY && draw(&b->random, 4) != 0)
            return; /* most of what does not fit */
        above = fmax(above, n % 4 == 0 ? program_of(b, program, boxes) : 0);
        n++;
        if (tries == 0)
            break;
        dfl_box *whole = boxes[r];
        const uint32_t side = draw(&b->random, 2);
        boxes[r] = dfl_box_half(b->s->arena, f, r, whole, side);
        if (!boxes[r]->is_possible)
            boxes[r] = dfl_box_half(b->s->arena, f, r, whole, 1 - side);
        if (!boxes[r]->is_possible)
            return;
    }
    value = least_value(b, f, boxes);
    b->points++;
    b->compared += value < INFINITY;
    for (uint32_t i = 0; i < n; i++)
        if (bound[i] > value * (1 + 1e-9) || above > value * (1 + 1e-9)) {
            fprintf(stderr, "bound %.9g, program %.9g, value %.9g, step %u of %u\n", bound[i], above, value, i, n);
            assert_true(false);
        }
}

static bool look(void *context, const dfl_tiling_template *t)
{
    bench *b = context;
    dfl_box *roots[DFL_PROBLEM_RANKS] = { NULL };
    dfl_form *f;
    dfl_form_program *program = NULL;

    if (b->skip-- > 0)
        return true;
    b->skip = b->every - 1;
    f = dfl_form_make(b->s->arena, &b->problem, t, &b->terms);
    assert_non_null(f);
    f->divisors = b->divides ? b->divisors : NULL;
    for (uint32_t r = 0; r < b->problem.n_ranks; r++)
        roots[r] = dfl_box_make(b->s->arena, f, r);
    if (b->has_goal && bound_of(b, f, roots) < INFINITY)
        program = dfl_form_program_make(b->s->arena, b->draft, f, roots, &b->goal);
    descend(b, f, program, roots);
    return true;
}

/* Environment, for longer runs by hand: DFL_WINDOW_ROUNDS rounds over all skeletons. */
static void bounds_are_below(void **state)
{
    const char *const *row = *state, *rounds = getenv("DFL_WINDOW_ROUNDS");
    const dfl_problem_limits limits = { .spread = true };
    const int n = rounds == NULL ? 1 : atoi(rounds);
    int compared = 0;

    for (int round = 0; round < 2 * n; round++) {
        dfl_session *s = dfl_session_new(NULL);
        bench *b = DFL_NEW(s->arena, bench);
        *b = (bench){ .s = s, .every = rounds == NULL ? 3 : 1, .random = (uint64_t)round * 77 + 5 };
        b->m = open_problem(s, row[1], &limits, &b->problem);
        assert_true(dfl_objective_make(s->sink, s->names, b->m, &b->objective));
        b->has_goal = dfl_form_goal_make(&b->objective, 0, &b->goal);
        b->divides = round % 2 == 1;
        for (uint32_t r = 0; r < b->problem.n_ranks; r++)
            b->divisors[r] = dfl_divisors(s->arena, b->problem.extent[r]);
        b->draft = DFL_NEW(s->arena, dfl_geometric_draft);
        dfl_templates_each(&b->problem, NULL, look, b);
        compared += b->compared;
        dfl_session_free(s);
    }
    if (rounds != NULL)
        fprintf(stderr, "%s: %d points\n", row[0], compared);
    assert_true(compared > 0);
}

int main(void)
{
    return CHECK_TABLE("mapper.tiling.windows", ROWS, bounds_are_below);
}
