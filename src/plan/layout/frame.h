/*
 * What all parts of the evaluation of a plan share: the groups of chips, the ranks that each einsum divides on them, and
 * the extents that remain for one chip and one pass.
 */
#ifndef DFL_PLAN_LAYOUT_FRAME_H
#define DFL_PLAN_LAYOUT_FRAME_H

#include "collective/collective.h"
#include "diag/diag.h"
#include "ir/mapping.h"

/* A group of instances of an axis of chips: `count` instances, `stride` apart. */
typedef struct {
    uint32_t axis;
    int64_t stride, count;
    dfl_span span;              /* place of the first number of parts */
    const dfl_stages *stages;   /* the instances are the stages of a pipeline; NULL = they work beside each other */
    uint32_t stage_rank;        /* rank of the repeat whose iterations the stages divide */
    bool is_cyclic;             /* elements are dealt round-robin: instance i has i, i + count, and so on */
} dfl_slot;

enum { DFL_SIDE_BOTH = 2 };

/* The points of an einsum in one pass, where data select the instances that compute them (`plan/layout/rows.h`). */
typedef struct {
    int64_t parts;              /* instances among which rows of a table divide the points; 1 = data select nothing */
    int64_t total;              /* points of all of them: values of the ranks of the positions */
    int64_t largest;            /* points of the instance with most of them */
    double load, uneven;        /* arguments of dfl_largest_part for `largest` */
} dfl_points;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_slot *slots; uint32_t n_slots;
    uint32_t columns;           /* most slots that there can be: the spatial lines and the splits of homes */
    uint32_t stage_slot;        /* the slot with stages; DFL_NONE = one stage */
    const dfl_line **spread;    /* [einsum * columns + slot]: the line by which the einsum divides a rank there; NULL = every
                                   instance computes the same */
    int64_t *local;             /* [einsum * n_ranks + rank]: extent on one chip; 1 for a rank that the einsum lacks */
    int64_t *pass;              /* the same in one pass: one micro-batch, one iteration of a repeat */
    bool *recomputed;           /* [tensor]: named by a `recompute` line, and no input of a layer */
    int64_t iteration;          /* of the repeats whose iterations differ by conditions (plan/pass/iterations.h) */
    struct dfl_mask_counts *counts; /* counts that do not differ between iterations (plan/layout/masks.c) */
    bool *repeats;              /* [rank]: the iterations of a repeat, which run one after another */
    uint32_t home;              /* the memory of the chips that holds tensors without a keep */
    uint32_t *home_of;          /* [tensor]: its memory */
    uint32_t *room_of;          /* [tensor]: the memory of the chip where einsums read and write it: `home_of`, or `home` if the
                                   tensor lies outside of the chip */
    bool is_offloaded;          /* some tensor lies outside of the chips */
    int8_t *side;               /* [einsum]: whether it stands before (-1), in (0) or behind (1) the repeat with stages, in the
                                   order of its phase; 0 without stages. The step of a weight runs where the forward pass
                                   reads the weight; DFL_SIDE_BOTH = before and behind the repeat */
    uint32_t *going; uint32_t n_going; /* the lines with an item in `goes` */
    const bool **goes;          /* [line of the root]: [einsum] its points go to the rows that the line divides; NULL = none do */
    const dfl_access **positions; /* [einsum]: the positions of these rows; NULL = its points go by no rows */
    const dfl_einsum **gather_of; /* [einsum]: the einsum of the forward pass that states how often rows are read */
    dfl_points *points;         /* [einsum] */
    int64_t *parts;             /* [einsum]: parts of a pass that a loop in its brace runs one after another; else 1 */
    uint32_t *parts_rank;       /* [einsum]: the rank that these parts divide, or DFL_NONE */
    int64_t micro_batches;
    const bool *last;           /* [rank]: the pass is the last one over the rank and may be smaller; NULL = all are whole */
    bool is_full;               /* all chips have work */
} dfl_frame;

static inline const dfl_line *dfl_frame_line(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    return f->spread[(size_t)einsum * f->columns + slot];
}
/* Whether the points of an einsum go to the instances of a slot by the rows of a table, which its line there divides. */
static inline bool dfl_frame_goes(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(f, einsum, slot);

    return line != NULL && f->goes[line - f->mapping->root->lines] != NULL && f->goes[line - f->mapping->root->lines][einsum];
}
static inline int64_t dfl_frame_local(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    return f->local[(size_t)einsum * f->workload->n_ranks + rank];
}
static inline int64_t dfl_frame_pass(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    return f->pass[(size_t)einsum * f->workload->n_ranks + rank];
}
static inline int dfl_frame_side(const dfl_frame *f, uint32_t einsum) { return f->side[einsum]; }
/* Whether the backward pass runs an einsum of the forward pass again. */
static inline bool dfl_frame_is_again(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    return e->phase == DFL_PHASE_FORWARD && f->recomputed[e->output.tensor];
}
/* Whether an einsum only starts a sum: it writes a constant. */
static inline bool dfl_einsum_is_start(const dfl_einsum *e) { return e->body->kind == DFL_EOP_CONST; }
/* Whether an einsum runs where the einsums before the repeat with stages run (`has_first`), or those behind it. */
static inline bool dfl_frame_runs(const dfl_frame *f, uint32_t einsum, bool has_first, bool has_last)
{
    const bool is_backward = f->workload->einsums[einsum].phase == DFL_PHASE_BACKWARD; /* begins behind the repeat */
    const int side = f->side[einsum];

    if (side == 0)
        return true;
    if (side == DFL_SIDE_BOTH)
        return has_first || has_last;
    return (side < 0) != is_backward ? has_first : has_last;
}
/* The table of which a tensor is the gathered rows; the tensor itself if it is none. */
static inline uint32_t dfl_frame_table(const dfl_frame *f, uint32_t tensor)
{
    return f->workload->tensors[tensor].table != DFL_NONE ? f->workload->tensors[tensor].table : tensor;
}
/* The tensor that an einsum writes: the table of a scatter, else its result. */
static inline uint32_t dfl_frame_target(const dfl_frame *f, uint32_t einsum)
{
    return dfl_frame_table(f, f->workload->einsums[einsum].output.tensor);
}
/* Whether a tensor lies outside of the chip. */
static inline bool dfl_frame_is_outside(const dfl_frame *f, uint32_t tensor) { return f->home_of[tensor] != f->room_of[tensor]; }
/* Whether an axis lies outside of the memories of a chip, so that its instances are chips. */
bool dfl_frame_is_chip_axis(const dfl_frame *f, uint32_t axis);
/* Parts of a split home. */
int64_t dfl_split_parts(const dfl_frame *f, const dfl_home_split *split);
/* Whether a spatial line divides a rank of an einsum, or the rows to which its points go. */
bool dfl_frame_applies(const dfl_frame *f, const dfl_line *line, uint32_t einsum);
/* A frame before its slots: `home` is set, DFL_NONE if no memory lies inside of an axis. */
dfl_frame dfl_frame_open(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Sets the slots and the extents; `micro_batches` stays 1. False after a report. */
bool dfl_frame_divide(dfl_frame *f);
/* The same with the number of micro-batches. False after a report. */
bool dfl_frame_build(dfl_frame *f);
/* The repeat that an einsum belongs to, or DFL_NONE. */
uint32_t dfl_frame_repeat(const dfl_frame *f, const dfl_einsum *e);

#endif
