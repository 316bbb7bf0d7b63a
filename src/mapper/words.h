/*
 * What a search for lines looks at, for the report: clauses with "; " between them, each with the option that makes it wider,
 * if there is one. Clauses that say nothing about the workload and the system at hand are left out.
 */
#ifndef DFL_MAPPER_WORDS_H
#define DFL_MAPPER_WORDS_H

#include "ir/mapping.h"
#include "support/arena.h"

/* `ragged`: tiles that do not divide were tried; `beyond`: DFL_BEYOND_... that were. */
const char *dfl_mapper_words(dfl_arena *arena, const dfl_mapping *m, bool ragged, uint32_t beyond);

#endif
