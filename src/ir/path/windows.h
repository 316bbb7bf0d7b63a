/*
 * The windows in which readers read one dimension of a fused intermediate. The windows bound the indices
 * that the producer computes in one iteration: the extent that the loops of the producer, and the parts of `r/K`,
 * divide. The model computes the exact sets.
 */
#ifndef DFL_IR_PATH_WINDOWS_H
#define DFL_IR_PATH_WINDOWS_H

#include "ir/workload.h"

/* The accesses of all readers to one dimension, and the windows of these accesses. A window is the range of indices
   that one access covers in one iteration. */
typedef struct {
    uint32_t n;                /* number of accesses added */
    int64_t coef, tile;        /* coefficient and tile of the rank that moves the window of the first access */
    int64_t offset;            /* offset of the first access */
    int64_t apart;             /* largest distance between the offset of another access and that of the first */
    dfl_i128 longest;          /* number of indices in the longest window, from its first to its last */
    dfl_i128 lo, hi;           /* hull [lo, hi) of all windows in the first iteration, not clipped to the shape */
    bool alike;                /* all windows move by the same distance in each iteration */
    bool in_order;             /* all windows move upwards side by side, and their union omits no index */
    bool whole;                /* each access covers the whole dimension */
} dfl_windows;

/* Adds the index of one access whose ranks have the extents `nominal` (by rank of the workload). `extent`: extent of
   the dimension. The caller initialises the three properties of an empty `out` to true. */
void dfl_windows_add(const dfl_workload *w, const dfl_index *index, const int64_t *nominal, int64_t extent,
                     dfl_windows *out);

#endif
