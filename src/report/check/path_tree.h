/* The tree of names that paths follow. The children of a mapping, a workload or a system are the rows of the table of
   figures with the view PATH, and the items of its lists. */
#ifndef DFL_REPORT_CHECK_PATH_TREE_H
#define DFL_REPORT_CHECK_PATH_TREE_H

#include "report/figures.h"

typedef enum {
    DFL_NODE_ROOT,   /* the file: mappings, workloads, systems */
    DFL_NODE_PLACE,  /* an object of the report */
    DFL_NODE_LIST,   /* a list of objects, named by its key */
    DFL_NODE_FIGURE, /* a figure, which has no children */
    DFL_NODE_LATER,  /* every name below a mapping without a result */
} dfl_node_kind;

typedef struct {
    dfl_node_kind kind;
    dfl_figure_place place;   /* PLACE: the object; LIST and FIGURE: the object with the list or figure */
    const dfl_figure *figure; /* LIST and FIGURE: row of the table of figures */
} dfl_node;

typedef struct { const char *name; dfl_node node; } dfl_node_entry;

typedef struct {
    const dfl_results *results;
    dfl_arena *arena;
    DFL_VEC(dfl_node_entry) entries; /* children in order of preference */
} dfl_node_list;

/* Fills `list` with the children of `node`. */
void dfl_node_children(dfl_node_list *list, const dfl_node *node);
/* Finds the node of the mapping, workload or system called `name`; false = none. */
bool dfl_node_root(const dfl_results *results, dfl_sym name, dfl_node *node);
/* Whether the node is an object of the scope `scope`. */
bool dfl_node_is_place(const dfl_node *node, dfl_figure_scope scope);

#endif
