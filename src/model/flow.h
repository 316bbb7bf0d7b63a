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
#ifndef DFL_MODEL_FLOW_H
#define DFL_MODEL_FLOW_H

#include "model/place.h"

/* One access below the point. */
typedef struct {
    uint32_t einsum;
    const dfl_access *access;
} dfl_view;

typedef struct {
    uint32_t einsum;         /* any einsum below; its first n steps are the lines above the point */
    uint32_t n;
    uint32_t restart;        /* temporal steps before this one start the tile anew (bodies outside the brace) */
    uint32_t tensor;
    bool lenient;            /* instances without work hold the tile as if they worked (MODEL.md, rule 1) */
    const dfl_view *views;
    uint32_t n_views;
    dfl_span span;           /* for messages */
    struct dfl_kept_flow *flows; /* computed before, by sharing */
    struct dfl_group *groups;/* made on first use */
    uint32_t n_groups;
    uint64_t spatial;        /* spatial steps that matter to it */
    uint32_t line_group[DFL_MAX_STEPS]; /* group of each temporal or spatial step */
} dfl_point;

/* How instances share: bit sets of spatial steps. Steps in neither set are counted instance by instance. */
typedef struct {
    uint64_t united;         /* instances on these share a transfer (multicast, reduction) */
    uint64_t inside;         /* steps on axes that do not enclose the memory: part of the tile */
    uint32_t fresh;          /* advances of temporal steps before this one refetch everything */
    uint32_t forward;        /* spatial step whose neighbours pass elements on, or DFL_NONE */
    uint64_t first_only;     /* spatial steps of which only coordinate 0 is counted */
    bool box;                /* bounding box of the tile in each dimension */
} dfl_sharing;

typedef struct {
    dfl_i128 enter, leave;
    dfl_i128 present;        /* tile sizes summed over all steps */
    dfl_i128 most;           /* largest tile of one instance */
    bool late;               /* elements enter an instance of a union while they stay in another */
} dfl_flow;

typedef struct dfl_kept_flow {
    dfl_sharing how;
    dfl_flow flow;
    struct dfl_kept_flow *next;
} dfl_kept_flow;

bool dfl_sharing_equal(const dfl_sharing *a, const dfl_sharing *b);
/* False after E0608, E0609 or a stopped budget (E0602). */
bool dfl_flow_of(dfl_setting *set, dfl_point *point, const dfl_sharing *how, dfl_flow *out);
/* The same by loop: what enters and leaves when temporal step j advances; at [point->n] the first tile of all and the
   last. `whole[j]`: nothing of the tile stays when j advances. Arrays of DFL_MAX_STEPS + 1. */
typedef struct {
    dfl_i128 enter[DFL_MAX_STEPS + 1], leave[DFL_MAX_STEPS + 1];
    bool whole[DFL_MAX_STEPS + 1];
} dfl_flow_loops;
bool dfl_flow_by_loop(dfl_setting *set, dfl_point *point, const dfl_sharing *how, dfl_flow_loops *out);
/* Largest set of one group of a point; 0 when the budget stopped. */
int64_t dfl_flow_most(dfl_setting *set, dfl_point *point, uint32_t group, const dfl_sharing *how);
/* Distinct elements of the access over the whole run, inside the shape; false on overflow (E0608). */
bool dfl_flow_distinct(dfl_setting *set, const dfl_access *access, dfl_i128 *out);

#endif
