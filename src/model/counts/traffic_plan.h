/*
 * The five counts of every keep. Two passes over the forest with the same rules: the whole system, and one instance
 * (coordinate 0 on every axis, which always has the full pieces) for the time that its ports are busy. The second is exact but
 * for what neighbours pass on, and for results whose windows overlap or that are made again: there it is told.
 */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_PLAN_H
#define DFL_MODEL_COUNTS_TRAFFIC_PLAN_H

#include "model/counts/keep_tree.h"

/* Transfers between the operations of an einsum and the innermost keep of one of its accesses. */
typedef struct {
    uint32_t inner;            /* keep */
    bool output;
    bool reuse;                /* read only when it changes */
    dfl_delta *all, *one;
} dfl_operand;

/* What is counted, whatever the sizes. */
typedef struct {
    uint32_t *visits;          /* keeps that something enters or leaves, in their order */
    uint32_t n_visits;
    uint32_t *written;         /* those of them below which something is written */
    uint32_t n_written;
    dfl_operand *operands;     /* of all einsums in order: the inputs of each, then its output */
    uint32_t n_operands;
    dfl_delta **points;        /* per einsum: its operations, each instance by itself */
    dfl_delta **steps;         /* and those of all instances at once */
} dfl_traffic_plan;

typedef struct {
    dfl_counts *all, *busiest; /* per keep */
    dfl_counts *outer_busiest; /* per keep with a parent: its part of the parent's counts, busiest instance of the parent */
    dfl_counts *ops_busiest;   /* per written keep: update and accumulate that operations cause, busiest instance */
    bool *rough;               /* per keep: its part of `busiest` is an estimate */
    dfl_i128 *moved;           /* per operand of the plan: reads or updates, busiest instance */
    dfl_i128 *largest;            /* per keep: largest tile of one instance */
    dfl_i128 *points, *steps;  /* per einsum */
    dfl_i128 *forwarded;       /* per axis */
    dfl_i128 *unfilled;        /* per keep, of the pass: residencies of elements that start without a value */
    dfl_i128 *taken;           /* per keep, of the pass: values that inner keeps take into their care */
} dfl_traffic_sums;

/* False after E0608 or E0609. */
bool dfl_traffic_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_traffic_plan *out);
void dfl_traffic_plan_make_sums(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_traffic_sums *out);
#endif
