#include "lint/source.h"

void dfl_lint_stray_docs(dfl_sink *sink, const dfl_lint_levels *levels, const dfl_syntax *syntax)
{
    for (uint32_t i = 0; i < syntax->n_stray_docs; i++) {
        dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_STRAY_DOC, syntax->stray_docs[i],
                                      "this doc comment documents nothing");

        dfl_diag_help(sink, d, "put it right before a declaration, or write `//`");
    }
}
