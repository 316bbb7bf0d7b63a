/*
 * The training layer of DFModel as a graph of kernels, read from its tables: what a group of kernels costs under DFModel's
 * assumptions, for the search of groups (src/groups). The tables stand in the reference folder and are read in place.
 */
#ifndef DFL_TESTS_HARNESS_LAYER_GRAPH_H
#define DFL_TESTS_HARNESS_LAYER_GRAPH_H

#include "groups/groups.h"

enum { LAYER_KERNELS = 41, LAYER_EDGES = 53, LAYER_TENSOR_DEGREE = 8 };

/* A kernel on one of the chips of a tensor-parallel group. */
typedef struct {
    double flop;               /* 2 of a multiply-add of a matmul, 1 of an element of other kernels */
    double out_bytes, weight_bytes;
    double all_reduce_bytes;   /* of the result, summed over the group; 0 = none */
    double gradient_bytes;     /* of a weight, summed over the data-parallel chips; 0 = none */
    bool is_backward;
} layer_kernel;

typedef struct {
    layer_kernel kernels[LAYER_KERNELS];
    struct { uint32_t from, to; } edges[LAYER_EDGES];
    dfl_einsum_set before[LAYER_KERNELS];  /* and the backward pass runs behind the forward pass */
} layer_graph;

/* A chip that runs the groups. Rates per nanosecond. */
typedef struct {
    const layer_graph *graph;
    double flops;              /* that matmuls and others reach */
    double dram, room;         /* bytes per ns; bytes of weights that one group may hold on the chip */
    double all_reduce, gradient; /* ns per byte */
} layer_chip;

/* Reads the graph from FOLDER/dfmodel; false if the tables are not there. */
bool layer_graph_read(const char *folder, layer_graph *graph);
/* Nanoseconds of a group for one sequence: the longest of operations, memory and network. Each edge between groups is charged
   at both. INFINITY if its weights do not fit, or if it has kernels of both passes. */
double layer_group_ns(void *context, dfl_einsum_set group);
/* The least groups, at most `most`; `floor` has LAYER_KERNELS entries and is set. */
dfl_groups layer_groups_find(dfl_arena *arena, layer_chip *chip, uint32_t most, double *floor);

#endif
