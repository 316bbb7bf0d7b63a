/*
 * Liveness: which tiles are live in a memory at the same time, found once for a mapping. How many bits they take
 * depends on the sizes (occupancy.h).
 */
#ifndef DFL_MODEL_COST_LIVENESS_H
#define DFL_MODEL_COST_LIVENESS_H

#include "model/counts/traffic_plan.h"

/* A keep whose tile is live at one place of the mapping; with `if_stays` only if some element of it stays when a loop
   advances. */
typedef struct {
    uint32_t at;
    bool if_stays;
} dfl_live_tile;

/* Live set: the tiles that are live in one memory at one place of the mapping. For a pipeline: the tiles that are live
   above its stages; the peaks of the stages add to them. */
typedef struct dfl_live_set {
    dfl_live_tile *tiles;
    uint32_t n;
    struct dfl_live_sets *stages;
    uint32_t n_stages; /* 0 if the place is not a pipeline */
} dfl_live_set;

/* Vector of live sets. */
typedef struct dfl_live_sets {
    dfl_live_set *at;
    size_t n, cap;
} dfl_live_sets;

/* Bits of one keep: elements of its largest tile times `each`, or `fixed`. */
typedef struct {
    dfl_i128 each;
    dfl_i128 fixed;   /* bits of a home that holds its whole shape in one instance; else -1 */
    uint64_t *spread; /* by axis: bit set of the spatial steps of the axis around the memory */
} dfl_keep_bits;

/* Bits of the tensors that a memory holds at all times, and the line of the first of them. */
typedef struct { dfl_i128 bits; dfl_span at; } dfl_resident_bits;

/* Live sets of all memories, and bits of all keeps. */
typedef struct {
    dfl_keep_bits *keeps;
    dfl_live_sets *live;        /* by memory: live sets in the order of the mapping */
    uint32_t *unsure;           /* keeps with a live range that depends on the sizes */
    uint32_t n_unsure;
    bool *stays;                /* by keep of `unsure`: some element stays, at the present sizes */
    uint32_t **homes;           /* by memory: keeps that are always live, sorted by tensor */
    uint32_t *n_homes;
    dfl_resident_bits *lasting; /* by memory: sum of the keeps that are always live, if it does not depend on the
                                   sizes; `n_homes` then is 0 */
    dfl_i128 *instances;        /* by memory */
    bool over;                  /* some number here passes 2^127 */
} dfl_liveness;

/* Finds the live sets of a mapping. It cannot fail; an overflow is recorded in `over`. */
void dfl_liveness_make(dfl_nest *nest, const dfl_keep_tree *keeps, dfl_liveness *out);

#endif
