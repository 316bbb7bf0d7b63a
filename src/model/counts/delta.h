/* Deltas. */
#ifndef DFL_MODEL_COUNTS_DELTA_H
#define DFL_MODEL_COUNTS_DELTA_H

#include "model/counts/footprint.h"

/* What moves at a point under one way of sharing: a slot that each run fills when it is first asked for. Most runs need
   nothing but the first two lines of the cache. */
typedef struct dfl_moves {
    _Alignas(64) dfl_point *point;
    uint32_t run;            /* whose sizes the counts are of */
    bool moving;             /* it matters what enters and leaves */
    bool closed;             /* as the point, if the sizes are even or bounded */
    /* of the present sizes */
    bool even;               /* counted as products; then `size` elements move at a load */
    bool falling;            /* the largest is the first tile at coordinate 0, as at every other point of which this is true */
    bool widened;            /* a box held more than what is touched */
    bool late;               /* elements enter an instance of a union while they stay in another */
    int64_t size;
    /* temporal steps j whose advance moves something, and those at which nothing of the tile stays */
    uint64_t active, whole;
    /* whatever the sizes, closed: spatial steps whose parts add up, and those of them whose parts make one tile */
    uint64_t counted, joined;
    /* of the present sizes again */
    dfl_i128 enter, leave;
    dfl_i128 present;        /* tile sizes summed over all steps */
    dfl_i128 most;           /* largest tile of one instance */
    dfl_i128 *by_enter, *by_leave; /* by loop, if wanted, and not even: what enters and leaves then; [point->n]: the first and
                                      the last tile of all */
    /* whatever the sizes */
    dfl_sharing how;         /* only what makes a difference at the point */
    struct dfl_kept_sums **parts; /* per group of the point */
    struct dfl_chain **chains; /* closed: per group of the point */
    const struct dfl_chain_sum **at; /* per group: scratch */
    struct dfl_moves *next;
} dfl_moves;

/* The slot of a way of sharing; NULL after E0609. `by_loop`: the counts by loop are wanted, too. */
dfl_moves *dfl_moves_of(dfl_setting *set, dfl_point *point, const dfl_sharing *how, bool by_loop);
/* The same where nothing but `present` and `most` is wanted. */
dfl_moves *dfl_present_of(dfl_setting *set, dfl_point *point, const dfl_sharing *how);
/* Fills the slot; false after E0608, E0609 or a stopped budget (E0602). */
bool dfl_moves_count(dfl_setting *set, dfl_moves *m);
/* The same, once per run. */
static inline bool dfl_moves_fill(dfl_setting *set, dfl_moves *m) { return m->run == set->run || dfl_moves_count(set, m); }
/* Elements in the tiles of all positions and instances, where none is in two of them but for loops that do not index the
   tensor; elsewhere more. Per dimension the sum over the positions of its loops. False after E0608 or E0602. */
bool dfl_moves_apart(dfl_setting *set, dfl_moves *m, dfl_i128 *out);
/* Whether something of a tile stays where it is at some advance of a loop; of a filled slot for which it matters what enters. */
bool dfl_moves_stay(const dfl_setting *set, const dfl_moves *m);
/* Largest set of one group of a point; 0 when the budget stopped. */
int64_t dfl_moves_most(dfl_setting *set, const dfl_moves *m, uint32_t group);
#endif
