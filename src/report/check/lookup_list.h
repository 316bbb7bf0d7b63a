/* The tree that paths walk, private to lookup.c and lookup_list.c: what can be named below a node. */
#ifndef DFL_REPORT_CHECK_LOOKUP_LIST_H
#define DFL_REPORT_CHECK_LOOKUP_LIST_H

#include "report/check/lookup.h"
#include "support/vec.h"

typedef enum {
    DFL_NODE_ROOT, DFL_NODE_DESIGN, DFL_NODE_LATENCY, DFL_NODE_ENERGY, DFL_NODE_COMPONENTS, DFL_NODE_MEMORY_ENERGY,
    DFL_NODE_OPERATIONS, DFL_NODE_EINSUMS, DFL_NODE_EINSUM, DFL_NODE_MEMORIES, DFL_NODE_MEMORY, DFL_NODE_TENSORS,
    DFL_NODE_TRAFFIC, DFL_NODE_NETWORKS, DFL_NODE_NETWORK, DFL_NODE_MACHINE,
    DFL_NODE_WORKLOAD, DFL_NODE_TENSOR, DFL_NODE_SYSTEM, DFL_NODE_SYSTEM_MEMORY, DFL_NODE_PORT,
    DFL_NODE_SYSTEM_COMPUTE, DFL_NODE_SYSTEM_NETWORK,
    DFL_NODE_VALUE, /* a figure; nothing below it */
    DFL_NODE_LATER, /* anything below a mapping without a result */
    DFL_NODE_OVERFLOW,
    DFL_NODE_UNCOUNTED,
} dfl_node_kind;

typedef struct {
    dfl_node_kind kind;
    const dfl_result_item *item;
    const dfl_workload *workload;
    const dfl_system *system;
    uint32_t a, b;    /* index of the part; of the tensor below it */
    dfl_found value;  /* of a VALUE; else what the node stands for, NOTHING when it has no obvious figure */
} dfl_node;

typedef struct { const char *name; dfl_node node; } dfl_node_entry;

typedef struct {
    const dfl_results *results;
    dfl_arena *arena;
    DFL_VEC(dfl_node_entry) entries; /* in order of preference */
} dfl_node_list;

/* Fills `list` with everything that can be named right below `node`. */
void dfl_node_children(dfl_node_list *list, const dfl_node *node);
/* What a path that starts with `name` starts at; false when nothing is called so. */
bool dfl_node_root(const dfl_results *results, dfl_sym name, dfl_node *node);
dfl_node dfl_node_quantity(dfl_quantity value);

#endif
