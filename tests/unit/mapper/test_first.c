/*
 * First mappings: amounts of skeletons, choices of axes, estimates and whole searches by hand. The estimate is compared with the
 * model on mappings for which it is exact.
 */
#include <math.h>
#include <string.h>

#include "tests/unit/mapper/job.h"

#include "mapper/first/estimate.h"
#include "mapper/first/first.h"
#include "mapper/problem/floor.h"
#include "mapper/first/plan.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "mapper/single/single.h"

#define LOOP(r, size) { .kind = DFL_SKELETON_LOOP, .rank = (r), .amount = (size) }
#define SPREAD(r, a, parts) { .kind = DFL_SKELETON_SPREAD, .rank = (r), .axis = (a), .amount = (parts) }
#define KEEP(o, p) { .kind = DFL_SKELETON_KEEP, .operand = (o), .place = (p) }

/* ---- amounts ---- */

typedef struct {
    const char *name;
    uint32_t n;
    dfl_skeleton_line lines[6];
    int64_t settled[6], above[6], divided[6];
    uint32_t stripped;
} amounts_case;

/* A rank of 10, one of 12, and axes of 8 and 3 instances. */
static const amounts_case amounts[] = {
    { "parts that are not empty", 2, { SPREAD(0, 0, 8), LOOP(0, 1) }, { 5, 1 }, { 10, 2 }, { 5, 1 }, 2 },
    { "no more parts than elements", 3, { LOOP(0, 3), SPREAD(0, 0, 8), LOOP(0, 1) }, { 3, 3, 1 }, { 10, 3, 1 }, { 2, 2, 1 }, 2 },
    { "no more parts than instances", 2, { SPREAD(1, 1, 9), LOOP(1, 1) }, { 3, 1 }, { 12, 4 }, { 3, 1 }, 2 },
    { "two ranks on an axis", 3, { SPREAD(0, 0, 2), SPREAD(1, 0, 8), LOOP(1, 1) }, { 2, 4, 1 }, { 10, 12, 3 }, { 2, 4, 1 }, 3 },
    { "a tile no larger than what is left", 3, { LOOP(1, 5), LOOP(1, DFL_FIRST_WHOLE), LOOP(1, 1) }, { 5, 5, 1 }, { 12, 5, 5 },
      { 4, 4, 1 }, 2 },
    { "ranks do not mix", 4, { LOOP(0, 4), LOOP(1, 6), KEEP(0, 0), LOOP(0, 7) }, { 4, 6, 0, 4 }, { 10, 12, 0, 4 },
      { 2, 6, 0, 2 }, 3 },
};

static void test_amounts(void **state)
{
    dfl_problem problem = { .n_ranks = 2, .extent = { 10, 12 }, .n_axes = 2, .axis = { { .size = 8 }, { .size = 3 } } };

    (void)state;
    for (size_t c = 0; c < sizeof amounts / sizeof *amounts; c++) {
        const amounts_case *row = &amounts[c];
        dfl_skeleton lines = { .n = 0 }, divided, stripped;
        int64_t above[DFL_SKELETON_LINES] = { 0 };

        for (uint32_t i = 0; i < row->n; i++)
            assert_true(dfl_skeleton_add(&lines, row->lines[i]));
        divided = lines;
        dfl_skeleton_strip(&problem, &lines, &stripped);
        dfl_skeleton_settle(&problem, &lines, above);
        dfl_skeleton_divide(&problem, &divided);
        for (uint32_t i = 0; i < row->n; i++) {
            if (lines.at[i].kind == DFL_SKELETON_KEEP)
                continue;
            if (lines.at[i].amount != row->settled[i] || above[i] != row->above[i] || divided.at[i].amount != row->divided[i])
                fail_msg("%s: line %u is %lld of %lld, divided %lld", row->name, i, (long long)lines.at[i].amount,
                         (long long)above[i], (long long)divided.at[i].amount);
        }
        if (stripped.n != row->stripped)
            fail_msg("%s: %u lines are left", row->name, stripped.n);
    }
}

/* ---- choices of axes ---- */

static const char workload[] =
    "workload mm(M, N, K) : i8 { rank m = M, n = N, k = K; input A[m, k]; weight B[k, n];\n"
    "    output Z[m, n] += A[m, k] * B[k, n]; }\n";

#define DRAM "memory dram { size = unlimited; bandwidth = 1B/s; }"
#define UNIT "compute mac { rate { mac = 1MAC/s; } }"

typedef struct {
    const char *name;
    const char *sizes, *axes;
    int64_t parts[2][3];         /* of the first choice: by axis, of m, n and k */
} fan_case;

static const fan_case fans[] = {
    { "all instances", "M = 3, N = 3, K = 1", "array row[9] over bus { " UNIT " }", { { 3, 3, 1 } } },
    { "no part is empty: 4 parts of 2", "M = 7, N = 1, K = 1", "array row[5] over bus { " UNIT " }", { { 4, 1, 1 } } },
    { "one rank per axis", "M = 5, N = 3, K = 1", "array row[3], col[5] over bus { " UNIT " }", { { 1, 3, 1 }, { 5, 1, 1 } } },
    { "less work before less traffic: 9 of 9, not 8", "M = 9, N = 8, K = 1", "array row[9] over bus { " UNIT " }",
      { { 9, 1, 1 } } },
    { "both operands shared alike", "M = 64, N = 64, K = 1", "array row[16] over bus { " UNIT " }", { { 4, 4, 1 } } },
};

static void test_fans(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof fans / sizeof *fans; c++) {
        const fan_case *row = &fans[c];
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%ssystem chip { memory dram { size = unlimited; bandwidth = 100B/s; } "
                                            "network bus = bus { multicast = %s; } %s }\nmapping x for mm(%s) on chip { ...; "
                                            "minimize latency; }", workload, strstr(row->axes, "col") ? "row, col" : "row",
                                            row->axes, row->sizes);
        const dfl_problem_limits limits = { .spread = true };
        const dfl_fan *found;
        dfl_objective objective;
        dfl_problem problem;
        uint32_t n;
        const dfl_mapping *m = open_problem(s, text, &limits, &problem);

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        found = dfl_fans_find(s->arena, &problem, &objective, 8, DFL_FIRST_WIDE, NULL, &n);
        assert_in_range(n, 1, 8);
        for (uint32_t a = 0; a < problem.n_axes; a++)
            for (uint32_t r = 0; r < problem.n_ranks; r++)
                if (found[0].parts[a][r] != row->parts[a][r])
                    fail_msg("%s: rank %u has %lld parts on axis %u", row->name, r, (long long)found[0].parts[a][r], a);
        dfl_session_free(s);
    }
}

/* ---- searches ---- */

typedef struct {
    const char *name;
    const char *sizes;           /* of the workload */
    const char *chip;
    double value;                /* s */
} search_case;


/* By hand: 7 x 1 x 1 on an array of 4 takes steps of 4 and 3 elements. */
static const search_case searches[] = {
    { "work alone", "M = 6, N = 5, K = 7", "memory dram { size = unlimited; } " UNIT, 210 },
    { "ragged parts on an array", "M = 7, N = 1, K = 1", "memory dram { size = unlimited; } array row[4] { " UNIT " }", 2 },
    { "two ranks on an array", "M = 3, N = 3, K = 1", "memory dram { size = unlimited; } array row[9] { " UNIT " }", 1 },
    { "two arrays", "M = 5, N = 3, K = 1", "memory dram { size = unlimited; } array row[3] { array col[5] { " UNIT " } }", 1 },
    { "each element moves once", "M = 8, N = 8, K = 8",
      DRAM " memory near { size = 192B; overlap = stream; } compute mac { rate { mac = 1000MAC/s; } }", 192 },
};

static void test_searches(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof searches / sizeof *searches; c++) {
        const search_case *row = &searches[c];
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%ssystem chip { %s }\nmapping x for mm(%s) on chip { ...; minimize "
                                            "latency; }", workload, row->chip, row->sizes);
        const dfl_mapping *m = open_mapping(s, text);
        const dfl_search_limits limits = { .threads = 1 };
        dfl_objective objective;
        dfl_first_result first, again;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        first = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
        again = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
        if (first.mapping == NULL || fabs(first.value - row->value) > 1e-9 * row->value)
            fail_msg("%s: %.12g s", row->name, first.value);
        assert_true(dfl_mapping_value(NULL, s->names, first.mapping, &objective) == first.value);
        assert_true(first.value == again.value && first.evaluated == again.evaluated);
        assert_in_range(first.evaluated, 1, DFL_FIRST_EVALUATIONS);
        dfl_session_free(s);
    }
}

/* ---- by boxes ---- */

#define NEAR "memory near { size = 192B; overlap = stream; } "

typedef struct {
    const char *name;
    const char *rows, *access;   /* ranks of A; where it is read */
    const char *sizes, *chip;
    double value;                /* s; INFINITY: no such search */
} quick_case;

static const quick_case quick[] = {
    { "work alone", "m, k", "m, k", "M = 6, N = 5, K = 7", "memory dram { size = unlimited; } " UNIT, 210 },
    { "two ranks on an array", "m, k", "m, k", "M = 3, N = 3, K = 1",
      "memory dram { size = unlimited; } array row[9] { " UNIT " }", 1 },
    { "each element moves once", "m, k", "m, k", "M = 8, N = 8, K = 8",
      DRAM NEAR "compute mac { rate { mac = 1000MAC/s; } }", 192 },
    { "few divisors", "m, k", "m, k", "M = 1009, N = 8, K = 8", DRAM NEAR UNIT, INFINITY },
    { "windows", "j", "m + k", "M = 8, N = 8, K = 8", DRAM NEAR UNIT, INFINITY },
    { "three operands in three memories", "m, k", "m, k", "M = 8, N = 8, K = 8",
      DRAM NEAR "memory nearer { size = 96B; } memory nearest { size = 48B; } " UNIT, INFINITY },
};

static void test_quick(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof quick / sizeof *quick; c++) {
        const quick_case *row = &quick[c];
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(
            s->arena, "workload mm(M, N, K) : i8 { rank m = M, n = N, k = K, j = M + K - 1; input A[%s]; weight B[k, n];\n"
            "    output Z[m, n] += A[%s] * B[k, n]; }\n"
            "system chip { %s }\nmapping x for mm(%s) on chip { ...; minimize latency; }", row->rows, row->access, row->chip,
            row->sizes);
        const dfl_mapping *m = open_mapping(s, text);
        const dfl_search_limits limits = { .threads = 1, .evaluations = 1000 };
        dfl_objective objective;
        dfl_first_result found;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        found = dfl_single_quick(s->arena, s->names, m, &objective, &limits);
        if ((found.mapping == NULL) != isinf(row->value) ||
            (found.mapping != NULL && fabs(found.value - row->value) > 1e-9 * row->value))
            fail_msg("%s: %.12g s", row->name, found.value);
        assert_true(found.mapping == NULL || dfl_mapping_value(NULL, s->names, found.mapping, &objective) == found.value);
        assert_in_range(found.evaluated, 0, limits.evaluations + 1);
        dfl_session_free(s);
    }
}

/* The first evaluations of a search are all there are with a small limit; the best of them is the result. */
static void test_limits(void **state)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, "%ssystem chip { %s %s }\nmapping x for mm(M = 8, N = 8, K = 8) on chip { ...; "
                                        "minimize latency; }", workload, DRAM " memory near { size = 20B; overlap = stream; }",
                                        UNIT);
    const dfl_mapping *m = open_mapping(s, text);
    dfl_search_limits limits = { .threads = 1, .evaluations = 3 };
    dfl_objective objective;
    dfl_first_result few, none;

    (void)state;
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    few = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
    assert_non_null(few.mapping);
    assert_in_range(few.evaluated, 1, 4);
    limits.deadline = 1e-9;
    none = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
    assert_in_range(none.evaluated, 0, 1);
    dfl_session_free(s);
}

/* A larger limit finds no worse, from the first evaluation on: it ends the same search later. */
static void test_larger_limits(void **state)
{
    static const char *const sizes[] = { "M = 8, N = 8, K = 8", "M = 197, N = 77, K = 50", "M = 64, N = 96, K = 80",
                                         "M = 1, N = 101, K = 60" };
    (void)state;
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%ssystem chip { " DRAM " memory near { size = 1KiB; buffers = 2; "
                                            "bandwidth = 8B/s; } array row[12] { memory close { size = 32B; overlap = stream; } "
                                            UNIT " } compute slow { rate { mac = 2MAC/s; } } }\n"
                                            "mapping x for mm(%s) on chip { ...; minimize latency; }", workload, sizes[c]);
        const dfl_mapping *m = open_mapping(s, text);
        dfl_search_limits limits = { .threads = 1, .evaluations = 1 };
        dfl_objective objective;
        double least = INFINITY;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        for (; limits.evaluations <= DFL_FIRST_EVALUATIONS; limits.evaluations += 1 + limits.evaluations / 4) {
            const dfl_first_result found = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
            assert_non_null(found.mapping);
            if (found.value > least)
                fail_msg("%s: %.12g s with %llu evaluations, %.12g s with fewer", sizes[c], found.value,
                         (unsigned long long)limits.evaluations, least);
            least = found.value;
        }
        dfl_session_free(s);
    }
}

/* A unit whose floor is above what another one finds costs no evaluation: the result and the effort are those without it. */
static void test_hopeless_units(void **state)
{
    static const char *const chips[] = { UNIT, (UNIT " compute slow { rate { mac = 0.01MAC/s; } }"),
                                         ("compute slow { rate { mac = 0.01MAC/s; } } " UNIT) };
    dfl_first_result found[3];

    (void)state;
    for (size_t c = 0; c < 3; c++) {
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%ssystem chip { memory dram { size = unlimited; bandwidth = 3B/s; } memory "
                                            "near { size = 20B; } %s }\nmapping x for mm(M = 8, N = 8, K = 8) on chip { ...; "
                                            "minimize latency; }", workload, chips[c]);
        const dfl_mapping *m = open_mapping(s, text);
        const dfl_search_limits limits = { .threads = 1 };
        dfl_objective objective;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        found[c] = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
        assert_true(found[c].value == found[0].value && found[c].evaluated == found[0].evaluated);
        dfl_session_free(s);
    }
}

/* ---- estimates ---- */

/* Lines of whole tiles without windows: the estimate of the energy is that of the model. */
static const char *const estimated[] = {
    "keep A, B, Z in dram; temporal m:2; keep A in near; temporal n:4; keep B, Z in near; temporal k, m, n;",
    "keep A, B, Z in dram; temporal k:4, n:2; keep B in near; temporal m:2; keep A, Z in near; temporal n, m, k;",
    "keep A, B, Z in dram; temporal n:4, k:2; keep Z in near; spatial m/4 on row; temporal m, n, k;",
};

static void test_estimates(void **state)
{
    static const char chip[] = "system chip { memory dram { size = unlimited; energy = 5pJ/bit; } memory near { size = 1KiB; "
                               "energy = 1pJ/bit; } array row[4] { " UNIT " } }";
    (void)state;
    for (size_t c = 0; c < sizeof estimated / sizeof *estimated; c++) {
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%s%s\nmapping x for mm(M = 8, N = 8, K = 8) on chip { %s }", workload,
                                            chip, estimated[c]);
        const dfl_problem_limits limits = { .spread = true };
        dfl_skeleton lines = { .n = 0 };
        dfl_objective energy;
        dfl_estimate guess;
        dfl_problem problem;
        const dfl_mapping *m = open_problem(s, text, &limits, &problem);
        double joules, seconds;
        dfl_prepared_for what = { .names = s->names, .given = m, .objective = &energy };
        dfl_prepared *p;

        assert_true(dfl_objective_make(s->sink, s->names, m, &energy));
        for (uint32_t i = 3; i < m->root->n_lines; i++) {
            const dfl_line *line = &m->root->lines[i];
            dfl_skeleton_line one = { .kind = line->kind == DFL_LINE_KEEP ? DFL_SKELETON_KEEP
                                              : line->kind == DFL_LINE_SPATIAL ? DFL_SKELETON_SPREAD : DFL_SKELETON_LOOP,
                                      .amount = line->amount };
            if (line->kind == DFL_LINE_KEEP) {
                one.operand = (uint8_t)dfl_problem_find_operand(&problem, line->tensor);
                one.place = 1;
            } else {
                one.rank = (uint8_t)dfl_problem_find_rank(&problem, line->rank);
            }
            assert_true(dfl_skeleton_add(&lines, one));
        }
        dfl_skeleton_settle(&problem, &lines, NULL);
        guess = dfl_estimate_make(&problem, &lines);
        p = dfl_prepared_new(&what, &problem, &lines);
        (void)dfl_prepared_value(p, &problem, &lines, &joules, &seconds);
        dfl_prepared_free(p);
        if (fabs(guess.joules - joules) > 1e-9 * joules || fabs(guess.seconds - seconds) > 1e-9 * seconds)
            fail_msg("lines %zu: estimated %.12g J and %.12g s, by the model %.12g J and %.12g s", c, guess.joules, guess.seconds,
                     joules, seconds);
        dfl_session_free(s);
    }
}

/* ---- floors ---- */

typedef struct {
    const char *name;
    uint32_t n_ranks;
    int64_t extent[3], size;     /* of the ranks, and of the only axis */
    double steps;
} steps_case;

/* B30 */
static const steps_case steps[] = {
    { "one rank", 1, { 7 }, 4, 2 },
    { "no array", 2, { 3, 5 }, 1, 15 },
    { "parts that do not fit: 5 x 1 of 5 x 5", 2, { 5, 5 }, 6, 5 },
    { "4 x 1 or 1 x 4", 2, { 3, 5 }, 4, 5 },
    { "all at once", 2, { 3, 5 }, 15, 1 },
    { "more instances than points", 2, { 3, 5 }, 100, 1 },
    { "three ranks: 2 x 2 x 2 leaves 2 x 2 x 2 of 3 x 3 x 3, and 3 x 2 leaves 1 x 2 x 3", 3, { 3, 3, 3 }, 8, 6 },
    { "6 x 3 x 6 of 4096 cubed on 108: 683 x 1366 x 683", 3, { 4096, 4096, 4096 }, 108, 683.0 * 683 * 1366 },
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof steps / sizeof *steps; c++) {
        const steps_case *row = &steps[c];
        dfl_problem problem = { .n_ranks = row->n_ranks, .n_axes = 1, .axis = { { .size = row->size } }, .points = 1 };

        memcpy(problem.extent, row->extent, sizeof row->extent);
        for (uint32_t r = 0; r < row->n_ranks; r++)
            problem.points *= (double)row->extent[r];
        if (dfl_floor_steps(&problem) != row->steps)
            fail_msg("%s: %.12g steps", row->name, dfl_floor_steps(&problem));
    }
}

typedef struct {
    const char *name;
    const char *chip;
    double joules, seconds;      /* pJ, s */
} floor_case;

/* 2 x 2 x 2 points: 4 elements of 8 bits of each tensor. The unit reads each element of A and B twice, and writes each of Z
   twice. */
static const floor_case floors[] = {
    { "the unit at home", "memory dram { size = unlimited; energy = 1pJ/bit; } " UNIT, 3 * 64, 8 },
    { "compulsory transfers (B31)",
      "memory dram { size = unlimited; bandwidth = 1B/s; } compute mac { rate { mac = 8MAC/s; } }", 0,
      12 },
    { "reads of the unit (B32)",
      "memory dram { size = unlimited; bandwidth = 0.5B/s; } compute mac { rate { mac = 8MAC/s; } }", 0,
      24 },
    { "a nearer memory (B33)",
      "memory dram { size = unlimited; energy = 1pJ/bit; } memory near { size = 1KiB; energy = 0.25pJ/bit; } "
      UNIT, 3 * (32 + 16), 8 },
    { "two instances share A", "memory dram { size = unlimited; energy = 1pJ/bit; } network bus = bus { multicast = row; } "
      "array row[2] over bus { " UNIT " }", 32 + 32 + 64, 4 },
};

static void test_floors(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof floors / sizeof *floors; c++) {
        const floor_case *row = &floors[c];
        dfl_session *s = dfl_session_new(NULL);
        const char *text = dfl_arena_printf(s->arena, "%ssystem chip { %s }\nmapping x for mm(M = 2, N = 2, K = 2) on chip { "
                                            "...; }", workload, row->chip);
        const dfl_problem_limits limits = { .spread = true };
        dfl_problem problem;
        dfl_floor floor;

        (void)open_problem(s, text, &limits, &problem);
        floor = dfl_floor_make(&problem);
        if (fabs(floor.joules - row->joules * 1e-12) > 1e-21 || fabs(floor.seconds - row->seconds) > 1e-9)
            fail_msg("%s: %.12g pJ, %.12g s", row->name, floor.joules * 1e12, floor.seconds);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps), cmocka_unit_test(test_floors),
                                        cmocka_unit_test(test_amounts), cmocka_unit_test(test_fans),
                                        cmocka_unit_test(test_searches),
                                        cmocka_unit_test(test_quick),
                                        cmocka_unit_test(test_limits),
                                        cmocka_unit_test(test_larger_limits), cmocka_unit_test(test_hopeless_units),
                                        cmocka_unit_test(test_estimates) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
