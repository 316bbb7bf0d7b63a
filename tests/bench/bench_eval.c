/*
 * The figures of the README: evaluations of a fixed mapping, a network in one go, checking, memory. Each is the best of
 * several rounds of processor time on one core; beside it stands what the peers were measured or published to do.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "dfl/dfl.h"
#include "model/model.h"
#include "support/strbuf.h"
#include "tests/property/case.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Evaluates one mapping over and over: three levels, an array of 16. */
static void bench_matmul(void)
{
    enum { ROUNDS = 5, TIMES = 2000 };
    dfl_case *c = calloc(1, sizeof *c);
    dfl_arena *home = dfl_arena_new(NULL), *each = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(home);
    dfl_sink *sink = dfl_sink_new(home, NULL);
    double best = INFINITY;

    if (!c)
        abort();
    case_init(c);
    case_add_rank(c, "m", 512);
    case_add_rank(c, "n", 512);
    case_add_rank(c, "k", 512);
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ 512, 512 });
    case_add_input(c, "B", DFL_ROLE_WEIGHT, 2, (int64_t[]){ 512, 512 });
    case_add_einsum(c, "Z[m,n] += A[m,k] * B[k,n]");
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_memory(c, "sram", 0, 1);
    case_add_axis(c, "pe", 1, 16, CASE_ALL, CASE_ALL);
    case_add_memory(c, "reg", 1, 1);
    case_add_unit(c, "mac", 1);
    case_lines(c, 0, "keep A, B, Z in dram; temporal m:64, n:64; keep Z in sram; temporal k:64; keep A, B in sram;"
                     "temporal n:16; spatial n/16 on pe; temporal m:8; keep A, B, Z in reg; temporal m, k;");
    const dfl_paths *paths = dfl_paths_resolve(home, sink, names, case_mapping(c, home, names));
    for (int round = 0; paths && round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < TIMES; i++) {
            dfl_arena_reset(each);
            if (!dfl_model_eval(each, sink, names, paths))
                abort();
        }
        double took = (now() - start) / TIMES;
        best = took < best ? took : best;
    }
    printf("fixed mapping, 3-level matmul   %8.1f us each, %.0f evaluations/s and core (bar 1000000; MAESTRO 200 to 1600, "
           "Timeloop a few thousand)\n", best * 1e6, 1 / best);
    dfl_arena_free(each);
    dfl_arena_free(home);
    free(c);
}

/* All mappings of an example: counts, costs and checks, without reading the file. */
static void bench_example(const char *path, const char *what, const char *bar)
{
    double best = INFINITY;

    for (int round = 0; round < 5; round++) {
        dfl_session_options options = { .size = sizeof options, .stdlib = "stdlib" };
        dfl_session *s = dfl_session_new(&options);
        if (dfl_session_open(s, path) != DFL_EXIT_OK || dfl_session_check(s) != DFL_EXIT_OK)
            abort();
        double start = now();
        dfl_session_eval(s, NULL);
        best = now() - start < best ? now() - start : best;
        dfl_session_free(s);
    }
    printf("%-31s %8.2f ms (%s)\n", what, best * 1e3, bar);
}

/* A long file of workloads, systems and mappings, each with names of its own. */
static void bench_check(void)
{
    enum { COPIES = 4000, LINES = 21 };
    static const char text[] =
        "/// One layer.\n"
        "workload w%d(M = 64, N = 64, K = 64) : bf16 {\n"
        "    rank m = M, n = N, k = K;\n"
        "    input A[m, k];\n"
        "    weight B[k, n];\n"
        "    output Z[m, n] : fp32 += A[m, k] * B[k, n];\n"
        "}\n\n"
        "system s%d {\n"
        "    clock = 1GHz;\n"
        "    memory dram { size = 16GB; bandwidth = 100GB/s; energy = 7pJ/bit; }\n"
        "    memory sram { size = 1MiB; bandwidth = 1TB/s; energy = 1pJ/bit; }\n"
        "    compute mac { rate = 256MAC/cycle; energy = 0.1pJ/FLOP; }\n"
        "}\n\n"
        "mapping m%d for w%d on s%d {\n"
        "    keep A, B, Z in dram;\n"
        "    temporal m:16, n:16;\n"
        "    keep A, B, Z in sram;\n"
        "    temporal k, m, n;\n"
        "}\n";
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf all;
    double best = INFINITY;
    struct rusage usage;

    dfl_strbuf_init(&all, arena);
    for (int i = 0; i < COPIES; i++)
        dfl_strbuf_printf(&all, text, i, i, i, i, i);
    for (int round = 0; round < 3; round++) {
        dfl_session_options options = { .size = sizeof options, .stdlib = "stdlib" };
        dfl_session *s = dfl_session_new(&options);
        double start = now();
        if (dfl_session_open_text(s, "long.dfl", all.text, all.len) != DFL_EXIT_OK ||
            dfl_session_check(s) != DFL_EXIT_OK)
            printf("check of the long file fails\n");
        best = now() - start < best ? now() - start : best;
        dfl_session_free(s);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("check of %6d lines           %8.1f ms, %.2f million lines/s (bar 1 million)\n", COPIES * LINES, best * 1e3,
           COPIES * LINES / best / 1e6);
    printf("largest memory of all the above %8.1f MB\n", (double)usage.ru_maxrss / 1024);
    dfl_arena_free(arena);
}

int main(void)
{
    bench_matmul();
    bench_example("examples/resnet50_nvdla.dfl", "ResNet-50 on NVDLA, all layers", "bar 5 ms");
    bench_example("examples/attention.dfl", "attention, fused and not", "no bar");
    bench_check();
    return 0;
}
