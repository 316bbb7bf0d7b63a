/* The tree that paths walk: the names that can follow at a node. The nodes below a mapping, a workload or a system are the rows
   of the table of figures with the view PATH, and the items of its lists. */
#ifndef DFL_REPORT_CHECK_PATH_TREE_H
#define DFL_REPORT_CHECK_PATH_TREE_H

#include "report/figures.h"

typedef enum {
    DFL_NODE_ROOT,   /* the file: mappings, workloads, systems */
    DFL_NODE_PLACE,  /* an object of the report */
    DFL_NODE_LIST,   /* a list of objects, by its key */
    DFL_NODE_FIGURE, /* no node below */
    DFL_NODE_LATER,  /* anything below a mapping without a result */
} dfl_node_kind;

typedef struct {
    dfl_node_kind kind;
    dfl_figure_place place;   /* the object, or the object that has the list or figure */
    const dfl_figure *figure; /* the list or figure */
} dfl_node;

typedef struct { const char *name; dfl_node node; } dfl_node_entry;

typedef struct {
    const dfl_results *results;
    dfl_arena *arena;
    DFL_VEC(dfl_node_entry) entries; /* in order of preference */
} dfl_node_list;

/* Fills `list` with all nodes right below `node`. */
void dfl_node_children(dfl_node_list *list, const dfl_node *node);
/* The node of the mapping, workload or system `name`; false if there is none. */
bool dfl_node_root(const dfl_results *results, dfl_sym name, dfl_node *node);
/* Whether the node is an object of this scope. */
bool dfl_node_is_place(const dfl_node *node, dfl_figure_scope scope);

#endif
