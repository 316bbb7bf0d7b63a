/* Dimensions of operands: how many values an index has over a piece. */
#ifndef DFL_MAPPER_PROBLEM_EXTENTS_H
#define DFL_MAPPER_PROBLEM_EXTENTS_H

#include "mapper/problem/einsum_problem.h"

/* Different values of one dimension, with the piece of each of its terms. */
double dfl_dim_values(const dfl_problem_dim *d, const double *piece);
/* How many of them stay, at most, when the dimension moves by `shift`. */
double dfl_dim_stays(const dfl_problem_dim *d, const double *piece, double shift);

#endif
