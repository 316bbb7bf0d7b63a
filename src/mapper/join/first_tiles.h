/*
 * Which first tiles add to the time of a sum of patterns (SEARCH.md, B60). Nothing that a keep serves works before its first tile
 * has entered, and one port moves one tile at a time. So the first tiles of keeps that are filled from one memory come on top of
 * the work of all einsums. A keep belongs to one einsum here: of an input that several read, to the last of them.
 */
#ifndef DFL_MAPPER_JOIN_FIRST_TILES_H
#define DFL_MAPPER_JOIN_FIRST_TILES_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/tiling/form_program.h"

/* By class: operands whose first tiles count, in the problems of each unit. None if no first tile is sure to come on top. */
const dfl_form_firsts *dfl_first_tiles_find(dfl_arena *arena, const dfl_einsum_classes *classes);

#endif
