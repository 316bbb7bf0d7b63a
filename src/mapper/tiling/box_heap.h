/*
 * The open nodes of a search by boxes, least bound first. Of nodes with equal bounds the last one comes first: it is close to a
 * point, so the search ends with few nodes open.
 */
#ifndef DFL_MAPPER_TILING_BOX_HEAP_H
#define DFL_MAPPER_TILING_BOX_HEAP_H

#include "mapper/tiling/box.h"

typedef struct {
    double bound;            /* lower bound of the objective over the node */
    uint64_t number;         /* set by the heap: nodes that were pushed before */
    uint32_t form;           /* index of its form in the search */
    uint32_t depth;          /* splits since a geometric program bounded it */
    dfl_box **boxes;         /* by rank */
} dfl_box_node;

typedef struct {
    DFL_VEC(dfl_box_node) nodes;  /* nodes.at[0] is the first one */
    uint64_t pushed;
} dfl_box_heap;

void dfl_box_heap_push(dfl_arena *arena, dfl_box_heap *heap, dfl_box_node node);
/* Adds a node that was removed, with its number. */
void dfl_box_heap_put_back(dfl_arena *arena, dfl_box_heap *heap, dfl_box_node node);
/* Removes the first node of a heap that is not empty. */
dfl_box_node dfl_box_heap_pop(dfl_box_heap *heap);
/* Rank of a node with the widest box; the number of ranks if all boxes are points. */
uint32_t dfl_box_widest(const dfl_form *form, dfl_box *const *boxes);

#endif
