/* A run of keeps is one step of a path. The second keep of a tensor in a run begins the next run. */
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "model/sets/step_numbers.h"

static const char HEAD[] =
    "dfl 1;\n"
    "system chip {\n"
    "    memory far { size = unlimited; }\n"
    "    memory mid { size = unlimited; }\n"
    "    memory near { size = unlimited; }\n"
    "    compute unit { rate = 1MAC/s; }\n"
    "}\n"
    "workload w : i8 { rank a = 4, b = 4; input A[a]; input B[b]; output Z[a] += A[a] * B[b]; }\n";

typedef struct {
    const char *lines;
    const char *steps; /* steps above each line of the root, and after the last line */
} row;

static const row rows[] = {
    { "keep A, B, Z in far; temporal a, b;", "000123" },
    { "keep A, B, Z in far; keep A, B, Z in mid; temporal a, b;", "000111234" },
    { "keep A, B, Z in far; keep Z in mid; keep Z in near; temporal a, b;", "00012345" },
    { "keep A, B, Z in far; temporal a; keep Z in mid; keep A, Z in near; temporal b;", "000122345" },
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dfl_session *s = dfl_session_new(NULL);
        dfl_strbuf text;
        char steps[32] = "";

        dfl_strbuf_init(&text, s->arena);
        dfl_strbuf_printf(&text, "%smapping m for w on chip { %s }\n", HEAD, rows[i].lines);
        assert_int_equal(dfl_session_open_text(s, "fold.dfl", text.text, text.len), DFL_EXIT_OK);
        assert_true(dfl_session_analyse(s));
        assert_int_equal(s->program->n_designs, 1);
        {
            const dfl_mapping *m = s->program->designs[0].mapping;
            const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, m);
            const dfl_step_numbers *fold;

            assert_non_null(paths);
            fold = dfl_step_numbers_make(s->arena, paths);
            for (uint32_t k = 0; k <= m->root->n_lines; k++)
                steps[k] = (char)('0' + fold->step[0][k]);
        }
        assert_string_equal(steps, rows[i].steps);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
