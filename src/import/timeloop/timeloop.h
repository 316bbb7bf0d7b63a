/* Runs of Timeloop as .dfl text. */
#ifndef DFL_IMPORT_TIMELOOP_TIMELOOP_H
#define DFL_IMPORT_TIMELOOP_TIMELOOP_H

#include "diag/diag.h"

/*
 * A run of Timeloop: problem, architecture, and mapping or constraints. The text has one workload `problem`, one system
 * `arch` and one mapping `mapped`, which is a hole for the mapper when the file has no mapping. Dimensions, tensors and
 * levels keep their names; the axes below a level are `x_LEVEL` and `y_LEVEL`. Returns NULL after reporting errors
 * (E07xx, or E06xx for a stopped budget). The text lies in `arena`. `sources` must hold the file.
 */
char *dfl_import_timeloop(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source);

#endif
