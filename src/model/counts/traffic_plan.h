/*
 * Plan of the traffic: which deltas give the five counts of every keep and the reads and updates of every operand.
 * The counts are taken in two passes over the keep tree with the same rules: for the whole system; and for one instance
 * (coordinate 0 on every axis, which always has the full pieces), which gives the time that ports are busy. The second
 * pass is exact but for elements that neighbours pass on, and for results whose windows overlap or that are made again.
 * Such counts are marked `rough`.
 */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_PLAN_H
#define DFL_MODEL_COUNTS_TRAFFIC_PLAN_H

#include "model/counts/keep_tree.h"

/* Transfers between the operations of an einsum and the innermost keep of one of its accesses. */
typedef struct {
    uint32_t inner; /* innermost keep of the tensor */
    bool output;
    bool reuse;     /* read only when the element changes from one step to the next (`operand_reuse`) */
    dfl_delta *all, *one;
} dfl_operand;

/* Keeps and deltas to count, whatever the sizes. */
typedef struct {
    uint32_t *visits;      /* keeps that elements enter or leave, parents before children */
    uint32_t n_visits;
    uint32_t *written;     /* those of `visits` that are written */
    uint32_t n_written;
    dfl_operand *operands; /* operands of all einsums in order: the inputs of each, then its output */
    uint32_t n_operands;
    dfl_delta **points;    /* by einsum: its operations, each instance by itself */
    dfl_delta **steps;     /* by einsum: its steps, all instances as one */
} dfl_traffic_plan;

/* Counts of one run: all sums that the plan asks for. */
typedef struct {
    dfl_counts *all, *busiest; /* by keep: in the whole system; in one instance */
    dfl_counts *outer_busiest; /* by keep with a parent: its part of the parent's counts, in one instance of the
                                  parent */
    dfl_counts *ops_busiest;   /* by written keep: updates and accumulates caused by operations, in one instance */
    bool *rough;               /* by keep: its counts in `busiest` are an estimate in part */
    dfl_i128 *moved;           /* by operand of the plan: reads or updates in one instance */
    dfl_i128 *largest;         /* by keep: elements of the largest tile of one instance */
    dfl_i128 *points, *steps;  /* by einsum: executed points; steps with work in some instance */
    dfl_i128 *forwarded;       /* by axis: elements that neighbours pass on */
    dfl_i128 *unfilled;        /* by keep, of the present pass: residencies of elements that start without a value */
    dfl_i128 *taken;           /* by keep, of the present pass: values that inner keeps take */
} dfl_traffic_sums;

/* Plans all counts. False after E0602, E0608 or E0609. */
bool dfl_traffic_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_traffic_plan *out);
/* Allocates the counts of a run. */
void dfl_traffic_plan_make_sums(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_traffic_sums *out);
#endif
