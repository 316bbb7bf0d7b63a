/* Dimensions of operands: how many values an index has over a piece. */
#ifndef DFL_MAPPER_PROBLEM_DIMS_H
#define DFL_MAPPER_PROBLEM_DIMS_H

#include "mapper/problem/space.h"

/* Different values of one dimension, with the piece of each of its terms. */
double dfl_dim_values(const dfl_job_dim *d, const double *piece);
/* How many of them stay, at most, when the dimension moves by `shift`. */
double dfl_dim_stays(const dfl_job_dim *d, const double *piece, double shift);

#endif
