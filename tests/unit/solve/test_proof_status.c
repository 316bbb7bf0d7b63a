/* The reasons why a result is not proven: what ended the search stands first, and once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "solve/solve_internal.h"

#define LIMIT "stopped by the limit on evaluations: raise `--evaluations`"
#define SHARE "parts of the search ended at their shares of `--time-limit`: raise it"
#define WORK "ended after the default amount of work: `--time-limit none` goes on"

static void the_stop_is_the_first_reason(void **state)
{
    static const struct { const char *reasons; dfl_stop stopped; bool is_left; const char *want; } rows[] = {
        { "windows overlap", DFL_STOP_NONE, false, "windows overlap" },
        { "windows overlap", DFL_STOP_EVALUATIONS, false, LIMIT "; windows overlap" },
        { LIMIT "; windows overlap", DFL_STOP_EVALUATIONS, false, LIMIT "; windows overlap" },
        { NULL, DFL_STOP_CANCELLED, false, "interrupted" },
        { NULL, DFL_STOP_NONE, false, NULL },
        { WORK, DFL_STOP_CANCELLED, false, "interrupted" },
        { WORK "; windows overlap", DFL_STOP_CANCELLED, false, "interrupted; windows overlap" },
        { "windows overlap", DFL_STOP_WORK, false, WORK "; windows overlap" },
        { "stopped by `--time-limit`: raise it; windows overlap", DFL_STOP_NONE, false, SHARE "; windows overlap" },
        { "stopped by `--time-limit`: raise it", DFL_STOP_TIME, true, SHARE },
        { "windows overlap", DFL_STOP_TIME, true, SHARE "; windows overlap" },
        { LIMIT, DFL_STOP_NONE, false, "parts of the search ended at their shares of the limit on evaluations: raise `--evaluations`" },
    };
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = dfl_proof_gaps_after_stop(arena, rows[i].reasons, rows[i].stopped, rows[i].is_left);

        if (rows[i].want)
            assert_string_equal(text, rows[i].want);
        else
            assert_null(text);
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_stop_is_the_first_reason) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
