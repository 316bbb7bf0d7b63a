/*
 * Families of skeletons (B25, B55, B56, B76): bounds by hand, families that together have all skeletons, and bounds against the
 * costs of points of their skeletons.
 */
#include <stdio.h>

#include "mapper/skeleton/family.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/loose_form.h"
#include "tests/unit/mapper/job.h"

/* ---- by hand ---- */

/* 4 x 4 x 8 = 128 points; A has 32 elements, B 32, Z 16, of 8 bits. */
#define SMALL                                                                                                                   \
    "dfl 1; workload w : i8 { rank m = 4, n = 4, k = 8; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; } "        \
    "system chip { clock = 1GHz; memory dram { size = unlimited; bandwidth = 1GB/s; energy = 10pJ/bit; } "                      \
    "memory sram { size = 1kB; read { bandwidth = 2GB/s; energy = 1pJ/bit; } write { bandwidth = 4GB/s; energy = 2pJ/bit; } } "
#define ONE SMALL "compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } "
#define FOUR SMALL "network n = bus { multicast = x; energy = 3pJ/bit; } array x[4] over n { "                                  \
    "memory reg { size = 16B; energy = 0.5pJ/bit; } compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } } "
#define FOUR_SLOW SMALL "network n = bus { multicast = x; } array x[4] over n { memory reg { size = 16B; read { bandwidth = 1TB/s; } " \
    "write { bandwidth = 10MB/s; } } compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } } "
#define MAPPING "mapping best for w on chip { ...; minimize "

enum { SRAM = 2, REG = 4 };

typedef struct {
    const char *name, *text;
    uint32_t n, kept[3];       /* A, B, Z */
    double want;               /* pJ or ns */
} bound_row;

static const bound_row BOUNDS[] = {
    { "nothing kept: each point reads A and B, and writes Z, at home", ONE MAPPING "energy; }", 3, { 0, 0, 0 }, 128 + 3 * 10240 },
    { "A kept: 32 elements come in, and each point reads 8 bits (B25)", ONE MAPPING "energy; }", 3, { SRAM, 0, 0 },
      128 + 2 * 10240 + 256 * (10 + 2) + 1024 },
    { "Z kept: each point writes 8 bits, and 16 elements leave (B25)", ONE MAPPING "energy; }", 3, { 0, 0, SRAM },
      128 + 2 * 10240 + 1024 * 2 + 128 * (1 + 10) },
    { "no operand chosen: the least of each", ONE MAPPING "energy; }", 0, { 0 },
      128 + 2 * (256 * 12 + 1024) + 1024 * 2 + 128 * 11 },
    { "A chosen, the least of the others", ONE MAPPING "energy; }", 1, { 0 }, 128 + 10240 + 256 * 12 + 1024 + 1024 * 2 + 128 * 11 },
    { "the port of the home: 3 * 128 bytes in 384 ns", ONE MAPPING "latency; }", 3, { 0, 0, 0 }, 384 },
    { "the unit alone, beside 32 bytes from home", ONE MAPPING "latency; }", 1, { SRAM }, 128 },
    { "the port that is read: 2 * 128 bytes for the unit, and 16 that leave, in 136 ns", ONE MAPPING "latency; }", 3,
      { SRAM, SRAM, SRAM }, 136 },
    { "4 instances share what they read, and write apart (B25)", FOUR MAPPING "energy; }", 3, { 0, 0, 0 },
      128 + 2 * (1024 / 4.0 * (10 + 3)) + 1024 * (10 + 3) },
    { "a register of each: A comes in once for all", FOUR MAPPING "energy; }", 3, { REG, 0, 0 },
      128 + 256 * (10 + 3 + 0.5) + 1024 * 0.5 + 1024 / 4.0 * 13 + 1024 * 13 },
    { "32 points for each of 4 units, and 80 bytes at home", FOUR MAPPING "latency; }", 3, { SRAM, SRAM, SRAM | REG }, 80 },
    { "the registers of an instance get 32 / 4 bytes (B25)", FOUR_SLOW MAPPING "latency; }", 3, { REG, 0, 0 }, 800 },
};

static double bound_of_family(const bound_row *row, const dfl_problem *problem, const dfl_objective *objective)
{
    dfl_family family = { .n = row->n };

    memcpy(family.kept, row->kept, sizeof row->kept);
    assert_true(dfl_family_handles(problem));
    return dfl_family_bound(problem, objective, 0, &family);
}

static void bounds(void **state)
{
    const bound_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_objective objective;
    dfl_problem problem;

    const dfl_mapping *m = open_problem(s, row->text, &limits, &problem);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_close(bound_of_family(row, &problem, &objective), row->want * (strstr(row->text, "energy; }") ? 1e-12 : 1e-9), 1e-9);
    dfl_session_free(s);
}

/* ---- loose forms by hand ---- */

/* 8 x 8 points of 100 ns; nothing shares. A in registers comes in once for each part of n, B once for each part of m. */
#define OUTER_OF(size)                                                                                                          \
    "dfl 1; workload w : i8 { rank m = 8, n = 8; input A[m], B[n]; output Z[m, n] += A[m] * B[n]; } "                           \
    "system chip { clock = 10MHz; memory dram { size = unlimited; energy = 10pJ/bit; } network n = bus { } "                  \
    "array x[" size "] over n { memory reg { size = 16B; holds = A, B; } compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } } "
#define OUTER OUTER_OF("4")

static const bound_row LOOSE[] = {
    { "2 x 2 parts: 2 * 16 elements enter, 64 leave, in 16 steps (B55)", OUTER MAPPING "energy * latency; }", 2, { REG - 2, REG - 2, 0 },
      (64 + 80 * (32 + 64.0)) * 1600 },
    { "4 parts of m: A enters once, B at each point (B55)", OUTER MAPPING "energy * latency; }", 2, { REG - 2, 0, 0 },
      (64 + 80 * (8 + 64 + 64.0)) * 1600 },
    { "of 3 instances 3 x 1: 32 elements enter, in 8 x 3 steps; 1.7 x 1.7 would be 28 in 21 (B56)",
      OUTER_OF("3") MAPPING "energy * latency; }", 2, { REG - 2, REG - 2, 0 }, (64 + 80 * (32 + 64.0)) * 2400 },
    { "one instance has the least energy", OUTER MAPPING "energy; }", 2, { REG - 2, REG - 2, 0 }, 64 + 80 * (16 + 64.0) },
};

/* The bound of a family by its loose form; of no skeleton INFINITY. */
static double loose_bound(dfl_arena *arena, const dfl_problem *problem, const dfl_objective *objective, const dfl_family *family)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_form_goal goal = { 0 };
    const dfl_box_costs costs = { .objective = objective };
    const dfl_loose_solver solver = { &goal, &costs, true, scratch, DFL_NEW(arena, dfl_geometric_draft), DFL_NEW(arena, dfl_geometric_solution),
                                      DFL_NEW(arena, dfl_terms) };
    double bound;

    assert_true(dfl_form_goal_make(objective, 0, &goal));
    goal.is_whole = family->n_first > 0; /* only amounts that divide count */
    bound = dfl_loose_family_bound(&solver, problem, family, INFINITY);
    dfl_arena_free(scratch);
    return bound;
}

static void loose(void **state)
{
    const bound_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_family family = { .n = 3 };
    dfl_objective objective;
    dfl_problem problem;
    double bound, want = row->want * (strstr(row->text, "energy; }") ? 1e-12 : 1e-21);

    const dfl_mapping *m = open_problem(s, row->text, &limits, &problem);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    memcpy(family.kept, row->kept, sizeof row->kept);
    bound = loose_bound(s->arena, &problem, &objective, &family);
    assert_true(bound <= want * (1 + 1e-9));
    assert_true(bound >= want * 0.997); /* the precision of a program */
    dfl_session_free(s);
}

/* 8 x 8 points; the memory inside has room for 2 elements, and reads cost as much as outside, writes nothing. */
#define TIGHT                                                                                                                    \
    "dfl 1; workload w : i8 { rank m = 8, n = 8; input A[m], B[n]; output Z[m, n] += A[m] * B[n]; } "                            \
    "system chip { clock = 10MHz; memory dram { size = unlimited; energy = 10pJ/bit; } "                                         \
    "memory sram { size = 2B; read { energy = 10pJ/bit; } write { energy = 0pJ/bit; } holds = A, B; } "                          \
    "compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } mapping best for w on chip { option overlap = perfect; "  \
    "...; minimize energy; }"

typedef struct {
    const char *name;
    uint32_t n_first;          /* outermost keeps, and their operands */
    uint8_t first[2];
    double want;               /* pJ */
} order_row;

static const order_row ORDERS[] = {
    { "A and B enter once; each step reads both, and writes Z", 0, { 0 }, 64 + 80 * (16 + 128 + 64.0) },
    { "room for 2 of 8 elements of A, whose loop stands above both: B enters four times (B76)", 1, { 0 },
      64 + 80 * (8 + 32 + 128 + 64.0) },
    { "B outside (B76)", 1, { 1 }, 64 + 80 * (32 + 8 + 128 + 64.0) },
};

static void orders(void **state)
{
    const order_row *row = *state;
    const dfl_problem_limits limits = { .spread = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_family family = { .n = 3, .kept = { SRAM, SRAM, 0 }, .n_first = row->n_first };
    dfl_objective objective;
    dfl_problem problem;
    double bound;

    const dfl_mapping *m = open_problem(s, TIGHT, &limits, &problem);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    memcpy(family.first, row->first, sizeof row->first);
    bound = loose_bound(s->arena, &problem, &objective, &family);
    assert_true(bound <= row->want * 1e-12 * (1 + 1e-9));
    assert_true(bound >= row->want * 1e-12 * 0.997); /* the precision of a program */
    dfl_session_free(s);
}

/* ---- all families have all skeletons ---- */

typedef struct {
    uint32_t n;
    uint64_t sum;
    uint32_t kept[DFL_PROBLEM_OPERANDS]; /* of the family at hand */
    bool is_of;                          /* the skeletons come from it */
} listed;

static bool add(void *context, const dfl_tiling_template *t)
{
    listed *k = context;
    uint32_t kept[DFL_PROBLEM_OPERANDS] = { 0 };
    uint64_t one = t->needs;

    for (uint32_t i = 0; i < t->n_keeps; i++) {
        one = one * 31 + t->keep[i].operand + 8u * t->keep[i].place + 128u * t->allow[i];
        kept[t->keep[i].operand] |= 1u << t->keep[i].place;
    }
    k->sum += one * one;
    k->n++;
    if (k->is_of)
        assert_memory_equal(kept, k->kept, sizeof kept);
    return true;
}

/* Lists a family by its outermost keeps: all orders of them. */
static void each_order(const dfl_problem *problem, dfl_family *f, listed *out)
{
    uint32_t left[DFL_PROBLEM_OPERANDS], n = 0;

    for (uint32_t o = 0; o < f->n; o++)
        left[o] = (uint32_t)__builtin_popcount(f->kept[o]);
    for (uint32_t i = 0; i < f->n_first; i++)
        left[f->first[i]]--;
    f->n_first++;
    for (uint32_t o = 0; o < f->n; o++)
        if (left[o] > 0) {
            n++;
            f->first[f->n_first - 1] = (uint8_t)o;
            each_order(problem, f, out);
        }
    f->n_first--;
    if (n == 0)
        dfl_templates_of(problem, f, NULL, add, out);
}

static void each_family(const dfl_problem *problem, dfl_family *f, listed *out)
{
    const dfl_problem_operand *o = &problem->operand[f->n];
    uint32_t rest;

    if (f->n == problem->n_operands) {
        memcpy(out->kept, f->kept, sizeof out->kept);
        each_order(problem, f, out);
        return;
    }
    rest = o->places & ~((2u << o->home) - 1);
    f->n++;
    for (uint32_t sub = rest;; sub = (sub - 1) & rest) {
        f->kept[f->n - 1] = sub;
        each_family(problem, f, out);
        if (sub == 0)
            break;
    }
    f->n--;
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % n;
}

static void have_all(void **state)
{
    uint32_t seed = 7, n = 0;
    (void)state;

    for (uint32_t i = 0; i < 100; i++) {
        dfl_problem problem = { .n_ranks = 1 + draw(&seed, 3), .n_operands = 2 + draw(&seed, 2), .n_places = 2 + draw(&seed, 2),
                                .points = 64, .waits = draw(&seed, 2) == 0 };
        listed all = { 0 }, parts = { .is_of = true };
        dfl_family f = { 0 };
        for (uint32_t p = 0; p < problem.n_places; p++)
            problem.place[p] = (dfl_problem_place){ .memory = p, .bits = draw(&seed, 4) == 0 ? 1 : INFINITY, .buffers = 1,
                                                    .waits = draw(&seed, 2) == 0 };
        for (uint32_t o = 0; o < problem.n_operands; o++) {
            const uint32_t ranks = draw(&seed, 1u << problem.n_ranks);
            problem.operand[o] = (dfl_problem_operand){ .output = o + 1 == problem.n_operands, .bits = 1, .ranks = ranks,
                                                        .plain = ranks, .places = (1u << problem.n_places) - 2 };
        }
        dfl_templates_each(&problem, NULL, add, &all);
        each_family(&problem, &f, &parts);
        assert_int_equal(all.n, parts.n);
        assert_true(all.sum == parts.sum);
        n += all.n;
    }
    assert_true(n > 1000);
}

/* ---- points of skeletons ---- */

typedef struct {
    dfl_arena *arena;
    const dfl_problem *problem;
    const dfl_objective *objective;
    dfl_terms terms;
    uint32_t seed, n;
    double closest;            /* largest quotient of a bound and a cost; */
    double closest_order;      /* with outermost keeps */
} judge;

/* Compares the bounds of a family of which the outermost keeps are chosen with the cost of random points that divide (B76). */
static void judge_order(judge *k, const dfl_tiling_template *t, dfl_form *f, dfl_family family)
{
    const dfl_box_costs costs = { .objective = k->objective, .is_whole = true };
    dfl_amounts divisors[DFL_PROBLEM_RANKS];
    double others[DFL_FORM_PRODUCTS], bound;

    dfl_problem_divide(k->arena, k->problem, divisors);
    f->divisors = divisors;
    for (uint32_t i = 0; i < t->n_keeps; i++)
        family.first[i] = t->keep[i].operand;
    family.n_first = t->n_keeps > 0 ? 1 + draw(&k->seed, t->n_keeps) : 0;
    bound = family.n_first > 0 ? loose_bound(k->arena, k->problem, k->objective, &family) : 0;
    for (uint32_t i = 0; i < 8; i++) {
        dfl_box *boxes[DFL_PROBLEM_RANKS];
        for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
            boxes[r] = dfl_box_make(k->arena, f, r);
            while (boxes[r]->is_possible && !boxes[r]->is_point)
                boxes[r] = dfl_box_half(k->arena, f, r, boxes[r], draw(&k->seed, 2));
        }
        if (dfl_box_multiply(f, boxes, 0, others)) {
            const double cost = dfl_box_bound(&costs, f, boxes, 0, others);
            assert_true(cost >= bound);
            k->closest_order = fmax(k->closest_order, cost < INFINITY ? bound / cost : 0);
        }
    }
    f->divisors = NULL;
}

/* Compares the bounds of the family of a skeleton with the relaxed cost of random points of it. */
static bool judge_points(void *context, const dfl_tiling_template *t)
{
    judge *k = context;
    dfl_form *f = dfl_form_make(k->arena, k->problem, t, &k->terms);
    const dfl_box_costs costs = { .objective = k->objective };
    dfl_family family = { .n = k->problem->n_operands };
    double others[DFL_FORM_PRODUCTS], least[DFL_PROBLEM_OPERANDS + 1], by_loose;

    for (uint32_t i = 0; i < t->n_keeps; i++)
        family.kept[t->keep[i].operand] |= 1u << t->keep[i].place;
    for (family.n = 0; family.n <= k->problem->n_operands; family.n++) {
        least[family.n] = dfl_family_bound(k->problem, k->objective, 0, &family);
        assert_true(family.n == 0 || least[family.n] >= least[family.n - 1] * (1 - 1e-12));
    }
    family.n = k->problem->n_operands;
    by_loose = loose_bound(k->arena, k->problem, k->objective, &family);
    judge_order(k, t, f, family);
    for (uint32_t i = 0; i < 4; i++) {
        dfl_box *boxes[DFL_PROBLEM_RANKS];
        double bound;
        for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
            boxes[r] = dfl_box_make(k->arena, f, r);
            while (boxes[r]->is_possible && !boxes[r]->is_point)
                boxes[r] = dfl_box_half(k->arena, f, r, boxes[r], draw(&k->seed, 2));
        }
        if (!dfl_box_multiply(f, boxes, 0, others))
            continue;
        bound = dfl_box_bound(&costs, f, boxes, 0, others);
        assert_true(bound >= least[k->problem->n_operands]);
        assert_true(bound >= by_loose);
        if (bound < INFINITY) {
            k->closest = fmax(k->closest, least[k->problem->n_operands] / bound);
            k->n++;
        }
    }
    return true;
}

#define ODD                                                                                                                     \
    "dfl 1; workload w : i8 { rank m = 7, n = 12, k = 5; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; } "        \
    "system chip { clock = 1GHz; memory dram { size = unlimited; bandwidth = 1GB/s; energy = 10pJ/bit; } "                      \
    "memory sram { size = 1kB; bandwidth = 2GB/s; drain { energy = 4pJ/bit; } energy = 1pJ/bit; } "          \
    "network n = bus { %s energy = 3pJ/bit; } array x[3], y[2] over n { memory reg { size = 64B; bandwidth = 1GB/s; "           \
    "energy = 0.5pJ/bit; } compute mac { ops = mac; rate = 1MAC/cycle; energy = 1pJ/MAC; } } } "

static const char *const GOALS[] = { "energy", "latency", "energy * latency" };
static const char *const SHARED[] = { "", "multicast = x;", "multicast = x, y;", "multicast = y; reduce = x;" };

static void hold(void **state)
{
    uint32_t n = 0;
    double closest = 0, closest_order = 0;
    (void)state;

    for (uint32_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        for (uint32_t g = 0; g < sizeof GOALS / sizeof *GOALS; g++) {
            const dfl_problem_limits limits = { .spread = true };
            dfl_session *s = dfl_session_new(NULL);
            dfl_objective objective;
            dfl_problem problem;
            char text[2000];
            snprintf(text, sizeof text, ODD MAPPING "%s; }", SHARED[i], GOALS[g]);
            const dfl_mapping *m = open_problem(s, text, &limits, &problem);
            judge k = { .arena = s->arena, .problem = &problem, .objective = &objective, .seed = i + g };
            assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
            dfl_templates_each(&problem, NULL, judge_points, &k);
            n += k.n;
            closest = fmax(closest, k.closest);
            closest_order = fmax(closest_order, k.closest_order);
            dfl_session_free(s);
        }
    assert_true(n > 1000);
    assert_true(closest_order > 0.9);
    assert_true(closest > 0.9); /* the bounds are not far below all costs */
}

int main(void)
{
    static const struct CMUnitTest drawn[] = { cmocka_unit_test(have_all), cmocka_unit_test(hold) };

    return CHECK_TABLE("mapper.family", BOUNDS, bounds) + CHECK_TABLE("mapper.family.loose", LOOSE, loose) +
           CHECK_TABLE("mapper.family.orders", ORDERS, orders) + CHECK_GROUP("mapper.family.drawn", drawn);
}
