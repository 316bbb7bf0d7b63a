/*
 * Axes that are searched as one (bound B16 of SEARCH.md). Neighbours of one array between which no memory stands, and which share
 * transfers of the same operands, make one *merged* axis whose number of parts is the product of theirs. For the costs of a
 * mapping only this product matters, but for pieces that are not full; so the search need not tell apart 4 x 2 from 2 x 4.
 *
 * `parts` of a merged axis are possible for ranks together if each can be written as a product with one factor per axis, so that
 * the factors of all ranks multiply to at most the size of each axis. Such a product is a *factoring*.
 */
#ifndef DFL_MAPPER_TILING_MERGE_H
#define DFL_MAPPER_TILING_MERGE_H

#include "mapper/skeleton/template.h"
#include "mapper/tiling/chain.h"

typedef struct {
    uint32_t first, n;                  /* axes of the problem that it stands for */
    int64_t size[DFL_PROBLEM_AXES];     /* of these */
    bool *can;                          /* by number of parts, up to the product of the sizes: whether one rank can have it */
} dfl_merged_axis;

typedef struct dfl_merge {
    const dfl_problem *real;            /* with its own axes */
    dfl_problem *problem;               /* with merged axes; all other members are equal */
    dfl_merged_axis axis[DFL_PROBLEM_AXES];  /* by axis of `problem` */
} dfl_merge;

/* Calls `use` with a factoring: by rank and axis of the real problem, `factor[rank * n_axes + axis]`. */
typedef void dfl_merge_use(void *context, const int64_t *factor);

/* Merges the axes of a problem without windows and written lines; NULL if there are none to merge. */
const dfl_merge *dfl_merge_make(dfl_arena *arena, const dfl_problem *problem);
/* The skeleton of the real problem for one of the merged problem. */
dfl_tiling_template dfl_merge_split(const dfl_merge *merge, const dfl_tiling_template *skeleton);
/* Whether some factoring has these parts on a merged axis, by rank. */
bool dfl_merge_fits(const dfl_merge *merge, uint32_t axis, const int64_t *parts);
/* Calls `use` for each factoring of these parts: `parts[rank * n_axes + axis]` by axis of the merged problem. */
void dfl_merge_each(const dfl_merge *merge, const int64_t *parts, dfl_merge_use *use, void *context);
/* The amounts of a rank in the chain of the real problem: those of the merged chain, with one factor for each real axis. */
void dfl_merge_amounts(const dfl_merge *merge, const dfl_chain *merged, const int64_t *amounts, const int64_t *factor,
                       int64_t *out);
/* The number of parts next to `parts` that one rank can have, downwards or upwards; 0 if there is none. */
int64_t dfl_merge_round(const dfl_merged_axis *axis, int64_t parts, bool upwards);
/* Bounds of the figures of a chain with cuts on merged axes, over all factorings: upper bounds of `stays`, lower bounds of the
   others. True if the figures are exact, and equal for all factorings. `arena` is for temporary data. */
bool dfl_merge_bound(dfl_arena *arena, const dfl_merge *merge, const dfl_chain *chain, const int64_t *low, const int64_t *high,
                     double *out);

#endif
