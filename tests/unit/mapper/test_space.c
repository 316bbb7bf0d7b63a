/* Memories in which einsums may exchange operands: whole tensors in a memory with room for all of them, else in any
   memory that may hold them; and unfused einsums, if whole tensors have room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "api/session.h"
#include "mapper/exact/primal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_whole_where_all_fits),
        cmocka_unit_test(stands_apart_where_the_whole_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
