/* The shape of a mapping in a report. */
#ifndef DFL_REPORT_DIFF_SHAPE_READ_H
#define DFL_REPORT_DIFF_SHAPE_READ_H

#include "report/diff/diff.h"

/* The shape of the mapping text of a result, in `arena`. NULL if the text has syntax errors: such results are compared by
   their costs alone. */
const dfl_shape *dfl_shape_read(dfl_arena *arena, const dfl_side_result *result);

#endif
