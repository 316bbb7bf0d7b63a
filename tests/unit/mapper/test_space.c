/* Memories in which einsums may exchange operands: whole tensors in a memory with room for all of them, else in any
   memory that may hold them; unfused einsums, if whole tensors have room; and the loops that einsums share. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "api/session.h"
#include "mapper/exact/primal.h"
#include "mapper/problem/evaluate.h"

#define NOWHERE DFL_NONE

/* Every tensor has 16 bytes. */
static const char sample[] =
    "workload pair : i8 {\n    rank m = 4, k = 4, n = 4, q = 4;\n    input A[m, k], B[k, n], E[n, q];\n"
    "    T[m, n] += A[m, k] * B[k, n];\n    output Z[m, q] += T[m, n] * E[n, q];\n}\n"
    "system chip {\n    memory dram { %s; read { energy = 9pJ/bit; } }\n    memory sram { %s; read { energy = 1pJ/bit; } }\n"
    "    compute mac { rate { mac = 1MAC/s; } energy { mac = 1pJ/MAC; } }\n}\n"
    "mapping m for pair on chip { %s ...; minimize energy; }\n";

static dfl_session *open_problem(const char *dram, const char *sram, const char *lines)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, sample, dram, sram, lines);

    assert_int_equal(dfl_session_open_text(s, "pair.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s;
}

static const dfl_problem_operand *made(const dfl_einsum_classes *k, uint32_t einsum)
{
    const dfl_problem *problem = k->problems[einsum].at[0];

    return einsum == 0 ? &problem->operand[problem->n_operands - 1] : &problem->operand[0];
}

static void make(dfl_session *s, const dfl_problem_limits *limits, dfl_deadline *halt, dfl_einsum_classes *out)
{
    dfl_arena *scratch = dfl_arena_new(NULL);

    assert_true(dfl_einsum_classes_make(s->arena, scratch, s->sink, s->names, s->program->designs[0].mapping, limits, 1, halt,
                                        out));
    dfl_arena_free(scratch);
}

static void is_whole_where_all_fits(void **state)
{
    static const struct {
        const char *dram, *sram, *lines;
        dfl_problem_limits limits;
        bool roomy[2];
        uint32_t home, places;
    } cases[] = {
        { "size = unlimited", "size = 8B", "", { 0 }, { true, false }, 0, 2 },
        { "size = 80B", "size = 8B", "", { 0 }, { true, false }, 0, 2 },
        { "size = 79B", "size = 8B", "", { 0 }, { false, false }, NOWHERE, 3 },
        { "size = 80B", "size = 8B", "", { .any_size = true }, { false, false }, NOWHERE, 3 },
        { "size = unlimited", "size = 8B", "", { .any_size = true }, { true, false }, 0, 2 },
        { "size = unlimited", "size = 8B", "", { .counted = 1 }, { false, false }, NOWHERE, 3 },
        { "size = 79B", "size = 80B", "keep T in dram;", { 0 }, { false, false }, 0, 2 },
        { "size = 64B", "size = 80B", "keep T in sram;", { 0 }, { false, false }, 1, 0 },
        { "size = unlimited; holds = input, output", "size = 1KiB", "", { 0 }, { true, false }, NOWHERE, 2 },
        { "size = unlimited; holds = input, output", "size = unlimited", "", { 0 }, { true, true }, 1, 0 },
        { "size = unlimited; holds = input, output", "size = 16B; holds = T", "", { 0 }, { true, true }, 1, 0 },
        { "size = unlimited; holds = input, output", "size = 15B; holds = T", "", { 0 }, { true, false }, NOWHERE, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dfl_session *s = open_problem(cases[i].dram, cases[i].sram, cases[i].lines);
        dfl_deadline halt = { .budget = &s->budget };
        dfl_einsum_classes k;
        make(s, &cases[i].limits, &halt, &k);
        for (uint32_t m = 0; m < 2; m++)
            if (k.roomy[m] != cases[i].roomy[m])
                fail_msg("case %zu: memory %u", i, m);
        for (uint32_t e = 0; e < 2; e++)
            if (made(&k, e)->home != cases[i].home || made(&k, e)->places != cases[i].places)
                fail_msg("case %zu: home %d, places %u", i, (int)made(&k, e)->home, made(&k, e)->places);
        dfl_session_free(s);
    }
}

/* T in sram, and there beside it the first input of each einsum. */
static void stands_apart_where_the_whole_fits(void **state)
{
    static const int64_t cut[3 * 3] = { 1, 1, 1, 1, 1, 1, 4, 4, 4 };
    static const struct { double capacity; bool fits; } cases[] = { { 256, true }, { 255, false } };
    dfl_session *s = open_problem("size = unlimited; holds = input, output", "size = 32B", "");
    const dfl_problem_limits limits = { 0 };
    dfl_deadline halt = { .budget = &s->budget };
    dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .n_tracks = 1, .track = { 1 } };
    dfl_tiling_template form[2] = { { .n_keeps = 2 }, { .n_keeps = 2 } };
    dfl_pmapping row[2];
    dfl_einsum_classes k;

    (void)state;
    make(s, &limits, &halt, &k);
    assert_int_equal(k.at.n, 2);
    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t o = (uint32_t)(made(&k, e) - k.problems[e].at[0]->operand);
        form[e].keep[0] = (dfl_template_keep){ .operand = (uint8_t)o, .place = 1, .home = true };
        form[e].keep[1] = (dfl_template_keep){ .operand = e == 0 ? 0 : 1, .place = 1 };
        row[e] = (dfl_pmapping){ .form = &form[e], .problem = k.problems[e].at[0], .cut = cut, .joules = 1, .seconds = 1 };
        row[e].way.memory[o] = 1;
        k.at.at[k.of[e]].apart = &row[e];
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dfl_join_result *r = dfl_primal_unfused(s->arena, &k, &goal, &cases[i].capacity);
        assert_int_equal(r != NULL, cases[i].fits);
        if (r)
            assert_true(r->joules == 2 && r->value == 2);
    }
    dfl_session_free(s);
}

/* All mappings move 22 B at the port of dram: 14 B are read, 8 B written. A keep above a shared loop is filled beside the work of
   the other einsum: then reading takes 14 s, with half of X or of Z in sram. Else U takes 8 s for X, and Z 8 s to be written. The
   loops above U cut `a`, and then `a` again, or by its other name `x`, or a rank of its own: only the last mapping is in the
   space. */
static const char renamed[] =
    "workload two : bits(8) {\n    rank %s, b = 2, c = 2;\n    input X[%s, b], V[b];\n    input Y[%s, c] : bits(4);\n"
    "    U[%s] += X[%s, b] * V[b];\n    output Z[%s, c] = U[%s] * Y[%s, c];\n}\n"
    "system chip {\n    memory dram { size = unlimited; read { bandwidth = 1B/s; energy = 50J/bit; }\n"
    "        write { bandwidth = 1B/s; energy = 50J/bit; } }\n    memory sram { size = 63bit; }\n"
    "    compute unit { rate { mac = 3MAC/s; flop = 3FLOP/s; } energy { mac = 0J/MAC; flop = 0J/FLOP; } }\n}\n"
    "mapping m for two on chip { option overlap = perfect; %s minimize energy * latency; }\n";

static dfl_session *open_renamed(const char *ranks, const char *u, const char *z, const char *lines)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, renamed, ranks, u, z, u, u, z, z, z, lines);

    assert_int_equal(dfl_session_open_text(s, "two.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s;
}

static double value_of_lines(const char *ranks, const char *u, const char *z, const char *outer, const char *inner)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const char *lines = dfl_arena_printf(arena, "keep X, V, Y, Z in dram; keep V in sram; temporal %s; keep X in sram; "
        "temporal %s; keep U in sram; fuse { U { on unit; temporal b; } Z { on unit; temporal c; } }", outer, inner);
    dfl_session *written = open_renamed(ranks, u, z, lines);
    dfl_objective objective;
    double value;

    assert_true(dfl_objective_make(written->sink, written->names, written->program->designs[0].mapping, &objective));
    value = dfl_mapping_value(NULL, written->names, written->program->designs[0].mapping, &objective);
    dfl_session_free(written);
    dfl_arena_free(arena);
    return value;
}

static void shares_one_loop_per_rank(void **state)
{
    static const struct { const char *ranks, *u, *z, *outer, *inner; double searched; } cases[] = {
        { "a = 4", "a", "a", "a:2", "a", 8800 * 16 },
        { "a = 4, x = 4", "a", "x", "a:2", "x", 8800 * 16 },
        { "a = 2, d = 2", "a, d", "a, d", "a", "d", 8800 * 14 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dfl_session *s = open_renamed(cases[i].ranks, cases[i].u, cases[i].z, "...;");
        const double written = value_of_lines(cases[i].ranks, cases[i].u, cases[i].z, cases[i].outer, cases[i].inner);
        assert_int_equal(dfl_session_map(s, NULL), DFL_EXIT_OK);
        assert_true(s->filled.at[0].search->optimal);
        assert_non_null(strstr(s->filled.at[0].search->space, "no two of which cut the same rank of an einsum"));
        if (written != 8800 * 14 || s->filled.at[0].search->value != cases[i].searched)
            fail_msg("case %zu: %.17g written, %.17g searched", i, written, s->filled.at[0].search->value);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_whole_where_all_fits),
        cmocka_unit_test(stands_apart_where_the_whole_fits),
        cmocka_unit_test(shares_one_loop_per_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
