/*
 * Measures the time of one cost of a collective: groups of a GPT-3 step on 1,024 and 16,384 GPUs in nodes of 8 over a fat tree,
 * and of 4,096 chips on a torus.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/collective/chips.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench(const char *what, const dfl_system *s, dfl_collective_kind kind, double bits, const dfl_group_part *parts,
                  uint32_t n_parts)
{
    enum { ROUNDS = 5, TIMES = 50 };
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    const dfl_collective c = { .kind = kind, .bits = bits, .parts = parts, .n_parts = n_parts, .element = s->n_elements - 1 };
    const dfl_collective_options options = { .contention_none = false, .chunks = 0 };
    dfl_collective_cost cost;
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        double start = now(), took;
        for (int i = 0; i < TIMES; i++) {
            dfl_arena_reset(scratch);
            if (!dfl_collective_find(scratch, sink, names, s, (dfl_span){ 0 }, &c, &options, &cost))
                abort();
        }
        took = (now() - start) / TIMES;
        best = took < best ? took : best;
    }
    printf("%-45s %8.2f us (bar 50), %s %.4g us\n", what, best * 1e6, dfl_algorithm_name(cost.algorithm), cost.seconds * 1e6);
    dfl_arena_free(scratch);
    dfl_arena_free(arena);
}

static void bench_nodes(int64_t nodes)
{
    static const double wide[] = { 1, 1, 1 };
    const chip_plan plan = {
        .networks = { { .bandwidth = 2e11, .latency = 1.3e-7, .port = 1,
                        .topology = { .kind = DFL_TOPOLOGY_FAT_TREE, .levels = 3, .oversubscription = wide,
                                      .overhead = 3.7e-7 } },
                      { .bandwidth = 2.4e12, .latency = 1e-7, .port = DFL_NONE, .topology.kind = DFL_TOPOLOGY_SWITCH } },
        .n_networks = 2, .axes = { { nodes, 0 }, { 8, 1 } },
    };
    const dfl_group_part tensor = { 1, 1, 8, 0 }, data = { 0, 16, nodes / 16, 0 }, stages = { 0, 1, 16, 0 };
    const dfl_group_part all[] = { { 0, 1, nodes, 0 }, { 1, 1, 8, 0 } };
    chip_system s;

    make_chips(&plan, &s);
    printf("%lld GPUs in nodes of 8\n", (long long)nodes * 8);
    bench("  all-reduce of a node", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 4e8, &tensor, 1);
    bench("  all-reduce of nodes 16 apart", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 7e9, &data, 1);
    bench("  reduce-scatter of nodes 16 apart", &s.system, DFL_COLLECTIVE_REDUCE_SCATTER, 7e9, &data, 1);
    bench("  messages between stages", &s.system, DFL_COLLECTIVE_POINT_TO_POINT, 4e8, &stages, 1);
    bench("  all-reduce of all GPUs", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 1e9, all, 2);
    bench("  all-to-all of all GPUs", &s.system, DFL_COLLECTIVE_ALL_TO_ALL, 1e9, all, 2);
}

static void bench_torus(void)
{
    const chip_plan plan = {
        .networks = { { .bandwidth = 4e11, .latency = 1e-6, .port = DFL_NONE, .topology.kind = DFL_TOPOLOGY_TORUS } },
        .n_networks = 1, .axes = { { 16, 0 }, { 16, 0 }, { 16, 0 } },
    };
    const dfl_group_part line = { 2, 1, 16, 0 }, strided = { 0, 4, 4, 0 };
    const dfl_group_part plane[] = { { 1, 1, 16, 0 }, { 2, 1, 16, 0 } };
    const dfl_group_part all[] = { { 0, 1, 16, 0 }, { 1, 1, 16, 0 }, { 2, 1, 16, 0 } };
    chip_system s;

    make_chips(&plan, &s);
    printf("torus of 16 x 16 x 16\n");
    bench("  all-reduce of a line", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 4e8, &line, 1);
    bench("  all-gather of chips 4 apart", &s.system, DFL_COLLECTIVE_ALL_GATHER, 4e8, &strided, 1);
    bench("  all-reduce of a plane", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 4e8, plane, 2);
    bench("  all-reduce of all chips", &s.system, DFL_COLLECTIVE_ALL_REDUCE, 4e8, all, 3);
    bench("  all-to-all of all chips", &s.system, DFL_COLLECTIVE_ALL_TO_ALL, 4e8, all, 3);
}

int main(void)
{
    bench_nodes(128);
    bench_nodes(2048);
    bench_torus();
    return 0;
}
