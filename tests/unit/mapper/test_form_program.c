/*
 * Programs of forms: the bound of a program in random boxes is never above the bound of any point of the boxes by the form, nor
 * above the value of the model where the form's own bound is not.
 */
#include "tests/unit/mapper/job.h"

#include <stdio.h>
#include <stdlib.h>

#include "mapper/program/exponential.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/point.h"

typedef struct {
    const char *name;
    const char *objective, *of_sram, *of_array;   /* parts of the text */
    int extent[3];
    double joules, seconds;                       /* powers of the goal */
    double leakage;
    double per_second;                            /* W: of the line 0.5 energy + per_second latency, in place of `objective` */
    bool has_visits;                              /* results that are read back take time (B70) */
} program_case;

static const program_case CASES[] = {
    { "energy times latency", "energy * latency", "buffers = 2;", "multicast = row, col;", { 13, 12, 10 }, 1, 1, 0, 0, false },
    { "energy", "energy", "", "multicast = row, col; reduce = row;", { 7, 16, 9 }, 1, 0, 0, 0, false },
    { "latency", "latency", "buffers = 2;", "multicast = row;", { 11, 6, 23 }, 0, 1, 0, 0, false },
    { "energy times latency squared", "energy * latency * latency", "", "multicast = col; reduce = row;",
      { 13, 5, 17 }, 1, 2, 0, 0, false },
    { "energy squared times latency", "energy * energy * latency", "", "multicast = row, col;", { 12, 12, 12 }, 2, 1, 0, 0,
      false },
    { "leakage", "energy * latency", "leakage = 3mW;", "multicast = row, col;", { 9, 10, 11 }, 1, 1, 3e-3, 0, false },
    { "a line of both, with leakage", "energy", "leakage = 3mW;", "multicast = row, col;", { 9, 10, 11 }, 1, 0, 3e-3, 0.02,
      false },
    { "a line of both, results are read back", "energy", "", "multicast = row, col;", { 9, 10, 11 }, 1, 0, 0, 0.05, true },
    { "a line of both, sums of rows are read back", "energy", "buffers = 2;", "multicast = row, col; reduce = row;", { 7, 6, 23 },
      1, 0, 0, 0.05, true },
};

typedef struct {
    dfl_session *session;
    const dfl_mapping *mapping;
    const dfl_problem *problem;
    const program_case *row;
    dfl_objective objective;
    dfl_form_goal goal;
    dfl_geometric_draft draft;
    dfl_terms terms;
    uint64_t seed;
    uint32_t forms, legal, modelled, better;
} program_test;

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double box_bound(const program_test *t, const dfl_form *f, dfl_box *const *boxes)
{
    const dfl_box_costs costs = { .objective = &t->objective, .leakage = t->row->leakage };
    double others[DFL_FORM_PRODUCTS];

    return dfl_box_multiply(f, boxes, 0, others) ? dfl_box_bound(&costs, f, boxes, 0, others) : INFINITY;
}

/* Halves some boxes, at most `most` times, or until all are points. */
static void shrink(program_test *t, const dfl_form *f, dfl_box **boxes, uint32_t most)
{
    for (uint32_t i = 0, waiting = 0; i < most && waiting < f->problem->n_ranks; i++) {
        const uint32_t r = (uint32_t)(draw(&t->seed) % f->problem->n_ranks);
        dfl_box *half;
        waiting = 0;
        for (uint32_t k = 0; k < f->problem->n_ranks; k++)
            waiting += boxes[k]->is_point;
        if (boxes[r]->is_point)
            continue;
        half = dfl_box_half(t->session->arena, f, r, boxes[r], draw(&t->seed) % 2);
        if (!half->is_possible)
            half = dfl_box_half(t->session->arena, f, r, boxes[r], half == boxes[r]->child[0]);
        boxes[r] = half->is_possible ? half : boxes[r];
    }
}

/* Points in the boxes: none is below the bound of the program. */
static void check_points(program_test *t, const dfl_form *f, dfl_point *point, dfl_box *const *boxes, double bound)
{
    for (uint32_t i = 0; i < 12; i++) {
        dfl_box *at[DFL_PROBLEM_RANKS];
        const int64_t *amounts[DFL_PROBLEM_RANKS];
        bool is_point = true;
        double own, value;
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            at[r] = boxes[r];
        shrink(t, f, at, 300);
        for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
            is_point &= at[r]->is_point;
            amounts[r] = at[r]->low;
        }
        if (!is_point)
            continue;
        own = box_bound(t, f, at);
        if (own == INFINITY)
            continue;
        t->legal++;
        assert_true(bound <= own * (1 + 1e-12));
        value = dfl_point_value(point, &t->objective, amounts);
        if (own > value * (1 + 1e-9) || value == INFINITY)
            continue; /* a keep that another form has further out */
        t->modelled++;
        assert_true(bound <= value * (1 + 1e-12));
    }
}

static bool check_form(void *context, const dfl_tiling_template *skeleton)
{
    program_test *t = context;
    dfl_arena *arena = t->session->arena;
    const dfl_geometric_effort effort = { .precision = 1e-3, .cutoff = INFINITY, .steps = 30 };
    dfl_form *f = dfl_form_make(arena, t->problem, skeleton, &t->terms);
    dfl_box *roots[DFL_PROBLEM_RANKS];
    dfl_form_program *p;
    dfl_point *point;
    dfl_geometric_solution root;
    dfl_geometric_box range;
    double wide;

    if (t->forms++ % 7 != 0)
        return true;
    assert_non_null(f);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        roots[r] = dfl_box_make(arena, f, r);
    p = dfl_form_program_make(arena, &t->draft, f, roots, &t->goal);
    assert_non_null(p);
    point = dfl_point_make(arena, t->session->names, t->mapping, f, DFL_NONE);
    for (uint32_t i = 0; i < 12; i++) {
        dfl_box *boxes[DFL_PROBLEM_RANKS];
        dfl_geometric_solution s;
        double bound;
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            boxes[r] = roots[r];
        shrink(t, f, boxes, i);
        dfl_form_program_fit(p, boxes, &range);
        dfl_geometric_solve(p->program, &range, i == 0 ? NULL : &root.state, &effort, &s);
        if (i == 0)
            root = s;
        bound = dfl_form_program_bound(p, &t->goal, s.bound);
        wide = box_bound(t, f, boxes);
        t->better += bound > wide;
        check_points(t, f, point, boxes, bound);
        /* the plane of the whole range holds in the boxes */
        assert_true(dfl_geometric_least(p->program, &root.plane, &range) <= s.bound + 0.1 || s.reason == DFL_GEOMETRIC_STEPS);
        check_points(t, f, point, boxes,
                     dfl_form_program_bound(p, &t->goal, dfl_geometric_least(p->program, &root.plane, &range)));
    }
    dfl_point_free(point);
    return true;
}

static void bounds_hold(void **state)
{
    static const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    program_test *t = calloc(1, sizeof *t);
    dfl_deadline deadline = { .budget = dfl_arena_budget(s->arena) };
    dfl_problem problem;
    char text[2000];

    assert_non_null(t);
    t->row = *state;
    (void)snprintf(text, sizeof text,
                   "dfl 1;\n"
                   "workload mm(M, N, K) : i8 { rank m = M, n = N, k = K; input A[m, k]; weight B[k, n];\n"
                   "    output Z[m, n] : i32 += A[m, k] * B[k, n]; }\n"
                   "system chip {\n"
                   "    clock = 1GHz;\n"
                   "    memory dram { size = 1GB; bandwidth = 3GB/s; energy = 5pJ/bit; }\n"
                   "    memory sram { size = 400B; %s bandwidth = 9GB/s; energy = 0.7pJ/bit; }\n"
                   "    network wires = bus { %s }\n"
                   "    array row[4], col[3] over wires {\n"
                   "        memory reg { size = 16B; energy = 0.03pJ/bit; }\n"
                   "        compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; }\n"
                   "    }\n"
                   "}\n"
                   "mapping best for mm(M = %d, N = %d, K = %d) on chip { ...; minimize %s; }\n",
                   t->row->of_sram, t->row->of_array, t->row->extent[0], t->row->extent[1], t->row->extent[2], t->row->objective);
    t->session = s;
    t->mapping = open_problem(s, text, &limits, &problem);
    t->problem = &problem;
    t->seed = 5;
    problem.given = dfl_fixed_lines_make(s->arena, t->mapping, &problem);
    assert_null(problem.given);
    assert_true(dfl_objective_make(s->sink, s->names, t->mapping, &t->objective));
    if (t->row->per_second > 0)
        t->objective = dfl_objective_line(&t->objective, 0.5, t->row->per_second);
    assert_true(dfl_form_goal_make(&t->objective, t->row->leakage, &t->goal));
    t->goal.has_visits = t->row->has_visits;
    assert_close(t->goal.joules, t->row->joules, 0);
    assert_close(t->goal.seconds, t->row->seconds, 0);
    dfl_templates_each(&problem, &deadline, check_form, t);
    assert_true(t->forms > 100 && t->legal > 300 && t->modelled > 200 && t->better > t->forms / 7);
    free(t);
    dfl_session_free(s);
}

/* ---- programs end ---- */

/* Where an input comes straight from the outermost memory, the program begins far from all points that the port of this memory
   allows. Steps of x that grow ever shorter would end nowhere: so did 8 of these 550 programs. */
#define NARROW                                                                                                                  \
    "dfl 1; workload w : bf16 { rank m = 4096, n = 4096, k = 4096; input A[m, k]; weight B[k, n]; "                             \
    "Z[m, n] : fp32 += A[m, k] * B[k, n]; } system chip { clock = 1.41GHz; "                                                    \
    "memory hbm { size = 80GB; bandwidth = 2039GB/s; energy = 4pJ/bit; } "                                                      \
    "memory l2 { size = 40MiB; overlap = stream; bandwidth = 5120B/cycle; energy = 1pJ/bit; } network xbar = crossbar { } "      \
    "array sm[108] over xbar { memory regs { size = 256KiB; energy = 0pJ/bit; } "                                               \
    "compute tensor { rate { bf16 = 1024MAC/cycle; } energy { bf16 = 0.6pJ/MAC; } } } } "                                       \
    "mapping best for w on chip { ...; minimize energy * latency; }"

static bool solve_one(void *context, const dfl_tiling_template *skeleton)
{
    program_test *t = context;
    const dfl_geometric_effort effort = { .precision = 0.01, .cutoff = INFINITY, .steps = 40 };
    dfl_arena *arena = t->session->arena;
    dfl_form *f = dfl_form_make(arena, t->problem, skeleton, &t->terms);
    dfl_box *roots[DFL_PROBLEM_RANKS];
    dfl_form_program *p;
    dfl_geometric_box range;
    dfl_geometric_solution s;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        roots[r] = dfl_box_make(arena, f, r);
    p = dfl_form_program_make(arena, &t->draft, f, roots, &t->goal);
    dfl_form_program_fit(p, roots, &range);
    dfl_geometric_solve(p->program, &range, NULL, &effort, &s);
    t->forms++;
    t->legal += s.reason != DFL_GEOMETRIC_STEPS;
    return true;
}

static void programs_end(void **state)
{
    const dfl_problem_limits limits = { .spread = true };
    program_test t = { .session = dfl_session_new(NULL) };
    dfl_problem problem;
    (void)state;

    t.mapping = open_problem(t.session, NARROW, &limits, &problem);
    t.problem = &problem;
    assert_true(dfl_objective_make(t.session->sink, t.session->names, t.mapping, &t.objective));
    assert_true(dfl_form_goal_make(&t.objective, 0, &t.goal));
    t.goal.is_whole = true;
    dfl_templates_each(&problem, NULL, solve_one, &t);
    assert_true(t.forms > 100);
    assert_int_equal(t.legal, t.forms);
    dfl_session_free(t.session);
}

/* ---- lengths below axes ---- */

/* The first cut of m, of 7 elements, is an axis of four instances. Tiles of 2, 2, 2 and 1 have the length 1.81 of B22 (7 over the
   exponential of their entropy), and nothing less than 7 / 4 occurs. In the place of the skeleton, full tiles have two elements. */
typedef struct {
    const char *name, *axes, *shared;
    bool any_places;
    double least;             /* length below the first cut */
} length_case;

static const length_case LENGTHS[] = {
    { "axes as in the skeleton", "row[4], col[3]", "row, col", false, 2 },
    { "axes anywhere", "row[4], col[3]", "row, col", true, 1.75 },
    { "the only axis, anywhere", "row[4]", "row", true, 1.75 },
};

typedef struct {
    program_test *of;
    const length_case *row;
} length_test;

/* Looks at skeletons until the first cut of m is an axis. */
static bool check_lengths(void *context, const dfl_tiling_template *skeleton)
{
    const length_test *k = context;
    program_test *t = k->of;
    dfl_form *f = dfl_form_make(t->session->arena, t->problem, skeleton, &t->terms);
    dfl_box *roots[DFL_PROBLEM_RANKS];
    dfl_form_program *p;
    double least;

    f->has_any_places = k->row->any_places;
    if (f->chain[0].n < 2 || f->chain[0].at[0].axis < 0)
        return true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        roots[r] = dfl_box_make(t->session->arena, f, r);
    p = dfl_form_program_make(t->session->arena, &t->draft, f, roots, &t->goal);
    assert_non_null(p);
    least = p->program->range.low[p->var[0][0]];
    dfl_exponentials(&least, 1, &least);
    assert_close(least, k->row->least, 1e-9);
    t->forms++;
    return false;
}

static void lengths_hold(void **state)
{
    const dfl_problem_limits limits = { .spread = true };
    program_test t = { .session = dfl_session_new(NULL) };
    length_test k = { .of = &t, .row = *state };
    dfl_problem problem;
    char text[1500];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload mm : i8 { rank m = 7, n = 3, k = 5; input A[m, k]; weight B[k, n]; "
                   "output Z[m, n] : i32 += A[m, k] * B[k, n]; } system chip { clock = 1GHz; "
                   "memory dram { size = 1GB; bandwidth = 3GB/s; energy = 5pJ/bit; } network wires = bus { multicast = %s; } "
                   "array %s over wires { memory reg { size = 16B; energy = 0.03pJ/bit; } "
                   "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } } } "
                   "mapping best for mm on chip { ...; minimize energy * latency; }",
                   k.row->shared, k.row->axes);
    t.mapping = open_problem(t.session, text, &limits, &problem);
    t.problem = &problem;
    assert_true(dfl_objective_make(t.session->sink, t.session->names, t.mapping, &t.objective));
    assert_true(dfl_form_goal_make(&t.objective, 0, &t.goal));
    dfl_templates_each(&problem, NULL, check_lengths, &k);
    assert_int_equal(t.forms, 1);
    dfl_session_free(t.session);
}

/* ---- results that are read back (B70) ---- */

/* `temporal k; keep B in near; temporal m; keep Z in near` reads 8 elements of A and 4 of B, writes 8 of Z, and reads 6 of Z back,
   at a port of 1 B/s. 8 MAC cost 8 J. */
typedef struct {
    const char *name;
    bool has_visits;
    double least;             /* of J + S at these lines */
} visits_case;

static const visits_case VISITS[] = {
    { "read back for nothing: 8 J + 20 s", false, 28 },
    { "read back but for the first visits: 8 J + (28 - 2) s", true, 34 },
};

typedef struct {
    program_test *of;
    const visits_case *row;
} visits_test;

/* Looks at skeletons until one has these lines. */
static bool check_visits(void *context, const dfl_tiling_template *skeleton)
{
    static const int64_t one[DFL_CHAIN_CUTS] = { 1 }; /* below the first cut of each rank */
    const dfl_geometric_effort effort = { .precision = 1e-4, .cutoff = INFINITY, .steps = 60 };
    const visits_test *k = context;
    program_test *t = k->of;
    dfl_arena *arena = t->session->arena;
    dfl_form *f = dfl_form_make(arena, t->problem, skeleton, &t->terms);
    dfl_box *boxes[DFL_PROBLEM_RANKS], *roots[DFL_PROBLEM_RANKS];
    dfl_form_program *p;
    dfl_geometric_solution s;
    dfl_geometric_box range;

    if (f->n_keeps != 2 || !f->problem->operand[f->skeleton->keep[1].operand].output || f->chain[0].n == 0 ||
        f->chain[1].n == 0 || f->chain[0].at[0].gap != 1 || f->chain[1].at[0].gap != 0)
        return true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        roots[r] = dfl_box_make(arena, f, r);
        boxes[r] = dfl_box_within(arena, f, r, one, one);
        assert_non_null(boxes[r]);
    }
    p = dfl_form_program_make(arena, &t->draft, f, roots, &t->goal);
    assert_non_null(p);
    dfl_form_program_fit(p, boxes, &range);
    dfl_geometric_solve(p->program, &range, NULL, &effort, &s);
    assert_close(dfl_form_program_bound(p, &t->goal, s.bound), k->row->least, 1e-3);
    t->forms++;
    return false;
}

static void visits_count(void **state)
{
    const dfl_problem_limits limits = { .spread = true };
    program_test t = { .session = dfl_session_new(NULL) };
    visits_test k = { .of = &t, .row = *state };
    dfl_problem problem;

    t.mapping = open_problem(t.session,
                             "dfl 1; workload w : i8 { rank m = 2, k = 4; input A[m, k]; weight B[k]; "
                             "output Z[m] += A[m, k] * B[k]; } system chip { clock = 1Hz; "
                             "memory dram { size = 1GB; bandwidth = 1B/s; energy = 0J/bit; } "
                             "memory near { size = 2B; holds = B, Z; energy = 0J/bit; } "
                             "compute mac { ops = mac; rate = 1MAC/cycle; energy = 1J/MAC; } } "
                             "mapping best for w on chip { ...; minimize energy; }", &limits, &problem);
    t.problem = &problem;
    assert_true(dfl_objective_make(t.session->sink, t.session->names, t.mapping, &t.objective));
    t.objective = dfl_objective_line(&t.objective, 1, 1);
    assert_true(dfl_form_goal_make(&t.objective, 0, &t.goal));
    t.goal.has_visits = k.row->has_visits;
    dfl_templates_each(&problem, NULL, check_visits, &k);
    assert_int_equal(t.forms, 1);
    dfl_session_free(t.session);
}

/* ---- loose axes (B61) ---- */

#define BUF "memory buf { size = 1MB; energy = 0.3pJ/bit; } "
#define UNIT "memory reg { size = 1MB; energy = 0.03pJ/bit; } compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } "
#define NESTED "array x[2] { " BUF "array y[2] { " UNIT "} }"

/* m has 3 elements. Let `spatial m:2` on the first axis give its coordinates 2 and 1 elements, and `spatial m:1` on the second axis
   give those to 3 of 4 combinations of coordinates. Then 3 / 2 elements are left behind the first axis, coordinate 0 of the second
   one has half of that, 3 / 4, and still each of the 3 pieces has 1 element. */
typedef struct {
    const char *name, *axes;
    bool has_splits;
    const char *loose;        /* by cut of m on an axis: l = loose */
    double first, share, below; /* lengths behind the first axis; above the second one over its parts; behind the second one */
    bool is_feasible;         /* whether the program has such a point */
} loose_case;

static const loose_case LOOSE[] = {
    { "a combination without elements", NESTED, true, "-l", 1.5, 0.75, 1, true },
    { "more parts than the second axis has", NESTED, true, "-l", 1.5, 0.6, 1, false },
    { "pieces as long as all parts of the first axis allow", NESTED, true, "-l", 1.5, 0.75, 1.5, true },
    { "longer pieces than those above", NESTED, true, "-l", 1.5, 1.5, 1.8, false },
    { "one part on the first axis", NESTED, true, "-l", 3, 1.5, 2, false },
    { "one form for all of a mapping", NESTED, false, "--", 1.5, 0.75, 0.75, false },
    { "axes of one array", "array x[2], y[2] { " UNIT "}", true, "--", 1.5, 1, 1, true },
    { "an array in an array of two axes", "array x[2], y[2] { " BUF "array z[2] { " UNIT "} }", true, "-ll", 1.5, 0.75, 1, true },
};

typedef struct {
    program_test *of;
    const loose_case *row;
} loose_test;

static void set_length(dfl_geometric_box *range, uint32_t var, double length)
{
    if (var == DFL_FORM_NO_VAR)
        return;
    range->low[var] = fmax(range->low[var], dfl_logarithm(length) - 1e-9);
    range->high[var] = fmin(range->high[var], dfl_logarithm(length) + 1e-9);
}

/* Narrows a range to the lengths of a row: those between the axes are equal. Finds the loose axes in the order of the chain. */
static void narrow_lengths(const dfl_form_program *p, const loose_case *row, dfl_geometric_box *range, char *loose)
{
    const dfl_chain *c = &p->form->chain[0];
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        if (c->at[i].axis >= 0)
            loose[n++] = p->loose[0] >> i & 1 ? 'l' : '-';
        if (c->at[i].axis >= 0 && n == 2)
            set_length(range, p->spread[0][i], row->share);
        set_length(range, p->var[0][i], n < 2 ? row->first : row->below);
    }
    loose[n] = '\0';
}

/* Whether a program has a point in a range. */
static bool has_point(const dfl_form_program *p, const dfl_geometric_box *range)
{
    const dfl_geometric_effort effort = { .precision = 1e-3, .cutoff = INFINITY, .steps = 60 };
    dfl_geometric_solution s = { .bound = 0 };
    bool is_empty = false;

    for (uint32_t v = 0; v < p->program->n_vars; v++)
        is_empty |= range->low[v] > range->high[v];
    if (!is_empty)
        dfl_geometric_solve(p->program, range, NULL, &effort, &s);
    return !is_empty && s.bound < INFINITY;
}

/* Looks at skeletons until one has an axis as the first cut of m and a loop as the last one. */
static bool check_loose(void *context, const dfl_tiling_template *skeleton)
{
    const loose_test *k = context;
    program_test *t = k->of;
    dfl_form *f = dfl_form_make(t->session->arena, t->problem, skeleton, &t->terms);
    dfl_box *roots[DFL_PROBLEM_RANKS];
    dfl_geometric_box range;
    dfl_form_program *p;
    char loose[DFL_PROBLEM_AXES + 1];

    f->has_any_places = true;
    if (f->chain[0].n < 3 || f->chain[0].at[0].axis < 0 || f->chain[0].at[f->chain[0].n - 1].axis >= 0)
        return true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        roots[r] = dfl_box_make(t->session->arena, f, r);
    p = dfl_form_program_make(t->session->arena, &t->draft, f, roots, &t->goal);
    assert_non_null(p);
    dfl_form_program_fit(p, roots, &range);
    narrow_lengths(p, k->row, &range, loose);
    assert_string_equal(loose, k->row->loose);
    assert_int_equal(has_point(p, &range), k->row->is_feasible);
    t->forms++;
    return false;
}

static void loose_axes_hold(void **state)
{
    const dfl_problem_limits limits = { .spread = true };
    program_test t = { .session = dfl_session_new(NULL) };
    loose_test k = { .of = &t, .row = *state };
    dfl_problem problem;
    char text[1500];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload mm : i8 { rank m = 3, n = 3, k = 5; input A[m, k]; weight B[k, n]; "
                   "output Z[m, n] : i32 += A[m, k] * B[k, n]; } system chip { clock = 1GHz; "
                   "memory dram { size = 1GB; bandwidth = 3GB/s; energy = 5pJ/bit; } %s } "
                   "mapping best for mm on chip { ...; minimize energy * latency; }", k.row->axes);
    t.mapping = open_problem(t.session, text, &limits, &problem);
    t.problem = &problem;
    assert_true(dfl_objective_make(t.session->sink, t.session->names, t.mapping, &t.objective));
    assert_true(dfl_form_goal_make(&t.objective, 0, &t.goal));
    t.goal.is_whole = true;
    t.goal.has_splits = k.row->has_splits;
    dfl_templates_each(&problem, NULL, check_loose, &k);
    assert_int_equal(t.forms, 1);
    dfl_session_free(t.session);
}

int main(void)
{
    static const struct CMUnitTest end[] = { cmocka_unit_test(programs_end) };

    return CHECK_TABLE("mapper.form_program", CASES, bounds_hold) +
           CHECK_TABLE("mapper.form_program.lengths", LENGTHS, lengths_hold) +
           CHECK_TABLE("mapper.form_program.visits", VISITS, visits_count) +
           CHECK_TABLE("mapper.form_program.loose", LOOSE, loose_axes_hold) + CHECK_GROUP("mapper.form_program.end", end);
}
