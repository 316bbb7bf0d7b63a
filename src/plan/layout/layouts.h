/*
 * How tensors lie on groups of chips. A layout states for every slot: one dimension of the tensor is split among the
 * instances, every instance has the same, or every instance has a part of a sum.
 */
#ifndef DFL_PLAN_LAYOUT_LAYOUTS_H
#define DFL_PLAN_LAYOUT_LAYOUTS_H

#include "plan/layout/frame.h"

/* A layout on one slot: the split dimension, from 0, or one of these. */
typedef int32_t dfl_layout;
enum {
    DFL_LAYOUT_REPLICATED = -1,
    DFL_LAYOUT_PARTIAL = -2,
    DFL_LAYOUT_WINDOW = -3,
    DFL_LAYOUT_ROWS = -4,      /* by the rows of a table to which the points go: data say which instance has an element */
};

typedef struct {
    uint32_t columns;
    dfl_layout *home;  /* [tensor * columns + slot]; never partial */
    bool *is_split;    /* [tensor * columns + slot]: a `split` of a keep states the layout */
    bool *is_summed;   /* [tensor * columns + slot]: its producers leave parts of a sum on this slot */
} dfl_layouts;

static inline dfl_layout dfl_layout_home(const dfl_layouts *l, uint32_t tensor, uint32_t slot)
{
    return l->home[(size_t)tensor * l->columns + slot];
}
/* Whether the parts of a gradient of a weight are summed on a slot behind the last micro-batch: each instance holds the whole
   sum of its own micro-batches until then. If the home is stated as split, each micro-batch sends its parts to their homes. */
bool dfl_layout_is_summed_late(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, uint32_t slot);
/* The layout in which an einsum asks for an operand: WINDOW if it needs neighbouring rows. Of gathered rows, that of the table:
   its dimensions count. */
dfl_layout dfl_layout_asked(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t slot);
/* The dimension of a tensor that some einsum indexes with a rank, alone or in a window; replicated if there is none. */
dfl_layout dfl_layout_dimension(const dfl_frame *f, uint32_t tensor, uint32_t rank);
/* Whether a tensor lies by the same rows as the points of an einsum that reads it. */
bool dfl_layout_same_rows(const dfl_frame *f, uint32_t tensor, uint32_t einsum);
/* Whether a tensor lies by the rows of a table at home on some slot. */
bool dfl_layout_is_by_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor);
/* The layout in which an einsum leaves its result. */
dfl_layout dfl_layout_made(const dfl_frame *f, uint32_t einsum, uint32_t slot);
/* The tensor that an einsum of a repeat reads in place of the one that the repeat carries from before: from the second
   iteration on, `from` is the `to` of the iteration before. DFL_NONE = the access is no such read. */
uint32_t dfl_layout_carried(const dfl_frame *f, uint32_t einsum, uint32_t tensor);
/* Dimensions by which the tensor that a repeat carries to the next iteration has more than the one that the first iteration
   reads, which may be the result of another repeat. */
dfl_layout dfl_layout_lead(const dfl_frame *f, uint32_t to, uint32_t from);
/* Layouts of the homes of all tensors. False after a report. */
bool dfl_layouts_find(const dfl_frame *f, dfl_layouts *out);

#endif
