/* Texts of the lints about workloads. The analysis of einsums detects the findings. */
#ifndef DFL_LINT_WORKLOAD_H
#define DFL_LINT_WORKLOAD_H

#include "diag/diag.h"

/* Reports the declaration of a rank that no einsum uses (E0321). */
void dfl_lint_unused_rank(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *rank);
/* Reports the declaration of an input that no einsum reads (E0327). */
void dfl_lint_unused_tensor(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *tensor);
/* Reports an index whose values, `low` to `high`, all lie outside of the dimension's elements, 0 to `extent` - 1 (E0319). */
void dfl_lint_outside_shape(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *tensor, int64_t low,
                            int64_t high, int64_t extent);

#endif
