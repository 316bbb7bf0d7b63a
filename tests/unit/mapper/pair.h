/* A problem of two einsums in different classes, on a machine with two memories on the chip, which gives many templates
   and several patterns. */
#ifndef DFL_TESTS_UNIT_MAPPER_PAIR_H
#define DFL_TESTS_UNIT_MAPPER_PAIR_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "api/session.h"

static inline dfl_session *open_pair(void)
{
    static const char text[] =
        "workload pair : i8 {\n    rank m = 8, k = 12, n = 6, q = 4;\n    input A[m, k], B[k, n], E[n, q];\n"
        "    T[m, n] += A[m, k] * B[k, n];\n    output Z[m, q] += T[m, n] * E[n, q];\n}\n"
        "system chip {\n    memory dram { size = unlimited; read { bandwidth = 1B/s; energy = 90pJ/bit; } }\n"
        "    memory near { size = 300B; read { bandwidth = 3B/s; energy = 9pJ/bit; } }\n"
        "    memory reg { size = 60B; read { bandwidth = 8B/s; energy = 1pJ/bit; } }\n"
        "    compute mac { rate { mac = 4MAC/s; } energy { mac = 1pJ/MAC; } }\n}\n"
        "mapping m for pair on chip { ...; minimize energy; }\n";
    dfl_session *s = dfl_session_new(NULL);

    assert_int_equal(dfl_session_open_text(s, "pair.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    return s;
}

#endif
