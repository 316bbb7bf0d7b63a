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
#ifndef DFL_MODEL_COUNTS_FOOTPRINT_H
#define DFL_MODEL_COUNTS_FOOTPRINT_H

#include "model/sets/nest.h"

enum { DFL_NO_DIM = -1 };

/* One access below the point. */
typedef struct {
    uint32_t einsum;
    const dfl_access *access;
} dfl_reference;

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
} dfl_product_form;

typedef struct dfl_footprint {
    uint32_t einsum;         /* any einsum below; its first n steps are the lines above the point */
    uint32_t n;
    uint32_t restart;        /* temporal steps before this one start the tile anew (bodies outside the brace, `fresh`) */
    uint32_t tensor;
    bool holds_when_idle;            /* instances without work hold the tile as if they worked (MODEL.md, rule 1) */
    const dfl_reference *references;
    uint32_t n_references;
    dfl_span span;           /* for messages */
    struct dfl_footprint *next;  /* in the list of the setting */
    struct dfl_delta *moves; /* every way of sharing that somebody asks for */
    struct dfl_group *groups;/* made on first use */
    uint32_t n_groups;
    uint64_t spatial;        /* spatial steps that matter to it */
    uint32_t *group_of_step;    /* group of each temporal or spatial step [n] */
    dfl_product_form product;
} dfl_footprint;

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

/* One rank that a view's set depends on, with the loops that cut it above the point. */
typedef struct {
    uint32_t einsum, rank, n;          /* below the first n steps of the einsum */
    int64_t coef;                      /* in the group's dimension; 0 for a rank that only decides activity */
    int64_t extent;
    bool is_restricted;                   /* pieces come from dfl_rank_piece */
    bool has_gaps;                         /* ... and dfl_rank_piece_set */
    uint32_t n_cuts;
    const uint32_t *step;
    int64_t *tile;                     /* of the present sizes */
} dfl_rank_source;

/* A view as the group sees it: the terms of its index, smallest step first, and what makes it idle. */
typedef struct {
    int64_t offset;
    const dfl_rank_source *terms;
    uint32_t n_terms;
    const dfl_rank_source *active;
    uint32_t n_active;
    const uint32_t *gates;
    uint32_t n_gates;
} dfl_group_reference;

typedef struct dfl_group {
    int32_t dim;                       /* dimension of the tensor, or DFL_NO_DIM */
    uint32_t lines[DFL_MAX_GROUP];     /* temporal steps, ascending */
    uint32_t driver[DFL_MAX_GROUP];    /* einsum whose rank the step iterates */
    uint32_t n_lines;
    uint32_t spatial[DFL_MAX_GROUP];   /* spatial steps, ascending */
    uint32_t owner[DFL_MAX_GROUP];     /* einsum whose parts the step spreads */
    int64_t parts[DFL_MAX_GROUP];      /* instances along each */
    uint32_t n_spatial;
    const dfl_group_reference *references;       /* as the point's */
    bool plain;                        /* no restricted rank: translation applies */
    uint32_t rank;                     /* if one decides the group (product_form.c); DFL_NONE where all is constant */
    struct dfl_group_sums_entry *kept;        /* sums that are asked for, by how instances share */
    uint32_t run;                      /* whose sizes `parts` and the tiles of the sources are */
} dfl_group;

/* Splits a point into its groups; false after E0609. */
bool dfl_footprint_split(dfl_nest *nest, dfl_footprint *footprint);
/* Takes over the present sizes. */
void dfl_footprint_resize_group(const dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group);
#endif
