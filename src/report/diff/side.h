/* One side of a comparison: results of a report, with the shapes of their mappings. */
#ifndef DFL_REPORT_DIFF_SIDE_H
#define DFL_REPORT_DIFF_SIDE_H

#include "dfl/dfl.h"
#include "report/diff/diff.h"

/* Reads all results of a side, or the one called `side->only`. False after E0619, or after E0201 if no result is called
   `side->only`. */
bool dfl_side_read(dfl_arena *arena, dfl_sink *sink, const dfl_side *side, dfl_side_results *out);
/* If a side has several results and one is called `name`, keeps only this one. */
void dfl_side_prefer(dfl_side_results *side, const char *name);

#endif
