/* Deltas. */
#ifndef DFL_MODEL_COUNTS_DELTA_H
#define DFL_MODEL_COUNTS_DELTA_H

#include "model/counts/footprint.h"

/* What moves at a point under one way of sharing: a slot that each run fills when it is first asked for. Most runs need
   nothing but the first two lines of the cache. */
typedef struct dfl_delta {
    _Alignas(64) dfl_footprint *footprint;
    uint32_t run;            /* whose sizes the counts are of */
    bool moving;             /* it matters what enters and leaves */
    bool has_product_form;            /* as the point, if the sizes are even or bounded */
    /* of the present sizes */
    bool is_even;               /* counted as products; then `size` elements move at a load */
    bool peaks_first;            /* the largest is the first tile at coordinate 0, as for all such deltas */
    bool is_widened;            /* a box held more than what is touched */
    bool late;               /* elements enter an instance of a union while they stay in another */
    int64_t size;
    /* temporal steps j whose advance moves something, and those at which nothing of the tile stays */
    uint64_t active, whole;
    /* whatever the sizes, closed: spatial steps whose parts add up, and those of them whose parts make one tile */
    uint64_t counted, joined;
    /* of the present sizes again */
    dfl_i128 enter, leave;
    dfl_i128 present;        /* tile sizes summed over all steps */
    dfl_i128 largest;           /* largest tile of one instance */
    dfl_i128 *entering_by_step, *leaving_by_step; /* by loop, if wanted, and not even; [point->n]: the first and
                                      the last tile of all */
    /* whatever the sizes */
    dfl_sharing how;         /* only what makes a difference at the point */
    struct dfl_group_sums_entry **parts; /* per group of the point */
    struct dfl_rank_chain **chains; /* closed: per group of the point */
    const struct dfl_rank_chain_sum **at; /* per group: scratch */
    struct dfl_delta *next;
} dfl_delta;

/* The slot of a way of sharing; NULL after E0609. `by_loop`: the counts by loop are wanted, too. */
dfl_delta *dfl_delta_of(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, bool by_loop);
/* The same where nothing but `present` and `most` is wanted. */
dfl_delta *dfl_delta_of_size(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how);
/* Fills the slot; false after E0608, E0609 or a stopped budget (E0602). */
bool dfl_delta_count(dfl_nest *nest, dfl_delta *m);
/* The same, once per run. */
static inline bool dfl_delta_fill(dfl_nest *nest, dfl_delta *m) { return m->run == nest->run || dfl_delta_count(nest, m); }
/* Elements in the tiles of all positions and instances, where none is in two of them but for loops that do not index the
   tensor; elsewhere more. Per dimension the sum over the positions of its loops. False after E0608 or E0602. */
bool dfl_delta_disjoint(dfl_nest *nest, dfl_delta *m, dfl_i128 *out);
/* Whether something of a tile stays where it is at some advance of a loop; of a filled slot for which it matters what enters. */
bool dfl_delta_has_stationary(const dfl_nest *nest, const dfl_delta *m);
/* Largest set of one group of a point; 0 when the budget stopped. */
int64_t dfl_delta_largest_factor(dfl_nest *nest, const dfl_delta *m, uint32_t group);
#endif
