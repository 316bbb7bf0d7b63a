#include "mapper/tiling/box_heap.h"

static bool is_before(const dfl_box_node *a, const dfl_box_node *b)
{
    return a->bound < b->bound || (a->bound == b->bound && a->number > b->number);
}

void dfl_box_heap_push(dfl_arena *arena, dfl_box_heap *heap, dfl_box_node node)
{
    node.number = heap->pushed++;
    dfl_box_heap_put_back(arena, heap, node);
}

void dfl_box_heap_put_back(dfl_arena *arena, dfl_box_heap *heap, dfl_box_node node)
{
    size_t i;

    DFL_PUSH(arena, &heap->nodes, node);
    for (i = heap->nodes.n - 1; i > 0 && is_before(&node, &heap->nodes.at[(i - 1) / 2]); i = (i - 1) / 2)
        heap->nodes.at[i] = heap->nodes.at[(i - 1) / 2];
    heap->nodes.at[i] = node;
}

dfl_box_node dfl_box_heap_pop(dfl_box_heap *heap)
{
    dfl_box_node *at = heap->nodes.at;
    const dfl_box_node top = at[0], node = at[--heap->nodes.n];
    size_t i = 0, k;

    while ((k = 2 * i + 1) < heap->nodes.n) {
        if (k + 1 < heap->nodes.n && is_before(&at[k + 1], &at[k]))
            k++;
        if (!is_before(&at[k], &node))
            break;
        at[i] = at[k];
        i = k;
    }
    at[i] = node;
    return top;
}

uint32_t dfl_box_widest(const dfl_form *form, dfl_box *const *boxes)
{
    uint32_t at = form->problem->n_ranks;
    double most = 1;

    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        if (boxes[r]->width > most) {
            most = boxes[r]->width;
            at = r;
        }
    return at;
}
