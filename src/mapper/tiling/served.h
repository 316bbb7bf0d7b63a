/*
 * The time that ports and links need for what the unit itself reads and writes. It is part of the work, as that of the unit is,
 * and stalls come on top of it (lemma B17 of SEARCH.md).
 */
#ifndef DFL_MAPPER_TILING_SERVED_H
#define DFL_MAPPER_TILING_SERVED_H

#include "mapper/tiling/ramp.h"

/* What is known of the time of a node, s, all at least. */
typedef struct {
    double work;              /* of the unit */
    double extra;             /* on top of the work (B6 to B9, B14, B15, B18, B19) */
    const dfl_ramp *ramp;
    const double *lasts;      /* of the ramp: last tiles */
    const double *waits;      /* by port: what the work waits for there (B2, B14) */
    const double *moved;      /* elements by count of the form */
    const double *room;       /* bits that the tiles of keeps take, by place */
    bool is_point;            /* `moved` is exact */
} dfl_served_node;

/* Lower bound of the work with all that comes on top of it, s. */
double dfl_served_time(const dfl_form *f, const dfl_served_node *node);

#endif
