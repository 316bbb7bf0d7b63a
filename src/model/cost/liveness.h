/*
 * Occupancy: which tiles are live at the same time is found once for a mapping; how much room they take in one
 * instance of a memory depends on the sizes.
 */
#ifndef DFL_MODEL_COST_LIVENESS_H
#define DFL_MODEL_COST_LIVENESS_H

#include "model/counts/traffic_plan.h"

/* A keep whose tile is live at one place of the mapping, or would be if something of it stays when a loop advances. */
typedef struct {
    uint32_t at;
    bool if_stays;
} dfl_live_tile;

/* What is live in one memory at one place of the mapping; of a pipeline what is live above its stages, which add. */
typedef struct dfl_live_set {
    dfl_live_tile *tiles;
    uint32_t n;
    struct dfl_live_sets *stages;
    uint32_t n_stages;        /* 0 = no pipeline */
} dfl_live_set;

typedef struct dfl_live_sets {
    dfl_live_set *at;
    size_t n, cap;
} dfl_live_sets;

/* Room of one keep: its largest tile times `each` bits, or what does not depend on the sizes. */
typedef struct {
    dfl_i128 each;
    dfl_i128 fixed;           /* bits of a home that holds the whole shape, or -1 */
    uint64_t *spread;         /* per axis: spatial steps of it around the memory */
} dfl_keep_bits;

/* Room of what is in a memory all the time, and the line of the first of it. */
typedef struct { dfl_i128 bits; dfl_span at; } dfl_resident_bits;

typedef struct {
    dfl_keep_bits *keeps;
    dfl_live_sets *live;      /* per memory, in the order of the mapping */
    uint32_t *unsure;         /* keeps of which it depends on the sizes where they are live */
    uint32_t n_unsure;
    bool *stays;              /* per keep that is unsure: what it is at the present sizes */
    uint32_t **homes;         /* per memory: keeps of what is there all the time, by tensor ... */
    uint32_t *n_homes;
    dfl_resident_bits *lasting;     /* ... or, where no size matters to them, what they take together */
    dfl_i128 *instances;      /* per memory */
    bool over;                /* some of this passed 2^127 */
} dfl_liveness;

void dfl_liveness_make(dfl_nest *nest, const dfl_keep_tree *keeps, dfl_liveness *out);

#endif
