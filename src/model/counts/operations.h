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
} dfl_work;

/* By einsum; NULL when the budget stopped. */
dfl_work *dfl_work_make(dfl_setting *set);
/* False after E0608. Fills the counts of the einsums and of the result. */
bool dfl_work_count(dfl_setting *set, const dfl_work *work, const dfl_traffic_sums *sums, dfl_result *r,
                    dfl_einsum_cost *costs);

#endif
