/* Runs of Timeloop as .dfl text. */
#ifndef DFL_IMPORT_TIMELOOP_TIMELOOP_H
#define DFL_IMPORT_TIMELOOP_TIMELOOP_H

#include "diag/diag.h"

/*
 * A run of Timeloop in any number of files: problem, architecture (versions 0.2 to 0.4, also flattened), mapping or
 * constraints, and a table of energies (ERT). The text has one workload `problem`, one system `arch` and one mapping
 * `mapped`, which has holes for the mapper when the run has no mapping. Dimensions, tensors and levels keep their names;
 * the axes below a level are `x_LEVEL` and `y_LEVEL`. Returns NULL after reporting errors (E07xx, or E06xx for a stopped
 * budget). The text lies in `arena`. `map` must hold the `n` > 0 sources.
 */
char *dfl_import_timeloop(dfl_arena *arena, dfl_sink *sink, dfl_source_map *map, const dfl_source *const *sources, size_t n);

#endif
