/*
 * Mappings in which a search chooses what is written. In place of
 *     keep ? in M;           stand keeps of some of the tensors that are touched below and kept further out, or intermediates
 *     temporal ?;            stand loops over all ranks of all einsums below that are not finished, in some order, with
 *                            amounts that are open
 *     spatial ? on axis;     the same, in one order: which of two loops on an axis is outside of the other changes no count
 * and every choice is a mapping of its own, without such places. Choices are numbered: the first one keeps nothing, and has the
 * ranks in the order in which they are declared.
 */
#ifndef DFL_MAPPER_CHOICES_H
#define DFL_MAPPER_CHOICES_H

#include "diag/diag.h"
#include "ir/mapping.h"
#include "support/strbuf.h"

enum { DFL_CHOICES_MOST = 4096, DFL_CHOICES_COUNTED = 1000000000 };

/* Whether there is something to choose in every place, or would be if no rank had just one element; false after reporting
   E0612. */
bool dfl_choices_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* How many there are, at most DFL_CHOICES_COUNTED. */
uint32_t dfl_choices_count(dfl_arena *scratch, const dfl_mapping *m);
/* The place that has the most ways to be filled, the first of several, and how many. */
void dfl_choices_most(dfl_arena *scratch, const dfl_mapping *m, dfl_span *at, uint32_t *ways);
/* Number `number` of them. */
dfl_mapping *dfl_choices_take(dfl_arena *arena, const dfl_mapping *m, uint32_t number);
/* "`keep A in sram`, `temporal m, k`": what such a mapping has in the places, of those that differ. */
void dfl_choices_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, const dfl_mapping *chosen);

#endif
