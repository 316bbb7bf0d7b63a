/*
 * The sums of a geometric program at one point.
 *
 * With s_t the share of monomial t in its sum, the slope of ln (sum) at a variable is the sum of s_t * power over the monomials,
 * and the matrix of the second derivatives is the sum of s_t * a_t * a_t' minus slope * slope', a_t the powers of monomial t.
 */
#ifndef DFL_MAPPER_PROGRAM_SUMS_H
#define DFL_MAPPER_PROGRAM_SUMS_H

#include "mapper/program/program.h"

typedef struct {
    double share[DFL_GEOMETRIC_TERMS];                       /* of each monomial of the curved sums in its sum */
    double value[DFL_GEOMETRIC_SUMS];                        /* ln (sum) */
    double slope[DFL_GEOMETRIC_SUMS * DFL_GEOMETRIC_VARS];   /* at the variables `slope_var` of the program */
} dfl_geometric_sums;

/* `x` lies in the range of the program. */
void dfl_geometric_evaluate(const dfl_geometric_program *p, const double *x, dfl_geometric_sums *out);

#endif
