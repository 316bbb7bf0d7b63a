/*
 * The windows in which the readers of a fused intermediate go over one of its dimensions. They bound what the producer
 * computes at once: the extent that the loops of the producer, and the parts of `r/K`, divide. The exact sets are the
 * model's.
 */
#ifndef DFL_IR_PATH_WINDOWS_H
#define DFL_IR_PATH_WINDOWS_H

#include "ir/workload.h"

/* The accesses of all readers to one dimension. A window is the range of indices that one access covers in one
   iteration. */
typedef struct {
    uint32_t n;                /* accesses added */
    int64_t coef, tile;        /* of the first access: coefficient and tile of the rank that moves its window */
    int64_t offset;            /* of the first access */
    int64_t apart;             /* largest distance of another access's offset from this one */
    dfl_i128 longest;          /* indices in the longest window, from its first to its last */
    dfl_i128 lo, hi;           /* hull [lo, hi) of all windows in the first iteration, not clipped to the shape */
    bool alike;                /* all windows move by the same distance in each iteration */
    bool in_order;             /* all windows move upwards side by side, and together they leave no index out */
    bool whole;                /* each access goes over the whole dimension */
} dfl_windows;

/* Adds the index of one access whose ranks have the extents `nominal` (by rank of the workload). `extent`: of the
   dimension. The caller sets the three properties of an empty `out` to true. */
void dfl_windows_add(const dfl_workload *w, const dfl_index *index, const int64_t *nominal, int64_t extent,
                     dfl_windows *out);

#endif
