/* Coverage: whether a mapping computes everything exactly once. Each einsum must be in one leaf, and the loops must
   divide each rank down to its elements. Violations are reported. */
#ifndef DFL_IR_PATH_COVERAGE_H
#define DFL_IR_PATH_COVERAGE_H

#include "ir/path/path.h"

/* Whether every einsum is in exactly one leaf: else E0410 (twice) or E0411 (missing). */
bool dfl_path_check_coverage(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* Checks the tile of loop `i` of an einsum, once the nominal extent of the loop is set: E0402 (the rank is already
   finished), E0403 (the tile exceeds the rest of the rank). */
bool dfl_path_check_tile(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t i);
/* Whether the lines of an einsum divide each rank down to single elements: else E0401. `left`
   [rank of the workload]: tile of the rank below all lines of the einsum. */
bool dfl_path_check_finished(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p,
                             const int64_t *left);

#endif
