/*
 * Lints about mappings: what is allowed and evaluated exactly, but looks like a mistake. They need mappings that
 * resolve without errors. A line of a template is checked in all mappings that use it, and reported once, only if the
 * lint holds in every one of them; lines of imported files are not reported.
 */
#ifndef DFL_LINT_LINT_H
#define DFL_LINT_LINT_H

#include "diag/lints.h"
#include "ir/path/path.h"

/* Lints E0419, E0421, E0423 and, for latencies, E0501 for the mappings of one file; `levels` may be NULL. */
typedef struct dfl_linter dfl_linter;
dfl_linter *dfl_linter_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_lint_levels *levels);
/* Looks at one mapping, in text order. The mapping must last until the report, its paths need not. */
void dfl_linter_look(dfl_linter *linter, const dfl_paths *paths);
/* Reports what holds in every mapping that was looked at. */
void dfl_linter_report(dfl_linter *linter);

#endif
