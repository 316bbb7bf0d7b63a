/*
 * Spreads of the ranks of a template over the axes. One is of no use if another leaves the loops as much of every rank and is at
 * most as large in every number that costs and room are made of: whatever the loops are, it is as good.
 */
#ifndef DFL_MAPPER_DIVISORS_SPATIAL_H
#define DFL_MAPPER_DIVISORS_SPATIAL_H

#include "mapper/skeleton/cost_terms.h"
#include "support/vec.h"

enum { DFL_SPREAD_HOMES = 256 };

/* One way to spread the ranks over the axes, and the costs that follow; arrays of the length that the template needs. */
typedef struct dfl_spatial {
    int64_t left[DFL_PROBLEM_RANKS];               /* elements of a rank for the loops */
    int64_t *parts;                                /* [axis][rank] */
    double unit_seconds;
    double *joules;                                /* [group] */
    double *factor;                                /* [factor of the terms] */
    double *all;                                   /* [group]: iterations of the ranks that no gap behind it can cut */
    double taken;                                  /* J: the constant, and what results take back at most */
    double *ports;                                 /* [set][port in use][group]: see port_time.h */
    double *inner;                                 /* [keep][rank]: elements below it on all its axes, if no loop cuts the rank */
    double *window;                                /* [group]: see dfl_sliding_least */
    struct dfl_spatial *next;
    bool useful;
} dfl_spatial;

/* Spreads of a template of which no other is at most as large in every number, while it leaves the loops as much. */
typedef struct {
    DFL_VEC(dfl_spatial *) at;
    dfl_spatial *home[DFL_SPREAD_HOMES];           /* lists by what is left */
} dfl_spatials;

/* What the parts on one axis do to a factor (spatial_choices.c): the operand, and the ranks that divide it. */
typedef struct { uint8_t operand; bool inside, outside; uint32_t last; } dfl_axis_key;

typedef struct {
    dfl_axis_key *key;
    uint32_t n;
    uint8_t *low, *high;                           /* keys of the factors */
    double *joules, *sure, *ports;                 /* of the axes before: [key], [key]; [port in use][key] */
    double *whole, *divided;                       /* [key]: `sure` where parts of no rank divide it, and of some */
    uint8_t *does;                                 /* [rank][key]: 0 parts of the rank divide it, 1 leave it, 2 multiply it */
    double *value;                                 /* [ranks decided][key]: what those have done */
    uint8_t *sort;                                 /* [key]: of its product (axis_factors.h) */
    bool listed;                                   /* there was room for all of these */
    double seconds;                                /* of the unit, if this axis has one part */
} dfl_axis_bound;

#endif
