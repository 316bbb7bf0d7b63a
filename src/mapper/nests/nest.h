/*
 * A bare nest is all lines of a mapping of one einsum but its keeps: parts of ranks on axes, and below them temporal loops in an
 * order, until each piece is one element. All amounts divide what they cut. Rule D11 of SEARCH.md: with keeps at each place
 * between the loops, nests give all mappings whose tiles divide, up to lines that change nothing.
 */
#ifndef DFL_MAPPER_NESTS_NEST_H
#define DFL_MAPPER_NESTS_NEST_H

#include "mapper/problem/einsum_problem.h"

enum { DFL_NEST_LOOPS = 40 };

typedef struct {
    int64_t parts[DFL_PROBLEM_RANKS][DFL_PROBLEM_AXES];
    uint32_t n;
    struct {
        uint32_t rank;
        int64_t factor, tile;     /* iterations; elements of a full piece below, on one instance of all axes */
    } loop[DFL_NEST_LOOPS];       /* outermost first */
} dfl_bare_nest;

/* Calls `use` for each nest of a problem with at most DFL_NEST_LOOPS prime factors, until it returns false. The nests with the
   same parts follow one another. */
void dfl_nests_each(dfl_arena *arena, const dfl_problem *problem, bool (*use)(void *context, const dfl_bare_nest *nest),
                    void *context);
/* Number of nests; `most` if there are at least so many, or if the extents have too many prime factors. */
uint64_t dfl_nests_count(dfl_arena *arena, const dfl_problem *problem, uint64_t most);

#endif
