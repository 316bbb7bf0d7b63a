/*
 * One group of a point (delta.h): enumerates the positions of its loops and sums what its sets contribute. Positions
 * far from the ends of the shape repeat by translation and are counted once, times their number.
 */
#ifndef DFL_MODEL_COUNTS_GROUPS_H
#define DFL_MODEL_COUNTS_GROUPS_H

#include "model/counts/delta.h"

enum { DFL_NO_DIM = -1, DFL_MAX_GROUP = 16 };

/* One rank that a view's set depends on, with the loops that cut it above the point. */
typedef struct {
    uint32_t einsum, rank, n;          /* below the first n steps of the einsum */
    int64_t coef;                      /* in the group's dimension; 0 for a rank that only decides activity */
    int64_t extent;
    bool restricted;                   /* pieces come from dfl_place_rank */
    bool gaps;                         /* ... and dfl_place_set */
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
} dfl_group_view;

typedef struct dfl_group {
    int32_t dim;                       /* dimension of the tensor, or DFL_NO_DIM */
    uint32_t lines[DFL_MAX_GROUP];     /* temporal steps, ascending */
    uint32_t driver[DFL_MAX_GROUP];    /* einsum whose rank the step iterates */
    uint32_t n_lines;
    uint32_t spatial[DFL_MAX_GROUP];   /* spatial steps, ascending */
    uint32_t owner[DFL_MAX_GROUP];     /* einsum whose parts the step spreads */
    int64_t parts[DFL_MAX_GROUP];      /* instances along each */
    uint32_t n_spatial;
    const dfl_group_view *views;       /* as the point's */
    bool plain;                        /* no restricted rank: translation applies */
    uint32_t rank;                     /* if one decides the group (product_form.c); DFL_NONE where all is constant */
    struct dfl_kept_sums *kept;        /* sums that are asked for, by how instances share */
    uint32_t run;                      /* whose sizes `parts` and the tiles of the sources are */
} dfl_group;

/* Sums over the positions of the first k loops; inner loops stand at their first (A) or last (leaving) iteration. */
typedef struct {
    dfl_i128 enter, kept;              /* A and B of delta.h */
    dfl_i128 leave, left_kept;         /* the same with the steps exchanged */
} dfl_pair;

typedef struct {
    dfl_pair *hold;                    /* [k]: first k loops fixed, the others wrap around; k <= n_lines */
    dfl_pair *adv;                     /* [k], k > 0: loop k advances */
    dfl_i128 present;                  /* over all positions */
    int64_t most;
    uint64_t covering;                 /* views that held everything at every position */
    bool equal;                        /* all views were equal at every position */
    bool widened;                      /* a box held more than what is touched */
    bool late;                         /* an index entered an instance while it stayed in another one of its union */
    bool overflow;
} dfl_sums;

typedef struct dfl_kept_sums {
    dfl_sharing how;                   /* restricted to the group's steps */
    uint32_t run;                      /* in which the sums were taken */
    dfl_sums sums;                     /* its arrays are the slot's */
    struct dfl_kept_sums *next;
} dfl_kept_sums;

/* Splits a point into its groups; false after E0609. */
bool dfl_groups_make(dfl_setting *set, dfl_point *point);
/* Takes over the present sizes. */
void dfl_group_resize(const dfl_setting *set, const dfl_point *point, dfl_group *group);
/* Sums in closed form where one rank is cut evenly; false (and nothing written) elsewhere. `out` is zeroed. */
bool dfl_group_plain(const dfl_setting *set, const dfl_point *point, const dfl_group *group, const dfl_sharing *how,
                     dfl_sums *out);
/* Size of the group's set in one instance at one position. */
int64_t dfl_group_size(dfl_setting *set, const dfl_point *point, const dfl_group *group, const dfl_sharing *how,
                       const int64_t *pos);
/* Overwrites `out`, whose arrays have n_lines + 1 items each; false when the budget stopped. */
bool dfl_group_sums(dfl_setting *set, const dfl_point *point, const dfl_group *group, const dfl_sharing *how,
                    dfl_sums *out);

#endif
