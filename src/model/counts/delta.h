/*
 * What moves at one point of a mapping: the tile of a tensor below a line, followed through all steps of the loops
 * above the line.
 *
 * The tile is a product over groups. A group is a dimension of the tensor with the loops that decide which of its
 * indices are touched, or, without a dimension, a set of loops that only decide whether an instance has work at all
 * (its set then is {0} or empty). At a step S is the tile, O what of it was there at the step before. Elements enter
 * at a step in which loop j advances; the groups are independent, so with hold(j) = sums of a group over the positions
 * of its loops outside j, and adv(j) = the same for the group of j over its advances,
 *     enter = prod A(first) + sum_j ( prod A(j) - prod B(j) ),   A = |U|,  B = |U| - |union of S \ O over instances|,
 * where U is the union of S over the instances that share a transfer; the rest are summed. An element x enters nowhere
 * iff for every instance that wants it every coordinate of x was there before, which is why the product form holds for
 * unions, too (derivation: MODEL.md, section 2). Leaving is the same backwards in time.
 */
#ifndef DFL_MODEL_COUNTS_DELTA_H
#define DFL_MODEL_COUNTS_DELTA_H

#include "model/sets/position.h"

/* One access below the point. */
typedef struct {
    uint32_t einsum;
    const dfl_access *access;
} dfl_view;

/* What is true of a point for every size of its tiles, if its counts are products (product_form.c). */
typedef struct {
    bool possible;           /* one view, one rank for each group, nothing outside the shape, counts below 2^62 */
    uint32_t bits;           /* of the number of points of the einsum */
    bool stride;             /* some index steps over elements */
    uint32_t einsum;         /* of the view */
    uint64_t lines;          /* temporal steps of the groups */
    uint64_t dims;           /* temporal and spatial steps over ranks that index the tensor */
    uint64_t tiles;          /* the innermost of them in each dimension */
    int64_t uncut;           /* elements along the dimensions that no step cuts */
    /* of the present sizes */
    bool bounded;            /* counts are below 2^62 although idle instances and short tiles take a full tile's time */
    uint64_t active;         /* temporal steps whose advance moves something */
    int64_t length;          /* elements of the tile of one instance */
    int64_t loads;           /* positions of the temporal steps at which the tile is a new one */
} dfl_closed;

typedef struct dfl_point {
    uint32_t einsum;         /* any einsum below; its first n steps are the lines above the point */
    uint32_t n;
    uint32_t restart;        /* temporal steps before this one start the tile anew (bodies outside the brace, `fresh`) */
    uint32_t tensor;
    bool lenient;            /* instances without work hold the tile as if they worked (MODEL.md, rule 1) */
    const dfl_view *views;
    uint32_t n_views;
    dfl_span span;           /* for messages */
    struct dfl_point *next;  /* in the list of the setting */
    struct dfl_moves *moves; /* every way of sharing that somebody asks for */
    struct dfl_group *groups;/* made on first use */
    uint32_t n_groups;
    uint64_t spatial;        /* spatial steps that matter to it */
    uint32_t *line_group;    /* group of each temporal or spatial step [n] */
    dfl_closed closed;
} dfl_point;

/* How instances share: bit sets of spatial steps. Steps in neither set are counted instance by instance. */
typedef struct {
    uint64_t united;         /* instances on these share a transfer (multicast, reduction) */
    uint64_t inside;         /* steps on axes that do not enclose the memory: part of the tile */
    uint32_t forward;        /* spatial step whose neighbours pass elements on, or DFL_NONE */
    bool anew;               /* ... and nothing but that is there already */
    uint64_t first_only;     /* spatial steps of which only coordinate 0 is counted */
    bool box;                /* bounding box of the tile in each dimension */
    bool made;               /* only what an einsum below writes enters, if it was not in the tile of all views before */
} dfl_sharing;

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

bool dfl_sharing_equal(const dfl_sharing *a, const dfl_sharing *b);
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
/* Reports a count that passes 2^127 (E0608); false. */
bool dfl_flow_too_big(dfl_setting *set, dfl_span at);
/* Distinct elements of the access over the whole run, inside the shape; false on overflow (E0608). */
bool dfl_flow_distinct(dfl_setting *set, const dfl_access *access, dfl_i128 *out);
/* Whether all elements of an access, over the whole run and inside the shape, are among those of another one. */
bool dfl_flow_within(dfl_setting *set, const dfl_access *access, const dfl_access *made);

/* Whether the counts of a point, of a slot, can be products (product_form.c). */
void dfl_closed_find(dfl_setting *set, dfl_point *point);
void dfl_closed_share(dfl_setting *set, dfl_moves *m);
/* Fills all slots whose counts are products at the present sizes. */
void dfl_closed_fill(dfl_setting *set);
/* dfl_moves_apart from products or chains; false where there are none. */
bool dfl_closed_apart(dfl_setting *set, const dfl_moves *m, dfl_i128 *out);
/* Fills the slot where something is ragged: from chains (rank_chain.h), if they are known, else as the next. */
bool dfl_moves_uneven(dfl_setting *set, dfl_moves *m);
/* Fills the slot from the sums of the groups. */
bool dfl_moves_combine(dfl_setting *set, dfl_moves *m);

#endif
