/*
 * The oracle: runs a mapping step by step with sets of elements, following MODEL.md section 1 to the letter, and
 * counts what happens. Slow on purpose and simple on purpose; it shares nothing with the model but the resolved paths.
 */
#ifndef DFL_ORACLE_ORACLE_H
#define DFL_ORACLE_ORACLE_H

#include "ir/path/path.h"

typedef struct { dfl_i128 serve, drain, accumulate, fill, update; } dfl_oracle_counts;

typedef struct {
    uint32_t memory, tensor;
    dfl_i128 serve, drain, accumulate, fill, update;
    dfl_oracle_counts first;   /* those of the instance at coordinate 0 of every axis */
    dfl_i128 peak_elements;    /* largest tile of one instance, without buffers */
    dfl_i128 peak_bits;        /* the same in bits, times the buffers of keeps that are refilled */
} dfl_oracle_traffic;

typedef struct {
    dfl_oracle_traffic *traffic; uint32_t n_traffic; /* by memory, then tensor */
    dfl_i128 *points;          /* per einsum: points executed */
    dfl_i128 *extra;           /* per einsum: points executed beyond the workload's, and rescalings by `online` */
    dfl_i128 *padding;         /* per einsum: the workload's points with an operand outside its shape */
    dfl_i128 *steps;           /* per einsum: steps in which some instance works */
    dfl_i128 *peak_bits;       /* per memory: largest sum of live tiles of one instance, buffers included */
    dfl_i128 *forwarded;       /* per axis */
    dfl_i128 broken;           /* conservation laws that a keep breaks; always 0 */
    dfl_i128 wrong;            /* elements of results whose made-up value differs from a direct evaluation; without
                                  `online` loops always 0, else rules and mapping do not fit */
} dfl_oracle_result;

/* NULL after reporting: E0409, E0414 where execution shows them, E0602 when the sizes are too large to run. */
const dfl_oracle_result *dfl_oracle_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                        const dfl_paths *paths);

#endif
