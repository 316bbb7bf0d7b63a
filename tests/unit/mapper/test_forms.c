/*
 * Forms by hand: the bound of a point against its costs by the model, the programs of forms (B22), and the boxes that the solutions
 * of programs trim (B21, B23).
 */
#include <stdio.h>

#include "mapper/tiling/box_trim.h"
#include "mapper/tiling/form_program.h"
#include "tests/unit/mapper/formed.h"

/* ---- forms against the model ---- */

#define SYSTEM                                                                                                            \
    "dfl 1; workload w : i8 { rank m = 7, n = 6, k = 10; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "           \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; "                                                                   \
    "memory dram { size = 1MB; bandwidth = 1GB/s; energy = 10pJ/bit; } "                                                   \
    "memory sram { size = 200B; bandwidth = 4GB/s; energy = 1pJ/bit; } "                                                   \
    "array x[4] { memory reg { size = 16B; bandwidth = 10MB/s; energy = 0.1pJ/bit; } "                                     \
    "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } } } "                                               \
    "mapping best for w on chip { option overlap = perfect; on mac; keep A, B, Z in dram; "

/* Lines below the homes; amounts by rank and cut; what the bound of the point is, in energy, compared with the model. */
typedef struct {
    const char *name, *lines;
    int64_t amount[3][4];
    double above;               /* energy of the model over that of the bound */
} point_row;

static const point_row POINTS[] = {
    { "one keep, tiles that divide", "temporal m, k; keep A in sram; temporal n; minimize energy; }",
      { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 1 },
    { "ragged tiles of the operand",
      "temporal n:4; keep B in sram; temporal m:3, k:4; keep A in sram; temporal m, n, k; minimize energy; }",
      { { 3, 1, 1 }, { 4, 1, 1 }, { 4, 1, 1 } }, 1 },
    { "partial sums go back (B2)",
      "temporal k:4; keep B in sram; temporal m:2; keep Z in sram; temporal m, n, k; minimize energy; }",
      { { 2, 1, 1 }, { 1, 1 }, { 4, 1, 1 } }, 1 },
    { "140 + 50 + 10 bytes fill sram (B5)",
      "temporal n:5; keep Z in sram; keep B in sram; temporal m; keep A in sram; temporal n, k; minimize energy; }",
      { { 1, 1 }, { 5, 1, 1 }, { 1, 1 } }, 1 },
    { "4 parts fill an axis (B5)",
      "temporal k:4; keep B in sram; temporal m:2; spatial n/4 on x; keep Z in reg; temporal m, n, k; minimize energy; }",
      { { 2, 1, 1 }, { 4, 1 }, { 4, 1, 1 } }, 1 },
    { "k in 4, 4, 2, then 2: the last 2 stay while n advances (B4)",
      "temporal k:4; keep B in sram; temporal n:2; keep Z in sram; temporal k:2; keep A in sram; temporal m, n, k; "
      "minimize energy; }", { { 1, 1 }, { 2, 1, 1 }, { 4, 2, 1, 1 } }, 1 },
    { "A stays while n advances: the keep further out has this count (D1), the bound counts A twice more",
      "temporal n:2; keep A in sram; temporal m, n, k; minimize energy; }",
      { { 1, 1 }, { 2, 1, 1 }, { 1, 1 } }, 298522.0 / 310842 },
    { "A further out, with what it moves (D1)", "keep A in sram; temporal m, n, k; minimize energy; }",
      { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 1 },
    { "latency of the unit", "temporal k:5; keep B in sram; temporal m, n, k; minimize latency; }",
      { { 1, 1 }, { 1, 1 }, { 5, 1, 1 } }, 1 },
    { "latency of a port", "temporal m; keep Z in sram; temporal n:2; keep B in sram; temporal n, k; minimize latency; }",
      { { 1, 1 }, { 2, 1, 1 }, { 1, 1 } }, 1 },
    { "latency of the ports of one instance of three (B3)",
      "temporal k:5; keep B in sram; temporal m:2; spatial n/3 on x; keep Z in reg; temporal m, n, k; minimize latency; }",
      { { 2, 1, 1 }, { 3, 1 }, { 5, 1, 1 } }, 1 },
};

static void costs_as_the_model_says(void **state)
{
    const point_row *row = *state;
    char text[2000];
    dfl_box *roots[3];
    formed f;

    snprintf(text, sizeof text, "%s%s", SYSTEM, row->lines);
    open_form(&f, text);
    const dfl_box_costs costs = { .objective = &f.objective };
    const point_costs at = cost_point(&f, &costs, row->amount);
    for (uint32_t r = 0; r < 3; r++)
        roots[r] = dfl_box_make(f.session->arena, f.form, r);
    assert_true(isfinite(at.bound));
    assert_close(at.value, at.bound * row->above, 1e-12);
    assert_true(bound_of(&costs, f.form, roots) <= at.bound * (1 + 1e-12));
    dfl_session_free(f.session);
}

/* ---- programs by hand (B22) ---- */

/* Lines below the homes, and the least energy over all amounts, pJ: what the program of the form says of the whole range. */
typedef struct {
    const char *name, *lines;
    double least;
} program_row;

static const program_row PROGRAMS[] = {
    /* A and B: 420 * 8 bits * 10 pJ each; Z: 420 writes and 378 reads of 32 bits; 420 * 0.1 */
    { "no keeps", "temporal m, n, k; minimize energy; }", 322602 },
    /* A: 70 elements from dram and into sram, 420 reads there */
    { "A is fetched once, if n is not cut above", "temporal n; keep A in sram; temporal m, n, k; minimize energy; }", 298522 },
    /* 12 elements of Z have room, so n or m is cut; A and B from dram, Z in sram: 420 writes, 378 reads, 42 writes at home */
    { "Z stays during k", "temporal m, n; keep Z in sram; temporal m, n, k; minimize energy; }",
      2 * 33600 + 32 * 798 + 32 * 42 * 11 + 42 },
};

/* The program of a form over the whole range of its amounts, and its solution. */
typedef struct {
    formed of;
    dfl_form_goal goal;
    dfl_box *boxes[3];
    dfl_geometric_box range;
    dfl_form_program *program;
    dfl_geometric_solution *found;
} solved;

static void solve_lines(solved *s, const char *lines, double precision)
{
    const dfl_geometric_effort effort = { .precision = precision, .cutoff = INFINITY, .steps = 60 };
    char text[2000];

    snprintf(text, sizeof text, "%s%s", SYSTEM, lines);
    open_form(&s->of, text);
    dfl_arena *arena = s->of.session->arena;
    assert_true(dfl_form_goal_make(&s->of.objective, 0, &s->goal));
    for (uint32_t r = 0; r < 3; r++)
        s->boxes[r] = dfl_box_make(arena, s->of.form, r);
    s->program = dfl_form_program_make(arena, DFL_NEW(arena, dfl_geometric_draft), s->of.form, s->boxes, &s->goal);
    assert_non_null(s->program);
    dfl_form_program_fit(s->program, s->boxes, &s->range);
    s->found = DFL_NEW(arena, dfl_geometric_solution);
    dfl_geometric_solve(s->program->program, &s->range, NULL, &effort, s->found);
}

static void programs(void **state)
{
    const program_row *row = *state;
    solved s;

    solve_lines(&s, row->lines, 1e-4);
    assert_true(dfl_form_goal_bound(&s.goal, s.found->bound) <= row->least * 1e-12 * (1 + 1e-12));
    assert_true(dfl_form_goal_bound(&s.goal, s.found->bound) >= row->least * 1e-12 * 0.999);
    dfl_session_free(s.of.session);
}

/* ---- trimmed boxes (B21, B23) ---- */

/* A is fetched N times, once for each tile of n above it: 292,362 + 6,160 N pJ, least 298,522. The plane touches ln (energy) at
   N = 1 and has the slope -6,160 / 298,522 in ln (tile). `cutoff`: energy, pJ; `least`: the least tile of n that is left. */
typedef struct {
    const char *name;
    double cutoff;
    int64_t least;
} trim_row;

static const trim_row TRIMS[] = {
    /* ln (304682 / 298522) = 0.0204: tiles from 6 * e^-0.99 = 2.2 on, with the energy of two fetches */
    { "twice (B23)", 304682, 3 },
    /* 0.001: tiles from 6 * e^-0.048 = 5.7 on */
    { "hardly more than once", 298522 * 1.001, 6 },
    /* 0.22: all */
    { "far above", 298522 * 1.25, 1 },
};

static void trims(void **state)
{
    const trim_row *row = *state;
    solved s;

    solve_lines(&s, PROGRAMS[1].lines, 1e-6);
    assert_true(dfl_box_trim_node(s.of.session->arena, &(dfl_box_trim){ s.program, &s.found->plane, &s.range,
                                                                        dfl_form_goal_cutoff(&s.goal, row->cutoff * 1e-12) },
                                  s.boxes));
    assert_int_equal(s.boxes[1]->low[0], row->least);
    assert_int_equal(s.boxes[1]->high[0], 6);
    dfl_session_free(s.of.session);
}

int main(void)
{
    int failed = CHECK_TABLE("mapper.forms.points", POINTS, costs_as_the_model_says);

    failed += CHECK_TABLE("mapper.forms.programs", PROGRAMS, programs);
    failed += CHECK_TABLE("mapper.forms.trims", TRIMS, trims);
    return failed;
}
