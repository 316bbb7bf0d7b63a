#include "tests/harness/layer_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

/* One row of graph_gpt1t_kernels.csv. */
static bool read_kernel(const char *row, uint32_t id, layer_kernel *k)
{
    char name[64], type[16], phase[16], tile[16], division[16];
    double outer, m, inner, n, weight, out;
    unsigned at, gradient;

    if (sscanf(row, "%u,%63[^,],%15[^,],%15[^,],%lf,%lf,%lf,%lf,%lf,%lf,%15[^,],%15[^,],%u", &at, name, type, phase, &outer, &m,
               &inner, &n, &weight, &out, tile, division, &gradient) != 13 || at != id + 1)
        return false;
    const double parts = strcmp(division, "NONE") == 0 ? 1 : LAYER_TENSOR_DEGREE;
    const bool sums = strcmp(division, "K") == 0;

    k->flop = outer * m * n * (strcmp(type, "SYSTOLIC") == 0 ? 2 * inner : 1) / parts;
    k->out_bytes = sums ? out : out / parts;
    k->weight_bytes = weight / parts;
    k->all_reduce_bytes = sums ? out : 0;
    k->gradient_bytes = gradient ? out / parts : 0;
    k->is_backward = strcmp(phase, "BWD") == 0;
    return true;
}

static char *read_table(const char *folder, const char *name)
{
    char path[4096];
    size_t len = 0;

    snprintf(path, sizeof path, "%s/dfmodel/%s", folder, name);
    return check_read_file(path, &len);
}

bool layer_graph_read(const char *folder, layer_graph *graph)
{
    char *kernels = read_table(folder, "graph_gpt1t_kernels.csv"), *edges = read_table(folder, "graph_gpt_edges.csv");
    const char *row = kernels;
    bool is_read = kernels != NULL && edges != NULL;

    memset(graph, 0, sizeof *graph);
    for (uint32_t i = 0; is_read && i < LAYER_KERNELS; i++) {
        row = strchr(row, '\n');
        is_read = row != NULL && read_kernel(++row, i, &graph->kernels[i]);
    }
    row = edges;
    for (uint32_t i = 0; is_read && i < LAYER_EDGES; i++) {
        unsigned from, to;
        row = strchr(row, '\n');
        is_read = row != NULL && sscanf(++row, "%u,%u", &from, &to) == 2 && 0 < from && from < to && to <= LAYER_KERNELS;
        if (!is_read)
            break;
        graph->edges[i].from = from - 1;
        graph->edges[i].to = to - 1;
        graph->before[to - 1] |= DFL_EINSUM_BIT(from - 1);
    }
    for (uint32_t i = 0; i < LAYER_KERNELS; i++)
        for (uint32_t j = 0; j < i; j++)
            if (graph->kernels[i].is_backward && !graph->kernels[j].is_backward)
                graph->before[i] |= DFL_EINSUM_BIT(j);
    free(kernels);
    free(edges);
    return is_read;
}

double layer_group_ns(void *context, dfl_einsum_set group)
{
    const layer_chip *chip = context;
    const layer_graph *graph = chip->graph;
    double flop = 0, moved = 0, network = 0, weights = 0;
    bool has[2] = { false, false };

    for (uint32_t i = 0; i < LAYER_KERNELS; i++) {
        const layer_kernel *k = &graph->kernels[i];
        if (!(group & DFL_EINSUM_BIT(i)))
            continue;
        has[k->is_backward] = true;
        flop += k->flop;
        weights += k->weight_bytes;
        network += k->all_reduce_bytes * chip->all_reduce + k->gradient_bytes * chip->gradient;
    }
    for (uint32_t i = 0; i < LAYER_EDGES; i++) {
        const bool from = (group & DFL_EINSUM_BIT(graph->edges[i].from)) != 0;
        const bool to = (group & DFL_EINSUM_BIT(graph->edges[i].to)) != 0;
        moved += from != to ? graph->kernels[graph->edges[i].from].out_bytes : 0;
    }
    if (weights > chip->room || (has[0] && has[1]))
        return INFINITY;
    return fmax(flop / chip->flops, fmax(moved / chip->dram, network));
}

dfl_groups layer_groups_find(dfl_arena *arena, layer_chip *chip, uint32_t most, double *floor)
{
    const dfl_group_problem problem = { .n = LAYER_KERNELS, .most = most, .before = chip->graph->before, .cost = layer_group_ns,
                                        .context = chip, .floors = floor, .n_floors = 1 };

    for (uint32_t i = 0; i < LAYER_KERNELS; i++)
        floor[i] = chip->graph->kernels[i].flop / chip->flops;
    return dfl_groups_find(arena, &problem);
}
