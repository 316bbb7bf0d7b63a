/*
 * Footprint: the elements of a tensor that the einsums below a line touch, in each instance, in the present iteration
 * of the loops above the line. A footprint is the tile of a keep, or the operand of an einsum. A footprint is a product
 * of sets over groups (MODEL.md, section 2). A group is a dimension of the tensor with the loops that determine its
 * touched indices. A group without a dimension is a set of loops that only decides whether an instance has work. The
 * set of a group without a dimension is {0} or empty. The structs here are allocated once for a mapping. Members marked
 * with "present sizes" change from run to run.
 *
 * This file defines footprints and splits them into groups. group_sums.h and product_form.h count their elements, and delta.h
 * counts how they change between iterations.
 */
#ifndef DFL_MODEL_COUNTS_FOOTPRINT_H
#define DFL_MODEL_COUNTS_FOOTPRINT_H

#include "model/counts/joint_set.h"

enum { DFL_NO_DIM = -1 };

/* An access of an einsum below the footprint's line. */
typedef struct {
    uint32_t einsum;
    const dfl_access *access;
} dfl_reference;

/* Product form of a footprint: the properties that make its counts products of sizes (product_form.c). */
typedef struct {
    bool possible;   /* one reference, at most one rank in each group, all indices inside the shape, counts below 2^62; if
                        false, the other members are undefined */
    uint32_t bits;   /* number of bits of the number of points of the einsum */
    bool stride;     /* some coefficient of an index exceeds 1 */
    uint32_t einsum; /* einsum of the reference */
    uint64_t lines;  /* bit set: temporal steps of all groups */
    uint64_t dims;   /* bit set: temporal and spatial steps over ranks that index the tensor */
    uint64_t tiles;  /* bit set: for each dimension, the innermost of the steps in `dims` */
    int64_t uncut;   /* product of the extents of the ranks in dimensions that no step cuts */
    /* The following members hold values of the present sizes. */
    bool bounded;    /* counts stay below 2^62 even if idle instances and short tiles are counted as full */
    uint64_t active; /* bit set: temporal steps with an advance that moves an element */
    int64_t length;  /* elements of the tile of one instance */
    int64_t loads;   /* number of positions of the temporal steps at which the tile differs from the previous one */
} dfl_product_form;

/* Footprint of a tensor below a line. */
typedef struct dfl_footprint {
    uint32_t einsum;            /* some einsum below the line; its first `n` steps are those above the line */
    uint32_t n;
    uint32_t restart;           /* temporal steps before this one refill the whole tile: they stand outside the brace, or the
                                   keep is `fresh` */
    uint32_t tensor;
    const dfl_reference *references;
    uint32_t n_references;
    dfl_span span;              /* place in the source, for messages */
    struct dfl_footprint *next; /* next footprint in the list of the nest */
    struct dfl_delta *deltas;   /* deltas of all ways of sharing that some count needs */
    struct dfl_group *groups;   /* groups of the footprint; NULL before first use */
    uint32_t n_groups;
    uint64_t spatial;           /* bit set: spatial steps that affect the footprint */
    uint32_t *group_of_step;    /* [temporal or spatial step]: its group; DFL_NONE for other steps */
    dfl_product_form product;
} dfl_footprint;

/* Sharing of transfers between the instances of a footprint, as bit sets of spatial steps. Instances along steps in
   none of the sets are counted one by one. */
typedef struct {
    uint64_t united;     /* instances along these steps share a transfer (multicast, reduction): their tiles are
                            united */
    uint64_t inside;     /* steps on axes that do not enclose the memory: all coordinates belong to one tile */
    uint32_t forward;    /* spatial step along which neighbours pass elements on; DFL_NONE without forwarding */
    bool anew;           /* with `forward`: the tile is refilled whole, except for elements that neighbours held */
    uint64_t first_only; /* steps for which only coordinate 0 is counted */
    bool box;            /* the tile is the bounding box in each dimension */
    bool made;           /* counts only elements that an einsum below writes and that no reference touched at the previous
                            step */
} dfl_sharing;

/* Restriction of a count to some coordinates of an array. */
typedef struct {
    uint64_t pinned;  /* bit set: spatial steps that are counted at one coordinate only */
    int64_t at[DFL_MAX_STEPS]; /* [pinned step]: the coordinate; smaller than the number of instances along the step */
    uint64_t ranged;  /* bit set: the spatial steps on one axis, all in one group; only coordinates lo <= c < hi of the axis are
                         counted, where c is the mixed-radix number of the coordinates along the steps. 0 = no range */
    int64_t lo, hi;
    bool lower;       /* only the neighbour at the next lower coordinate forwards */
    double *by_step;  /* [step]: gets the elements that enter when the step advances, added; [footprint->n]: those of the first
                         tile. NULL = not wanted */
    bool leaving;     /* `by_step` gets the elements that leave, and those of the last tile */
} dfl_restriction;

/* A rank that helps decide the set of a reference, with those steps above the footprint's line that cut the rank. */
typedef struct {
    uint32_t einsum, rank, n; /* rank of the einsum `einsum`, cut by steps among its first `n` */
    int64_t coef;             /* coefficient in the group's dimension; 0 for a rank that only decides whether the
                                 einsum works */
    int64_t extent;
    bool is_restricted;       /* the rank's pieces come from dfl_rank_piece */
    bool has_gaps;            /* the rank's pieces may have gaps: dfl_rank_piece_set gives them as sets */
    uint32_t n_cuts;
    const uint32_t *step;
    int64_t *tile;            /* [cut]: elements per tile at the present sizes */
} dfl_rank_source;

/* A reference in one group: terms of the index by coefficient, smallest first, and the conditions that make the
   reference idle. */
typedef struct {
    int64_t offset;
    const dfl_rank_source *terms;
    uint32_t n_terms;
    const dfl_rank_source *active;
    uint32_t n_active;
    const uint32_t *gates;
    uint32_t n_gates;
    dfl_joint_access joint;            /* joint groups: indices and conditions as functions of `ranks` */
    const dfl_rank_source *ranks;      /* joint groups, [rank of `joint`]: source of the rank's pieces */
} dfl_group_reference;

/* Group of a footprint: a factor of the footprint's set, with the steps that decide this factor. */
typedef struct dfl_group {
    int32_t dim;                       /* dimension of the tensor, the first one of a joint group; or DFL_NO_DIM */
    bool joint;                        /* the set has several dimensions, or conditions of `where` decide it: its elements are
                                          row-major numbers of index vectors (joint_set.h) */
    uint32_t n_dims;                   /* number of dimensions */
    const uint32_t *dims;              /* the dimensions, ascending */
    int64_t shape;                     /* number of index vectors of the dimensions; 1 without a dimension */
    uint32_t lines[DFL_MAX_GROUP];     /* temporal steps, ascending */
    uint32_t driver[DFL_MAX_GROUP];    /* [position in `lines`]: an einsum with a rank that the step iterates */
    uint32_t n_lines;
    uint32_t spatial[DFL_MAX_GROUP];   /* spatial steps, ascending */
    uint32_t owner[DFL_MAX_GROUP];     /* [position in `spatial`]: an einsum with a rank that the step spreads */
    int64_t parts[DFL_MAX_GROUP];      /* [position in `spatial`]: number of instances at the present sizes */
    uint32_t n_spatial;
    const dfl_group_reference *references; /* references, in the order of the footprint's references */
    bool plain;                        /* no rank is restricted and no gate applies: positions far from the borders
                                          of the shape repeat by translation */
    uint32_t rank;                     /* with product form: the only rank that decides the group; DFL_NONE if the set is
                                          constant */
    struct dfl_group_sums_entry *kept; /* sums of the group that some count needs, one entry per way of sharing */
    uint32_t run;                      /* serial number of the run that set `parts` and the tiles of the terms */
    struct dfl_restricted_sums **restricted; /* [bucket]: sums under restrictions that run `restricted_run` has computed */
    uint32_t n_buckets, n_restricted;  /* numbers of buckets, a power of two or 0, and of sums */
    uint32_t restricted_run;
} dfl_group;

/* Splits a footprint into groups. False after E0609. */
bool dfl_footprint_split(dfl_nest *nest, dfl_footprint *footprint);
/* Copies the sizes of the present run to a group. */
void dfl_footprint_resize_group(const dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group);
#endif
