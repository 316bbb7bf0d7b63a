/*
 * Operations: those of the workload, and what a mapping adds to them.
 */
#ifndef DFL_MODEL_COUNTS_OPERATIONS_H
#define DFL_MODEL_COUNTS_OPERATIONS_H

#include "model/counts/traffic_plan.h"

/* What an einsum does, whatever the sizes. */
typedef struct {
    dfl_i128 points, flops, padding;
    dfl_i128 outputs;         /* elements of its result */
    bool online;              /* below an `online` loop */
    bool over;                /* more than 2^127 points or operations */
} dfl_operations;

/* By einsum; NULL when the budget stopped. */
dfl_operations *dfl_operations_make(dfl_nest *nest);
/* False after E0608. Fills the counts of the einsums and of the result. */
bool dfl_operations_count(dfl_nest *nest, const dfl_operations *work, const dfl_traffic_sums *sums, dfl_result *r,
                          dfl_einsum_cost *costs);

#endif
