#include "lint/split.h"

void dfl_lint_split_unused(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *rank, const char *tensor)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_SPLIT_UNUSED, span, "`%s` has no rank `%s`", tensor, rank);

    dfl_diag_help(sink, d, "each home has the whole tensor: the split has no effect on it");
}
