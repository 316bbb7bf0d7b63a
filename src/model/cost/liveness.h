/*
 * Liveness: the tiles that are live in a memory at the same time, found once for a mapping. The bits of these tiles
 * depend on the sizes (occupancy.h).
 */
#ifndef DFL_MODEL_COST_LIVENESS_H
#define DFL_MODEL_COST_LIVENESS_H

#include "model/counts/traffic_plan.h"

/* A keep whose tile is live at one place of the mapping; with `if_stays`, only if some element of the tile stays when a
   loop advances. */
typedef struct {
    uint32_t at;
    bool if_stays;
} dfl_live_tile;

/* Live set: the tiles that are live in one memory at one place of the mapping. For a pipeline, the set has the tiles
   that are live above its stages; the peaks of the stages are added. */
typedef struct dfl_live_set {
    dfl_live_tile *tiles;
    uint32_t n;
    struct dfl_live_sets *stages;
    uint32_t n_stages; /* number of stages of a pipeline; 0 if the place is no pipeline */
} dfl_live_set;

/* Vector of live sets. */
typedef struct dfl_live_sets {
    dfl_live_set *at;
    size_t n, cap;
} dfl_live_sets;

/* Bits of one keep: elements of its largest tile times `each`, or `fixed`. */
typedef struct {
    dfl_i128 each;
    dfl_i128 fixed;   /* bits of a home that holds the whole tensor in one instance; else -1 */
    uint64_t *spread; /* [axis]: bit set of the spatial steps of the axis around the memory */
} dfl_keep_bits;

/* Bits of the tensors that a memory holds at all times, and the line of the first of them. */
typedef struct { dfl_i128 bits; dfl_span at; } dfl_resident_bits;

/* Live sets of all memories, and bits of all keeps. */
typedef struct {
    dfl_keep_bits *keeps;
    dfl_live_sets *live;        /* [memory]: live sets in the order of the mapping */
    uint32_t *unsure;           /* keeps with a live range that depends on the sizes */
    uint32_t n_unsure;
    bool *stays;                /* [position in `unsure`]: some element of the keep stays, at the present sizes */
    uint32_t **homes;           /* [memory]: keeps that are always live, sorted by tensor */
    uint32_t *n_homes;
    dfl_resident_bits *lasting; /* [memory]: sum of the keeps that are always live, if this sum does not depend on the sizes;
                                   `n_homes` is then 0 */
    dfl_i128 *instances;        /* [memory]: number of instances in use */
    bool over;                  /* some sum of this struct exceeds 2^127 */
} dfl_liveness;

/* Finds the live sets of a mapping, once. The function cannot fail; an overflow sets `over`. */
void dfl_liveness_make(dfl_nest *nest, const dfl_keep_tree *keeps, dfl_liveness *out);

#endif
