/*
 * Exponential and logarithm by additions, multiplications, divisions and moves of bits alone. IEEE 754 defines all of
 * these exactly, so the results have the same bits with every compiler and C library; the results of exp and log of a C
 * library have not.
 */
#ifndef DFL_MAPPER_PROGRAM_EXPONENTIAL_H
#define DFL_MAPPER_PROGRAM_EXPONENTIAL_H

#include <stdint.h>

/* Largest |x| of dfl_exponentials. */
#define DFL_EXPONENT_MAX 690.0
/* Relative error of dfl_exponentials and absolute error of dfl_logarithm beyond |result| * 2^-52, at most: 2^-45. */
#define DFL_EXPONENTIAL_ERROR 0x1p-45

/* out[i] = e^x[i] for all i < n; |x[i]| <= DFL_EXPONENT_MAX. The arrays may be the same. */
void dfl_exponentials(const double *x, uint32_t n, double *out);
/* Natural logarithm of a positive normal number. */
double dfl_logarithm(double x);

#endif
