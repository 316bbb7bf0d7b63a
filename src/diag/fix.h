/*
 * Applying the edits of a sink (`--fix`). The edits of one report are applied together or not at all. Reports are
 * considered in the order of the sorted sink. A report is applied if all its edits are sure and none overlaps an edit
 * applied before. An edit that equals an applied one counts as applied.
 */
#ifndef DFL_DIAG_FIX_H
#define DFL_DIAG_FIX_H

#include "diag/diag.h"

typedef struct {
    const char *text; /* NUL-terminated, in the sink's arena */
    size_t len;
    size_t applied;   /* number of applied reports with an edit in this source */
    size_t skipped;   /* number of reports whose sure edits in this source overlap applied edits */
} dfl_fixed;

/* The text of `source` after the edits; sorts the sink. A run of dflc on the result gives the skipped reports again. */
dfl_fixed dfl_fix_apply(const dfl_source *source, dfl_sink *sink);

#endif
