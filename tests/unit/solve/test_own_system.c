/*
 * Systems of some einsums that are searched alone: which memories hold a tensor that others make. Selections are written by hand.
 */
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "solve/own_system.h"

static const char TEXT[] =
    "workload w : i8 { rank a = 4; input A[a]; weight W[a]; T[a] = A[a] * W[a]; output Z[a] = T[a] * W[a]; }\n"
    "system chip { memory dram { size = unlimited; } memory left { size = 64B; holds = input, weight, intermediate; }\n"
    " memory right { size = 64B; holds = output, intermediate; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } }\n"
    "mapping m for w on chip { ...; }\n";

enum { DRAM, LEFT, RIGHT };

/* The einsum that reads T takes it as an input. T suits `left`, and `right` only where that is the home which was asked for. */
static const struct { uint32_t home; bool left, right; } ROWS[] = {
    { DFL_NONE, true, false },
    { DRAM, true, false },
    { RIGHT, false, true },
};

static uint32_t find(const dfl_session *s, const dfl_workload *w, const char *name)
{
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (strcmp(dfl_sym_text(s->names, w->tensors[t].name), name) == 0)
            return t;
    fail_msg("no tensor %s", name);
    return 0;
}

static void selects_homes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        dfl_session *s = dfl_session_new(NULL);
        assert_int_equal(dfl_session_open_text(s, "own.dfl", TEXT, strlen(TEXT)), DFL_EXIT_OK);
        assert_true(dfl_session_analyse(s));
        const dfl_mapping *m = s->program->designs[0].mapping;
        const dfl_workload *w = m->workload;
        const uint32_t tensor_of[] = { find(s, w, "T"), find(s, w, "W"), find(s, w, "Z") };
        dfl_tensor own[3];
        dfl_workload reader = { .tensors = own, .n_tensors = 3 };
        uint32_t *home = DFL_NEW_ARRAY(s->arena, uint32_t, w->n_tensors);
        for (uint32_t t = 0; t < w->n_tensors; t++)
            home[t] = DFL_NONE;
        home[tensor_of[0]] = ROWS[i].home;
        for (uint32_t t = 0; t < 3; t++)
            own[t] = w->tensors[tensor_of[t]];
        own[0].role = DFL_ROLE_INPUT;

        const dfl_own_systems systems =
            dfl_own_systems_make(&(dfl_own_source){ s->arena, w, m->system, home, 1, 1 }, &reader, tensor_of);
        assert_int_equal(dfl_selects(&systems.exact->memories[LEFT].holds, &own[0]), ROWS[i].left);
        assert_int_equal(dfl_selects(&systems.exact->memories[RIGHT].holds, &own[0]), ROWS[i].right);
        dfl_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(selects_homes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
