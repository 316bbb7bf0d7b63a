/* The mapping of a nest with keeps. */
#ifndef DFL_MAPPER_NESTS_NEST_LINES_H
#define DFL_MAPPER_NESTS_NEST_LINES_H

#include "mapper/nests/nest.h"

/* A keep inside of the home of its operand. */
typedef struct {
    uint8_t operand, place;
    uint32_t at;              /* number of loops above it */
} dfl_nest_keep;

/* The mapping with these keeps, in `arena`; those of one operand stand from outer to inner memories. `given`: the mapping that is
   searched, one einsum with all lines open; its homes stay. */
dfl_mapping *dfl_nest_mapping(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *problem, const dfl_bare_nest *nest,
                              const dfl_nest_keep *keeps, uint32_t n);

#endif
