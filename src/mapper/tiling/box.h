/*
 * A box is an interval of amounts for every cut of one rank. A node of the search is a form with one box per rank. The boxes of a
 * form and a rank make a binary tree whose root holds all amounts. Nodes share boxes; a child is made when it is first visited.
 *
 * Where amounts must divide what they cut (dfl_form.divisors), the ends of an interval are divisors of the extent, and of the
 * piece above where its length is known (rule D5 of SEARCH.md). Then the amounts of a point divide what they cut. A
 * point is possible if written lines admit it (dfl_fixed_lines_admits).
 */
#ifndef DFL_MAPPER_TILING_BOX_H
#define DFL_MAPPER_TILING_BOX_H

#include "mapper/tiling/form.h"

typedef struct dfl_box {
    int64_t *low, *high;        /* by cut */
    bool is_possible;           /* some amounts cut the rank into pieces of one element */
    bool is_point;              /* low = high everywhere */
    bool is_exact;              /* a point whose figures are exact: with merged axes, equal for all factorings (merge.h) */
    double width;               /* by how much a split would help: the largest ratio high / low, or DFL_BOX_WHOLE */
    uint32_t widest;            /* cut to split */
    struct dfl_box *child[2];   /* lower and upper half; NULL = not made */
    double *figure;             /* bounds of the figures of the chain */
    double *product;            /* by product of the form: the figure of this rank, or 1 */
} dfl_box;

/* Width of a box in which a temporal loop may leave pieces whole, or may cut them. */
#define DFL_BOX_WHOLE 1e9

/* The root of the tree of a rank: all amounts. */
dfl_box *dfl_box_make(dfl_arena *arena, const dfl_form *form, uint32_t rank);
/* A root with the amounts between `low` and `high`, by cut; 0 = no limit. */
dfl_box *dfl_box_within(dfl_arena *arena, const dfl_form *form, uint32_t rank, const int64_t *low, const int64_t *high);
/* The cuts of a rank as written lines see them (given.h), where amounts divide: iterations by gap, and parts by axis, both
   `stride` apart. */
void dfl_box_cuts(const dfl_form *form, uint32_t rank, const int64_t *amounts, uint32_t stride, int64_t *cut, int64_t *parts);
/* The parts of a point on each axis of the problem. */
void dfl_box_parts(const dfl_form *form, uint32_t rank, const dfl_box *point, int64_t *parts);
/* Whether the parts of all ranks on a merged axis can be factored (merge.h), as far as they are known, with those of `rank` at
   `cut`; true for other cuts. */
bool dfl_box_factors(const dfl_form *form, dfl_box *const *boxes, uint32_t rank, uint32_t cut);
/* Half of a box that is no point: the amounts of its widest cut up to the middle (side 0), or above it (side 1). */
dfl_box *dfl_box_half(dfl_arena *arena, const dfl_form *form, uint32_t rank, dfl_box *box, uint32_t side);

#endif
