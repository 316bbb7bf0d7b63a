/* Whether a mapping computes everything once: each einsum in one leaf, each rank down to its elements. Errors are
   reported. */
#ifndef DFL_IR_PATH_COVERAGE_H
#define DFL_IR_PATH_COVERAGE_H

#include "ir/path/path.h"

/* Whether every einsum is in exactly one leaf: else E0410 (twice) or E0411 (missing). */
bool dfl_path_check_coverage(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* Checks the tile of loop `i` of an einsum, once its nominal extent is set: E0402 (a rank that is already finished),
   E0403 (a tile larger than the rest of the rank). */
bool dfl_path_check_tile(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t i);
/* Whether nothing but single elements is left of each rank below the last line: else E0401. `left`: by rank of the
   workload. */
bool dfl_path_check_finished(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p,
                             const int64_t *left);

#endif
