/*
 * Repeats that carry a tensor, unrolled. `repeat N as layer carrying X = Y` runs its body N times: the first iteration reads
 * X of the workload, and each later iteration reads the Y that the previous one made. A mapping runs the iterations by a
 * bare line `temporal layer;` above all einsums of the body, below lines that divide the iterations into tiles, if any. The
 * unrolled mapping has a branch in place of each of these lines, with a child for each of its tiles or iterations. Its
 * workload has N copies of the einsums of the body and of the tensors that they produce. Inputs, weights and states of the
 * body keep their dimension for the iterations; copy i indexes this dimension with the constant i. So the unrolled mapping
 * has no carried tensor, and its counts are those of the mapping.
 */
#ifndef DFL_IR_PATH_UNROLL_H
#define DFL_IR_PATH_UNROLL_H

#include "diag/diag.h"
#include "ir/mapping.h"

/* An unrolled mapping, and the part of the given mapping that each of its einsums and tensors is a copy of. */
typedef struct {
    const dfl_mapping *given;
    const dfl_mapping *mapping;
    const uint32_t *einsum_of; /* [einsum of `mapping`]: einsum of `given` */
    const uint32_t *tensor_of; /* [tensor of `mapping`]: tensor of `given` */
} dfl_unrolled;

/*
 * Unrolls every repeat that carries a tensor. The mapping must have no holes and must cover every einsum once. The copy lies
 * in `arena` and shares names, spans and unchanged parts with `given`; parts of all iterations have the same name and span.
 * If no repeat of the workload carries a tensor, the result is `given` itself, with NULL for both arrays. NULL after
 * reporting: E0401 if no bare line of the repeat stands above an einsum of the body, E0402 or E0403 if a line leaves nothing
 * to the lines below, E0416 if a line of the repeat stands above other einsums, E0609 if a line is spatial, `cyclic` or
 * `online`.
 */
const dfl_unrolled *dfl_mapping_unroll(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *given);

#endif
