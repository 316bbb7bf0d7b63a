/*
 * The largest room that several tiles take together. Their largest sizes need not fall on the same step (a window is
 * clipped where another tile is full), so positions that decide several of them are looked at together.
 */
#ifndef DFL_MODEL_COST_JOINT_PEAK_H
#define DFL_MODEL_COST_JOINT_PEAK_H

#include "model/counts/keep_tree.h"

/* A tile and what one of its elements takes, in bits, buffers included. */
typedef struct {
    uint32_t at;     /* number of the keep */
    dfl_keep *keep;
    dfl_i128 weight;
} dfl_weighted_tile;

/* Largest sum of weight * size over all steps and instances, in *out; of the spatial steps in the bit set `first` only
   coordinate 0 counts. False on overflow or a stopped budget. */
bool dfl_joint_peak_find(dfl_nest *nest, dfl_weighted_tile *tiles, uint32_t n, uint64_t first, dfl_i128 *out);

#endif
