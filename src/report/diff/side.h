/* One side of a comparison: results of a report, with the shapes of their mappings. */
#ifndef DFL_REPORT_DIFF_SIDE_H
#define DFL_REPORT_DIFF_SIDE_H

#include "dfl/dfl.h"
#include "report/diff/diff.h"

/* Reads the results of a side: all, or the one called `side->only`. False after E0619, or E0201 if none is called so. */
bool dfl_side_read(dfl_arena *arena, dfl_sink *sink, const dfl_side *side, dfl_side_results *out);
/* Keeps only the result called `name` of several, if there is one. */
void dfl_side_prefer(dfl_side_results *side, const char *name);

#endif
