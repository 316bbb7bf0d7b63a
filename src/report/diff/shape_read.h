/* Reading of shapes from reports. */
#ifndef DFL_REPORT_DIFF_SHAPE_READ_H
#define DFL_REPORT_DIFF_SHAPE_READ_H

#include "report/diff/diff.h"

/* Reads the shape from the mapping text of a result; the shape lies in `arena`. NULL if the text has syntax errors; then
   only the costs of the result are compared. */
const dfl_shape *dfl_shape_read(dfl_arena *arena, const dfl_side_result *result);

#endif
