/* Number of operations: those of the workload, and additional ones of the mapping (`recompute`, `online`). */
#ifndef DFL_MODEL_COUNTS_OPERATIONS_H
#define DFL_MODEL_COUNTS_OPERATIONS_H

#include "model/counts/traffic_plan.h"

/* Operations of an einsum that do not depend on sizes of tiles. */
typedef struct {
    dfl_i128 points, flops, padding;
    dfl_i128 outputs; /* number of elements of the result */
    bool online;      /* some loop above the einsum is `online` */
    /* With conditions: for each `online` loop that does not index the result, the results that its iterations touch. */
    dfl_delta **rescaled;
    const uint32_t *rescaling; /* [entry of `rescaled`]: step of the loop */
    uint32_t n_rescaled;
    bool over;        /* some number of this struct exceeds 2^127 */
} dfl_operations;

/* Operations of all einsums, by einsum id. NULL after E0602. */
dfl_operations *dfl_operations_make(dfl_nest *nest);
/* Fills the operations of the einsums and of the result. False after E0608. */
bool dfl_operations_count(dfl_nest *nest, const dfl_operations *work, const dfl_traffic_sums *sums, dfl_result *r,
                          dfl_einsum_cost *costs);

#endif
