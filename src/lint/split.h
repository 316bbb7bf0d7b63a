/* Text of the lint about the parts of split homes. The lowering of keeps detects the findings. */
#ifndef DFL_LINT_SPLIT_H
#define DFL_LINT_SPLIT_H

#include "diag/diag.h"

/* Reports a rank of `split` that the tensor lacks (E0431). */
void dfl_lint_split_unused(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *rank, const char *tensor);

#endif
