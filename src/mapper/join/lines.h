/*
 * Lower bounds of a mapping as lines: per_joule * J + per_second * S >= least, for energy J and latency S. A system of lines
 * leaves a region that is open upwards. An objective whose logarithm is concave has its least value over the region at a
 * vertex, where two lines meet (SEARCH.md, B42).
 */
#ifndef DFL_MAPPER_JOIN_LINES_H
#define DFL_MAPPER_JOIN_LINES_H

#include "mapper/problem/objective.h"

typedef struct {
    double per_joule, per_second; /* not negative; not both 0 */
    double least;
} dfl_line_bound;

typedef struct {
    double value;                 /* least value of the objective */
    double joules, seconds;       /* the vertex with this value */
} dfl_lines_vertex;

/* The vertex of the region above `n` lines with the least value of a `native` objective. One line must be J >= least, and one
   S >= least. `leakage`, W, is power that the lines leave out of J. */
dfl_lines_vertex dfl_lines_least(const dfl_objective *objective, double leakage, const dfl_line_bound *lines, uint32_t n);

#endif
