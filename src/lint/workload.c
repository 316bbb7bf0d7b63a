#include "lint/workload.h"

void dfl_lint_unused_rank(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *rank)
{
    dfl_report_lint(sink, levels, DFL_LINT_UNUSED_RANK, span, "no einsum uses rank `%s`", rank);
}

void dfl_lint_unused_tensor(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *tensor)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_UNUSED_TENSOR, span, "no einsum reads `%s`", tensor);

    dfl_diag_help(sink, d, "read it on a right side, or remove it");
}

void dfl_lint_outside_shape(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *tensor, int64_t low,
                            int64_t high, int64_t extent)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_OUTSIDE_SHAPE, span,
                                  "this index of `%s` runs from %lld to %lld, always outside its %lld elements", tensor,
                                  (long long)low, (long long)high, (long long)extent);

    dfl_diag_help(sink, d, "elements outside the shape read as zero; is the offset right?");
}
