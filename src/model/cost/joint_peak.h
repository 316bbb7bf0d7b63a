/*
 * Joint peak: the largest number of bits that several tiles occupy at one step. The largest sizes of two tiles may
 * occur at different steps: a window is clipped at a step at which another tile is full. So positions of loops that
 * decide several tiles are compared jointly (MODEL.md, section 3).
 */
#ifndef DFL_MODEL_COST_JOINT_PEAK_H
#define DFL_MODEL_COST_JOINT_PEAK_H

#include "model/counts/keep_tree.h"

/* A tile, with the bits that one element occupies, buffers included. */
typedef struct {
    uint32_t at; /* index of the keep in the keep tree */
    dfl_keep *keep;
    dfl_i128 weight;
} dfl_weighted_tile;

/* Sets *out to the largest sum of weight * size over all steps and instances. Of the spatial steps in the bit set
   `first` only coordinate 0 counts. False on overflow, after E0609, and if the budget is spent (E0602). */
bool dfl_joint_peak_find(dfl_nest *nest, dfl_weighted_tile *tiles, uint32_t n, uint64_t first, dfl_i128 *out);

#endif
