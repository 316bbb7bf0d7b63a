/*
 * A bare nest is all lines of a mapping of one einsum but its keeps: temporal loops in an order, until each piece is one element,
 * and parts of ranks on axes. Rule D11 of SEARCH.md: with keeps behind any number of its loops, nests give all mappings, up to
 * lines that change nothing. If all tiles divide what they cut, the axes stand above all loops. Else an axis stands right behind
 * the line that cuts its rank before, or above all loops.
 */
#ifndef DFL_MAPPER_NESTS_NEST_H
#define DFL_MAPPER_NESTS_NEST_H

#include "mapper/problem/einsum_problem.h"

enum { DFL_NEST_LOOPS = 40, DFL_NEST_AXES = DFL_NEST_LOOPS };

typedef struct {
    uint64_t set;                 /* number of what the axes have, with all loops over their ranks if tiles need not divide */
    uint32_t n, n_axes;
    struct {
        uint32_t rank;
        int64_t factor;           /* iterations over a piece that no line above has cut short */
        int64_t tile;             /* elements of the rank in such an iteration, on one coordinate of the axes */
    } loop[DFL_NEST_LOOPS];       /* outermost first */
    struct {
        uint32_t rank, axis;
        uint32_t after;           /* number of loops above it */
        int64_t parts, tile;      /* of a full piece */
    } axis[DFL_NEST_AXES];        /* outermost first */
} dfl_bare_nest;

/* Steps on coordinate 0 of all axes, which has the largest pieces. */
double dfl_nest_steps(const dfl_problem *problem, const dfl_bare_nest *nest);

/* Uses a nest, which lives during the call; false ends the list. */
typedef bool dfl_nest_use(void *context, const dfl_bare_nest *nest);

/* Calls `use` for each nest of a problem in which tiles divide what they cut, with at most DFL_NEST_LOOPS prime factors. The
   nests of one set follow one another. */
void dfl_nests_each(dfl_arena *arena, const dfl_problem *problem, dfl_nest_use *use, void *context);
/* Number of nests; `most` if there are at least so many, or if the extents have too many prime factors. */
uint64_t dfl_nests_count(dfl_arena *arena, const dfl_problem *problem, uint64_t most);

#endif
