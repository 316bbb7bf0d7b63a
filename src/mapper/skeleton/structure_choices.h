/*
 * Structural choices: the fillings of each `?` among loops or keeps.
 *
 *     keep ? in M;           keeps of any subset of the candidate tensors. A candidate is touched below, and it is an
 *                            intermediate or kept further out.
 *     temporal ?;            one loop over each rank of extent > 1 that all einsums below have and no loop above has finished,
 *                            in any order; the tile sizes are open
 *     spatial ? on axis;     these loops on the axis, in one order, since the order of loops on an axis changes no count
 *
 * A structural choice fills every such `?` and is a mapping of its own. Choices have numbers from 0. Choice 0 has no keeps, and
 * its loops have the order in which the workload declares the ranks.
 */
#ifndef DFL_MAPPER_SKELETON_STRUCTURE_CHOICES_H
#define DFL_MAPPER_SKELETON_STRUCTURE_CHOICES_H

#include "diag/diag.h"
#include "ir/mapping.h"
#include "support/strbuf.h"

enum { DFL_CHOICES_MOST = 4096, DFL_CHOICES_COUNTED = 1000000000 };

/* Whether every `?` has a tensor or a rank to choose from; ranks of extent 1 count. False after reporting E0612. */
bool dfl_choices_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* Number of structural choices of a mapping, at most DFL_CHOICES_COUNTED. */
uint32_t dfl_choices_count(dfl_arena *scratch, const dfl_mapping *m);
/* The span of the `?` with the most fillings (the first of several), and the number of the fillings of that `?`. */
void dfl_choices_most(dfl_arena *scratch, const dfl_mapping *m, dfl_span *at, uint32_t *ways);
/* The mapping with structural choice `number`, from 0; without `?` among loops and keeps. */
dfl_mapping *dfl_choices_take(dfl_arena *arena, const dfl_mapping *m, uint32_t number);
/* Prints the lines of the structural choice of `chosen`: "`keep A in sram`, `temporal m, k`". Leaves out each `?` with only
   one filling. */
void dfl_choices_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, const dfl_mapping *chosen);

#endif
