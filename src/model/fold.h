/* The costs of an unrolled mapping, summed over the iterations of its repeats. */
#ifndef DFL_MODEL_FOLD_H
#define DFL_MODEL_FOLD_H

#include "ir/path/unroll.h"
#include "ir/result.h"

/*
 * The costs of the given mapping from those of its unrolled copy (unroll.h). Counts, times and energies of the copies of an
 * einsum or a tensor add. The einsum is bound by what bounds its slowest copy. A tensor occupies what its copies occupy
 * together if it is an input or output of the workload, else what its largest copy occupies. The result lies in `arena`.
 * NULL for `unrolled` returns `result`.
 */
const dfl_result *dfl_result_fold(dfl_arena *arena, const dfl_unrolled *unrolled, const dfl_result *result);

#endif
