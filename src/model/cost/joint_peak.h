/*
 * Joint peak: the largest number of bits that several tiles take together. The largest sizes of two tiles need not meet
 * on one step: a window is clipped where another tile is full. So the positions of loops that decide several tiles are
 * compared together (MODEL.md, section 3).
 */
#ifndef DFL_MODEL_COST_JOINT_PEAK_H
#define DFL_MODEL_COST_JOINT_PEAK_H

#include "model/counts/keep_tree.h"

/* A tile, with the bits that one of its elements takes, buffers included. */
typedef struct {
    uint32_t at; /* index of the keep */
    dfl_keep *keep;
    dfl_i128 weight;
} dfl_weighted_tile;

/* Largest sum of weight * size over all steps and instances, in *out. Of the spatial steps in the bit set `first` only
   coordinate 0 counts. False on overflow, after E0609, and if the budget is spent (E0602). */
bool dfl_joint_peak_find(dfl_nest *nest, dfl_weighted_tile *tiles, uint32_t n, uint64_t first, dfl_i128 *out);

#endif
