/*
 * Plan of the traffic: the deltas that determine the five counts of every keep, and the reads and updates of every
 * operand. Two passes over the keep tree count by the same rules. The first counts the whole system. The second counts
 * one instance, at coordinate 0 on every axis, which always has the full pieces; its counts determine the time of
 * ports. The second pass is exact, with two exceptions: elements that neighbours pass on, and results whose windows
 * overlap or that are made again. The counts of these exceptions are marked `rough`.
 */
#ifndef DFL_MODEL_COUNTS_TRAFFIC_PLAN_H
#define DFL_MODEL_COUNTS_TRAFFIC_PLAN_H

#include "model/counts/keep_tree.h"

/* Transfers between the operations of an einsum and the innermost keep of one of its accesses. */
typedef struct {
    uint32_t inner; /* innermost keep of the tensor */
    bool output;
    bool defines;   /* `output`: results of `=`, which replace an old value without reading it */
    bool reuse;     /* reads the operand only if its element changes from one step to the next (`operand_reuse`) */
    dfl_delta *all, *one;
} dfl_operand;

/* Keeps and deltas to count; independent of the sizes. */
typedef struct {
    uint32_t *visits;      /* keeps that elements enter or leave, parents before children */
    uint32_t n_visits;
    uint32_t *written;     /* the written keeps among `visits` */
    uint32_t n_written;
    dfl_operand *operands; /* operands of all einsums in order: the inputs of each, then its output */
    uint32_t n_operands;
    dfl_delta **points;    /* [einsum]: its operations, each instance counted separately */
    dfl_delta **steps;     /* [einsum]: its steps, all instances combined to one */
} dfl_traffic_plan;

/* Counts of one run: all sums of the plan. */
typedef struct {
    dfl_counts *all, *busiest; /* [keep]: counts over the whole system; counts in one instance */
    dfl_counts *outer_busiest; /* [keep with a parent]: its part of the parent's counts, in one instance of the parent */
    dfl_counts *ops_busiest;   /* [written keep]: updates and accumulates by operations, in one instance */
    bool *rough;               /* [keep]: the counts of the keep in `busiest` are partly estimates */
    dfl_i128 *moved;           /* [operand of the plan]: reads or updates in one instance */
    dfl_i128 *largest;         /* [keep]: elements of its largest tile in one instance */
    dfl_i128 *points, *steps;  /* [einsum]: executed points; steps with work in some instance */
    dfl_i128 *forwarded;       /* [axis]: elements that neighbours pass on */
    dfl_i128 *unfilled;        /* [keep], in the present pass: residencies of elements that start without a value */
    dfl_i128 *taken;           /* [keep], in the present pass: values that inner keeps take */
    dfl_i128 *defined;         /* [keep], in the present pass: updates by results of `=` */
} dfl_traffic_sums;

/* Plans all counts. False after E0602, E0608 or E0609. */
bool dfl_traffic_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_traffic_plan *out);
/* Allocates the counts of a run. */
void dfl_traffic_plan_make_sums(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_traffic_sums *out);
#endif
