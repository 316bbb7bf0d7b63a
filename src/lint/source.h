/* Lints about the text of a file. */
#ifndef DFL_LINT_SOURCE_H
#define DFL_LINT_SOURCE_H

#include "diag/diag.h"
#include "syntax/syntax.h"

/* Reports each doc comment of the file that stands before no declaration (E0113). */
void dfl_lint_stray_docs(dfl_sink *sink, const dfl_lint_levels *levels, const dfl_syntax *syntax);

#endif
