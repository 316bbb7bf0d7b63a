/*
 * How the readers of a fused intermediate go over one of its dimensions, as far as that bounds what its producer makes
 * at once: the extent that `r/K` and the loops of the producer divide. Path.c asks; the exact sets are the model's.
 */
#ifndef DFL_IR_PATH_WINDOWS_H
#define DFL_IR_PATH_WINDOWS_H

#include "ir/workload.h"

/* The windows in which readers go over one dimension of a result. */
typedef struct {
    uint32_t n;                /* accesses */
    int64_t coef, tile;        /* what moves the first one */
    int64_t offset, apart;     /* of the first; the largest distance from it */
    dfl_i128 longest;          /* of all */
    dfl_i128 lo, hi;           /* hull of all where they stand at first, not clipped */
    bool alike;                /* all move by as much in each iteration */
    bool in_order;             /* they move up side by side and leave nothing out */
    bool whole;                /* each goes over all of the dimension */
} dfl_windows;

/* Adds the index of one access, at the place where its ranks have their `nominal` extents, by rank. The three properties
   start as true. */
void dfl_windows_add(const dfl_workload *w, const dfl_index *index, const int64_t *nominal, int64_t extent,
                     dfl_windows *out);

#endif
