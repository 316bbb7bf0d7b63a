/*
 * Measures the search of groups on one chip: the 41 kernels of DFModel's training layer in at most six groups, for a chip with
 * slow and with fast links and memory, and in any number of groups. Reads the kernels from the reference folder.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/harness/layer_graph.h"

enum { ROUNDS = 5 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench(const char *name, layer_chip *chip, uint32_t most)
{
    double best = INFINITY, floor[LAYER_KERNELS];
    dfl_groups found = { 0 };

    for (int round = 0; round < ROUNDS; round++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        const double start = now();
        found = layer_groups_find(arena, chip, most, floor);
        const double took = now() - start;
        best = took < best ? took : best;
        dfl_arena_free(arena);
    }
    printf("groups of 41 kernels, %-24s %6.1f ms, %u groups, %s, %llu evaluated (bar 50 ms)\n", name, best * 1e3, found.n,
           found.proven ? "proven" : "not proven", (unsigned long long)found.evaluated);
}

int main(void)
{
    const char *folder = getenv("REFERENCE") != NULL ? getenv("REFERENCE") : "../shared/reference";
    layer_graph graph;
    layer_chip slow = { .graph = &graph, .flops = 0.9 * 614400, .dram = 300, .room = 671088640, .all_reduce = 14.0 / 8 / 50 };
    layer_chip fast = { .graph = &graph, .flops = 0.9 * 614400, .dram = 3072, .room = 671088640, .all_reduce = 14.0 / 8 / 450 };

    if (!layer_graph_read(folder, &graph)) {
        printf("groups of 41 kernels: skipped, there is no %s/dfmodel\n", folder);
        return 0;
    }
    bench("slow, at most 6", &slow, 6);
    bench("fast, at most 6", &fast, 6);
    bench("slow, any number", &slow, 0);
    return 0;
}
