/*
 * First tiles in the bound of several einsums (SEARCH.md, B60). Nothing below a keep works before the first tile of the keep
 * has entered, and one port moves one tile at a time. So the time in which one memory is read for the first tiles of keeps adds
 * to the work of all einsums. The function chooses this memory, and the inputs of which no later tile is larger than the first
 * one. A keep that serves several einsums counts in one of them: the first reader in which this holds. First
 * tiles count only in memories that no keep fills: further in, others may enter beside them.
 */
#ifndef DFL_MAPPER_JOIN_FIRST_TILES_H
#define DFL_MAPPER_JOIN_FIRST_TILES_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/tiling/form_program.h"

/* [class]: the inputs whose first tiles count, as operands of all problems of the class. Their `memory` is DFL_NONE if no first
   tile counts. The result lies in `arena`. */
const dfl_form_firsts *dfl_first_tiles_find(dfl_arena *arena, const dfl_einsum_classes *classes);

#endif
