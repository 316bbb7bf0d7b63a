/* Runs of Calculon as .dfl text. */
#ifndef DFL_IMPORT_CALCULON_CALCULON_H
#define DFL_IMPORT_CALCULON_CALCULON_H

#include "diag/diag.h"

/*
 * A run of Calculon: the three JSON files of the application, the execution and the system, in this order. The text has the
 * workload `block` of one forward pass, the workload `step` of what the run does, the system `machine`, and the mapping `run`.
 * What the text assumes in another way than Calculon is a warning (E0715), with the seconds by which the step differs where they
 * change it, and numbers that Calculon itself refuses are E0705. Returns NULL after errors. The text lies in `arena`. `map` must
 * hold the `n` sources.
 */
char *dfl_import_calculon(dfl_arena *arena, dfl_sink *sink, dfl_source_map *map, const dfl_source *const *sources, size_t n);

#endif
