/*
 * The five counts of every keep. Two passes over the forest with the same rules: the whole system, and one instance
 * (coordinate 0 on every axis, which always has the full pieces) for the time that its ports are busy.
 */
#ifndef DFL_MODEL_TRAFFIC_H
#define DFL_MODEL_TRAFFIC_H

#include "model/keeps.h"

typedef struct {
    dfl_counts *all, *busiest; /* per keep */
    dfl_counts *outer_busiest; /* per keep: its part of the counts of its parent, busiest instance of the parent */
    dfl_counts *ops_busiest;   /* per keep: the part that operations cause, busiest instance */
    double *visits;            /* per body: iterations of the temporal loops above its branch */
    dfl_i128 *most;            /* per keep: largest tile of one instance */
    dfl_i128 *points, *steps;  /* per einsum */
    dfl_i128 *forwarded;       /* per axis */
} dfl_traffic_sums;

/* False after E0414, E0608, E0609 or a stopped budget. */
bool dfl_traffic_count(dfl_setting *set, dfl_keeps *keeps, dfl_traffic_sums *out);

#endif
