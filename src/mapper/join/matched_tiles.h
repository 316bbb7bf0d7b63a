/*
 * Lower bound of a line of energy and time over all mappings of several einsums, by the tiles in which they exchange tensors
 * (SEARCH.md, B40, B43). An intermediate that is exchanged below its home has one tile there, the same for its producer and its
 * readers. *Leaves* split the memories and the tiles of each intermediate. Each einsum has a lower bound for each combination of
 * leaves of what it exchanges; the least sum of combinations that agree is a lower bound. Where the einsums of the least sum want
 * different tiles of one leaf, the leaf is split between them, and the einsums are bounded anew there. Leaves are split by the
 * room of held keeps, too (B62).
 */
#ifndef DFL_MAPPER_JOIN_MATCHED_TILES_H
#define DFL_MAPPER_JOIN_MATCHED_TILES_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"
#include "mapper/tiling/form_program.h"

typedef struct dfl_matched_tiles dfl_matched_tiles;

/* For a line; `classes` and `deadline` must live as long. `programs` counts programs. */
dfl_matched_tiles *dfl_matched_tiles_new(dfl_arena *arena, const dfl_einsum_classes *classes, const dfl_objective *line,
                                         dfl_deadline *deadline, uint64_t *programs);
/* Makes all bounds count first tiles (SEARCH.md, B60), `firsts` [class]. To be called before the first bound. */
void dfl_matched_tiles_first_tiles(dfl_matched_tiles *matched, const dfl_form_firsts *firsts);
/* Makes all bounds that follow count whole numbers of parts on axes (SEARCH.md, B57) and, of one einsum alone, whole lengths
   (B58): up to DFL_CELLS programs for a skeleton, in place of one. `known` is the value of the line at a mapping; INFINITY =
   none. */
void dfl_matched_tiles_whole_parts(dfl_matched_tiles *matched, double known);
/* Bounds patterns until those of the least sum agree on memories; then splits leaves until the bound is `enough` or the tiles
   match. The bound so far, also if the deadline passes. */
double dfl_matched_tiles_raise(dfl_matched_tiles *matched, double enough);
void dfl_matched_tiles_free(dfl_matched_tiles *matched);

#endif
