/*
 * Lints about mappings: lines that look like a mistake in a mapping that is legal and exactly evaluated. The mapping must
 * resolve without errors. A line of a template stands in every mapping that uses the template; a lint about such a line is
 * reported once, and only if the lint holds in all of these mappings. Lines of imported files are not reported.
 */
#ifndef DFL_LINT_MAPPING_H
#define DFL_LINT_MAPPING_H

#include "diag/diag.h"
#include "ir/path/path.h"

/* Findings of the lints empty-parts, inner-home, keep-unused, idle-instances and, for latencies, attribute-no-effect, of
   one file. */
typedef struct dfl_linter dfl_linter;

/* `levels` may be NULL, which means the defaults. */
dfl_linter *dfl_linter_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_lint_levels *levels);
/* Inspects the next mapping in text order. The linter keeps texts of it, and no reference to the mapping or its paths. */
void dfl_linter_inspect(dfl_linter *linter, const dfl_paths *paths);
/* Reports each finding that holds in every mapping with the line. */
void dfl_linter_report(dfl_linter *linter);

#endif
