/* Specifications for AccelForge as .dfl text. */
#ifndef DFL_IMPORT_ACCELFORGE_ACCELFORGE_H
#define DFL_IMPORT_ACCELFORGE_ACCELFORGE_H

#include "import/accelforge/specification.h"

/*
 * A specification for AccelForge, in one file or in several that each hold some of its parts. The text has one workload
 * `einsums`, one system `machine` and, when there is an `arch`, one mapping `mapped`, which is a hole for the mapper when
 * the specification has no mapping. Tensors, memories, units and axes keep their names. Returns NULL after reporting
 * errors (E07xx, or E06xx for a stopped budget). The text lies in `arena`. `sources` must hold all files; `n` > 0.
 */
char *dfl_import_accelforge(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                            const dfl_source *const *files, size_t n);

/* Parses the files and reads workload and architecture; false after reporting. */
bool dfl_af_open(dfl_af_file *f, dfl_loss_report *report, const dfl_source *const *sources, size_t n);

#endif
