/*
 * Measures the figures of tests/MEASURED.md: evaluations of a fixed mapping, of a whole network, checking, and memory. Each
 * figure is the best processor time of several rounds on one core, printed beside the measured or published figures of
 * the peers.
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

/* A mapping to evaluate, and the loop whose tile changes between evaluations. */
typedef struct {
    dfl_arena *scratch;
    dfl_sink *sink;
    dfl_intern *names;
    dfl_paths *paths;
    dfl_model *model;
    dfl_line *resized;         /* loop whose tile changes before each call, or NULL */
    int64_t tiles[2];
    int times;                 /* evaluations of one round; 0 = as many as usual */
    bool fresh;                /* each evaluation prepares the model and runs it; false = runs it only */
} evaluation;

/* Time of one evaluation, s. */
static double best_time(const evaluation *v)
{
    enum { ROUNDS = 5 };
    const int times = v->times > 0 ? v->times : 20000;
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < times; i++) {
            bool ok = true;
            dfl_arena_reset(v->scratch);
            if (v->resized) {
                v->resized->amount = v->tiles[i & 1];
                ok = dfl_paths_resize(v->scratch, v->sink, v->names, v->paths);
            }
            ok = ok && (v->fresh ? dfl_model_eval(v->scratch, v->sink, v->names, v->paths) : dfl_model_run(v->model, v->scratch));
            if (!ok)
                abort();
        }
        double took = (now() - start) / times;
        best = took < best ? took : best;
    }
    return best;
}

static void print_evaluation(const char *what, double seconds, const char *bar)
{
    printf("%-31s %8.2f us each, %.0f evaluations/s and core (%s)\n", what, seconds * 1e6, 1 / seconds, bar);
}

/* Resolves the mapping of the case, and prepares the model for it. */
static const dfl_mapping *prepare(dfl_case *c, dfl_arena *home, evaluation *v)
{
    const dfl_mapping *m = case_mapping(c, home, v->names);

    v->paths = dfl_paths_resolve(home, v->sink, v->names, m);
    v->model = v->paths ? dfl_model_prepare(home, v->sink, v->names, v->paths) : NULL;
    if (!v->model)
        abort();
    return m;
}

/* Evaluates one mapping over and over: three levels, an array of 16 with a network of a kind. */
static void bench_matmul(case_network kind)
{
    dfl_case *c = calloc(1, sizeof *c);
    dfl_arena *home = dfl_arena_new(NULL);
    evaluation v = { .scratch = dfl_arena_new(NULL), .names = dfl_intern_new(home), .sink = dfl_sink_new(home, NULL) };

    if (!c)
        abort();
    case_init_matmul(c, 512, 512, 512);
    case_add_memory(c, "dram", 0, 1);
    case_add_memory(c, "sram", 0, 1);
    case_add_axis(c, "pe", 1, 16, CASE_ALL, CASE_ALL);
    case_add_memory(c, "reg", 1, 1);
    case_add_unit(c, "mac", 1);
    c->networks[1] = kind;
    case_lines(c, 0, "keep A, B, Z in dram; temporal m:64, n:64; keep Z in sram; temporal k:64; keep A, B in sram;"
                     "temporal n:16; spatial n/16 on pe; temporal m:8; keep A, B, Z in reg; temporal m, k;");
    const dfl_mapping *m = prepare(c, home, &v);
    printf("array with network: %s\n", kind == CASE_WIRELESS ? "none" : case_network_names[kind]);
    print_evaluation("  fixed mapping, 3-level matmul", best_time(&v),
                     "bar 1000000; MAESTRO 200 to 1600, Timeloop a few thousand");
    v.resized = &m->root->lines[6];
    v.tiles[0] = 32;
    v.tiles[1] = 64;
    print_evaluation("  other tiles for each", best_time(&v), "no bar");
    v.tiles[0] = 48;
    v.tiles[1] = 80;
    print_evaluation("  other ragged tiles for each", best_time(&v), "no bar");
    v.resized = NULL;
    v.fresh = true;
    print_evaluation("  prepared anew for each", best_time(&v), "no bar");
    dfl_arena_free(v.scratch);
    dfl_arena_free(home);
    free(c);
}

/* Evaluates mappings of a matrix product of 1009 on a mesh of 850 x 1000 instances, with ranks on both axes. */
static void bench_large_mesh(void)
{
    dfl_case *c = calloc(1, sizeof *c);
    dfl_arena *home = dfl_arena_new(NULL);
    evaluation v = { .scratch = dfl_arena_new(NULL), .names = dfl_intern_new(home), .sink = dfl_sink_new(home, NULL), .times = 500 };

    if (!c)
        abort();
    case_init_matmul(c, 1009, 1009, 1009);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "px", 1, 850, CASE_ALL, CASE_NO);
    case_add_axis(c, "py", 1, 1000, CASE_ALL, CASE_NO);
    case_add_memory(c, "sram", 1, 1);
    case_add_memory(c, "reg", 1, 1);
    case_add_unit(c, "mac", 1);
    c->networks[1] = CASE_MESH;
    case_lines(c, 0, "keep A, B, Z in dram; temporal k:100; spatial n/17 on px; spatial k/50 on px; spatial m/111 on py;"
                     "spatial n/9 on py; keep B in sram; temporal m:2, n:2; keep Z in reg; temporal m, n, k;");
    const dfl_mapping *m = prepare(c, home, &v);
    v.resized = &m->root->lines[1];
    v.tiles[0] = 100;
    v.tiles[1] = 90;
    print_evaluation("mesh of 850 x 1000, ragged tiles", best_time(&v), "no bar");
    dfl_arena_free(v.scratch);
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

/* A chain of matrix products, one after the other in one mapping: how the time grows with the number of einsums. */
static void bench_chain(int n)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_session_options options = { .size = sizeof options, .stdlib = "stdlib" };
    dfl_strbuf text;
    double best = INFINITY;

    dfl_strbuf_init(&text, arena);
    dfl_strbuf_z(&text, "workload w : bf16 {\n    rank m = 32");
    for (int i = 0; i <= n; i++)
        dfl_strbuf_printf(&text, ", n%d = 32", i);
    dfl_strbuf_z(&text, ";\n    input T0[m, n0];\n");
    for (int i = 0; i < n; i++)
        dfl_strbuf_printf(&text, "    weight W%d[n%d, n%d];\n    T%d[m, n%d] += T%d[m, n%d] * W%d[n%d, n%d];\n", i, i, i + 1,
                          i + 1, i + 1, i, i, i, i, i + 1);
    dfl_strbuf_z(&text, "}\nsystem s {\n    clock = 1GHz;\n    memory dram { size = 16GB; bandwidth = 100GB/s; energy = 7pJ/bit; }\n"
                        "    memory sram { size = 1MiB; bandwidth = 1TB/s; energy = 1pJ/bit; }\n"
                        "    compute mac { rate = 256MAC/cycle; energy = 0.1pJ/FLOP; }\n}\nmapping m for w on s {\n    keep T0");
    for (int i = 0; i < n; i++)
        dfl_strbuf_printf(&text, ", W%d, T%d", i, i + 1);
    dfl_strbuf_z(&text, " in dram;\n");
    for (int i = 0; i < n; i++)
        dfl_strbuf_printf(&text, "    T%d { temporal m:8; keep T%d, T%d in sram; temporal n%d:8; keep W%d in sram; "
                          "temporal m, n%d, n%d; }\n", i + 1, i, i + 1, i + 1, i, i, i + 1);
    dfl_strbuf_z(&text, "}\n");
    for (int round = 0; round < 3; round++) {
        dfl_session *s = dfl_session_new(&options);
        if (dfl_session_open_text(s, "chain.dfl", text.text, text.len) != DFL_EXIT_OK ||
            dfl_session_check(s) != DFL_EXIT_OK)
            printf("check of the chain fails\n");
        double start = now();
        if (dfl_session_eval(s, NULL) != DFL_EXIT_OK)
            printf("the chain fails\n");
        best = now() - start < best ? now() - start : best;
        dfl_session_free(s);
    }
    printf("%4d matmuls in one mapping      %8.2f ms (no bar)\n", n, best * 1e3);
    dfl_arena_free(arena);
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
    bench_matmul(CASE_WIRELESS);
    bench_matmul(CASE_BUS);
    bench_matmul(CASE_CROSSBAR);
    bench_matmul(CASE_MESH);
    bench_large_mesh();
    bench_example("examples/resnet50_nvdla.dfl", "ResNet-50 on NVDLA, all layers", "bar 5 ms");
    bench_example("examples/attention.dfl", "attention, fused and not", "no bar");
    bench_check();
    bench_chain(100);
    bench_chain(1000);
    return 0;
}
