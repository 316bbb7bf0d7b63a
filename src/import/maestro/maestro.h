/* Mappings of MAESTRO as .dfl text. */
#ifndef DFL_IMPORT_MAESTRO_MAESTRO_H
#define DFL_IMPORT_MAESTRO_MAESTRO_H

#include "diag/diag.h"

/*
 * A mapping file of MAESTRO and, when `hw` is not NULL, its hardware file. The text has one workload per kind of layer,
 * one system per number of cluster levels, and one mapping per layer in file order, named after the layer. Tensors are
 * `input`, `filter` and `output`; memories are `dram`, `l2`, `c1`, `c2`, ... (inner clusters) and `l1` (in the processing
 * element); axes are `a0` (outermost), `a1`, ... Returns NULL after reporting errors (E07xx, or E06xx for a stopped
 * budget). The text lies in `arena` and ends with a line end. `sources` must hold both files.
 */
char *dfl_import_maestro(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                         const dfl_source *mapping, const dfl_source *hw);

#endif
