/*
 * What a search for lines looks at, for the report: clauses with "; " between them, each with the option that makes it wider,
 * if there is one. Clauses that say nothing about the workload and the system at hand are left out.
 */
#ifndef DFL_MAPPER_PROBLEM_SPACE_TEXT_H
#define DFL_MAPPER_PROBLEM_SPACE_TEXT_H

#include "ir/mapping.h"
#include "support/arena.h"

typedef struct {
    bool ragged;              /* tiles that do not divide were tried, */
    bool spread;              /* and any rank over any axis */
    bool certified;           /* or only those that share transfers, however little of the axis is at work */
    uint32_t beyond;          /* DFL_BEYOND_... that were tried */
    bool any_tiles;           /* all tile sizes were searched */
} dfl_words;

const char *dfl_mapper_words(dfl_arena *arena, const dfl_mapping *m, const dfl_words *what);

#endif
