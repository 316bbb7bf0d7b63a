/*
 * Number of points that the busiest of several instances has, if each of n points goes to one of them by chance.
 */
#ifndef DFL_PLAN_LAYOUT_LARGEST_H
#define DFL_PLAN_LAYOUT_LARGEST_H

#include <stdbool.h>
#include <stdint.h>

/* The expected maximum of a multinomial: n points, each to one of `parts` instances with equal chance. */
double dfl_largest_expected(int64_t n, int64_t parts);
/* Points of the largest instance, rounded up. `load` = its points over the mean, infinite = all points, 0 = as expected.
   `uneven`: the largest part of the table over the mean part, >= 1. */
int64_t dfl_largest_part(int64_t n, int64_t parts, double load, double uneven);

#endif
