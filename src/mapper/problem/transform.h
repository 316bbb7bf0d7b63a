/*
 * A problem that is changed, so that the search, which is exact in its space, finds mappings outside of it: what it finds
 * for the changed problem is a mapping of the given one, once it is changed back.
 *
 *   order       the einsums in another order, one in which they can run
 *   loops       ranks are as long as one tile of a loop that then stands around everything: the einsums share it on top
 *               of the loops that the search shares. What is read through a window is as long as the window of one tile.
 *               Where an einsum does not go along with the loop, what it makes and is kept below is computed as it is read,
 *               or all of it again in every iteration (`again`)
 *   spills      some readers of an intermediate read another tensor, which is there from the start: those get it from its
 *               home, and the others exchange it as the search likes; every element also goes home
 *   narrow      an axis has fewer instances, so that einsums can stand beside each other on it
 *
 * A mapping that is changed back need not be legal: whoever takes it has it evaluated.
 */
#ifndef DFL_MAPPER_PROBLEM_TRANSFORM_H
#define DFL_MAPPER_PROBLEM_TRANSFORM_H

#include "ir/mapping.h"

enum { DFL_VARIANT_LOOPS = 2, DFL_VARIANT_SPILLS = 8 };

typedef struct { uint32_t rank; int64_t tile; } dfl_transform_loop;
/* An einsum that reads the tensor from its home; DFL_NONE: none does, but the tensor leaves the chip. */
typedef struct { uint32_t tensor, reader; } dfl_transform_spill;

typedef struct {
    const uint32_t *order;                       /* [place]: einsum; NULL = as declared */
    dfl_transform_loop loop[DFL_VARIANT_LOOPS];  /* outermost first */
    uint32_t n_loops;
    bool again;                                  /* say `recompute` where something may be computed again */
    dfl_transform_spill spill[DFL_VARIANT_SPILLS];
    uint32_t n_spills;
    int64_t narrow;                              /* instances of `axis`; 0 = no axis is narrowed */
    uint32_t axis;
} dfl_transform;

/* Whether one of `n` lines keeps the tensor in the memory; DFL_NONE = in any. */
bool dfl_lines_keep(const dfl_line *lines, size_t n, uint32_t tensor, uint32_t memory);
/* By rank: the first of those that run along with it, through tensors that are exchanged, itself if it is that. */
const uint32_t *dfl_transform_linked(dfl_arena *arena, const dfl_workload *w);
/* Whether the einsum has the rank, or one that runs along with it by `linked`. */
bool dfl_transform_goes_along(const dfl_workload *w, const uint32_t *linked, uint32_t rank, uint32_t einsum);
/* Elements of dimension `d` of a result that all readers reach over ranks as long as `ranks`; the shape where nobody reads it. */
int64_t dfl_transform_wanted(const dfl_workload *w, const dfl_rank *ranks, uint32_t tensor, uint32_t d);
/* Whether some einsum makes less in an iteration of the loops, because it is read through windows. */
bool dfl_transform_slides(dfl_arena *arena, const dfl_workload *w, const dfl_transform *v);
/* The problem to search. */
const dfl_mapping *dfl_transform_apply(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v);
/* The problem without written homes for what is exchanged, all of which is intermediate: the einsums by themselves cost no
   more there than in any of the spills. */
const dfl_mapping *dfl_transform_loosest(dfl_arena *arena, const dfl_mapping *given);
/* The mapping `found` of the problem `asked`, as one of the given workload and system. */
dfl_mapping *dfl_transform_undo(dfl_arena *arena, const dfl_mapping *given, const dfl_transform *v, const dfl_mapping *asked,
                                const dfl_mapping *found);

#endif
