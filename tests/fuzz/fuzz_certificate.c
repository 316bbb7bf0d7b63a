/* Checks any bytes as a certificate for a small file with a known mapping. The check ends with a report or with a
   verdict. It ignores the digest, so that the other parts are reached. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/session.h"
#include "certify/certify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "workload chain(M = 4, K = 2, N = 4, O = 2) : i8 {\n"
    "    rank m = M; rank k = K; rank n = N; rank o = O;\n"
    "    input A[m, k]; weight B[k, n], C[n, o];\n"
    "    S[m, n] += A[m, k] * B[k, n];\n"
    "    T[m, o] += S[m, n] * C[n, o];\n"
    "}\n"
    "system npu {\n"
    "    clock = 1GHz;\n"
    "    memory dram { size = 1GB; bandwidth = 16GB/s; energy = 7pJ/bit; }\n"
    "    memory sram { size = 6B; bandwidth = 64GB/s; energy = 1pJ/bit; }\n"
    "    compute mac { rate = 1MAC/cycle; energy = 0.5pJ/MAC; }\n"
    "}\n"
    "mapping best for chain on npu { option overlap = perfect; ...; }\n"
    "mapping found for chain on npu {\n"
    "    option overlap = perfect;\n"
    "    keep A, B, C, T in dram;\n"
    "    temporal m;\n"
    "    keep A, T in sram;\n"
    "    temporal n:2;\n"
    "    keep S in sram;\n"
    "    fuse {\n"
    "        S { on mac; temporal k, n; }\n"
    "        T { on mac; temporal n, o; }\n"
    "    }\n"
    "}\n";

static double product(const void *objective, double joules, double seconds)
{
    (void)objective;
    return joules * seconds;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_session *s = dfl_session_new(NULL);
    const dfl_claims *claims;
    dfl_certify_task task = { .value = product, .rounding = 1e-9, .effort = 5 };
    dfl_strbuf said;
    bool holds;

    if (dfl_session_open_text(s, "chain.dfl", text, sizeof text - 1) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        s->program->n_designs != 2)
        __builtin_trap();
    claims = dfl_claims_read(s->arena, s->sink, "c.json", (const char *)data, size);
    holds = claims != NULL;
    if (holds) {
        task.names = s->names;
        task.asked = s->program->designs[0].mapping;
        task.best = s->program->designs[1].mapping;
        dfl_strbuf_init(&said, s->arena);
        holds = dfl_certify(s->arena, s->sink, &task, claims, &said);
    }
    if (holds != (dfl_sink_errors(s->sink) == 0))
        __builtin_trap();
    dfl_session_free(s);
    return 0;
}
