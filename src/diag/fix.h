/*
 * Applying the edits of a sink (`--fix`). The edits of one report belong together: all are applied, or none. A report
 * is taken when all its edits are sure and none overlaps an edit taken before; reports are asked in the order of the
 * sorted sink, so the outcome depends on nothing else. An edit that equals one already taken counts as taken.
 */
#ifndef DFL_DIAG_FIX_H
#define DFL_DIAG_FIX_H

#include "diag/diag.h"

typedef struct {
    const char *text; /* NUL-terminated, in the sink's arena */
    size_t len;
    size_t applied;   /* reports with an edit in this source that were taken */
    size_t skipped;   /* reports with sure edits in this source that were not, for an overlap */
} dfl_fixed;

/* The text of `source` after the edits. Running `dflc` again on it finds what was skipped. */
dfl_fixed dfl_fix_apply(const dfl_source *source, dfl_sink *sink);

#endif
