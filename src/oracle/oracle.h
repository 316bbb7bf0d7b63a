/*
 * The oracle executes a mapping step by step, with explicit sets of elements, by the rules of MODEL.md section 1, and
 * counts transfers, operations and occupied room. It is slow and simple on purpose. It shares the resolved paths with
 * the model and nothing else, so that equal counts of both are evidence for both.
 */
#ifndef DFL_ORACLE_ORACLE_H
#define DFL_ORACLE_ORACLE_H

#include "ir/path/path.h"

/* Transfers in elements, by the names of MODEL.md. */
typedef struct { dfl_i128 serve, drain, accumulate, fill, update; } dfl_oracle_counts;

typedef struct {
    uint32_t memory, tensor;
    dfl_i128 serve, drain, accumulate, fill, update;
    dfl_oracle_counts first;   /* the counts of the instance at coordinate 0 of every axis */
    dfl_i128 peak_elements;    /* largest tile of one instance, without buffers */
    dfl_i128 peak_bits;        /* largest tile of one instance, bits, times the buffers of keeps that are refilled */
} dfl_oracle_traffic;

typedef struct {
    dfl_oracle_traffic *traffic; uint32_t n_traffic; /* by memory, then tensor */
    dfl_i128 *points;          /* by einsum: points executed */
    dfl_i128 *extra;           /* by einsum: points executed beyond the workload's, and rescalings by `online` */
    dfl_i128 *padding;         /* by einsum: points of the workload with an operand outside its shape */
    dfl_i128 *steps;           /* by einsum: steps in which some instance works */
    dfl_i128 *peak_bits;       /* by memory: largest sum of live tiles of one instance, buffers included */
    dfl_i128 *forwarded;       /* by axis: elements passed on between neighbours */
    dfl_i128 broken;           /* violations of conservation laws, over all keeps; 0 unless the oracle is wrong */
    dfl_i128 wrong;            /* result elements whose made-up value differs from a direct evaluation; 0 without `online` loops,
                                  unless the rules or the mapping are wrong */
} dfl_oracle_result;

/* Executes a mapping; the result lives in `arena`. NULL after a report: E0409 or E0414 if the execution shows them,
   E0602 if the sizes are too large to execute (limits.h), or a construct that is not executed. */
const dfl_oracle_result *dfl_oracle_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                        const dfl_paths *paths);

#endif
