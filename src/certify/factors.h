/* Factorizations of an extent. */
#ifndef DFL_CERTIFY_FACTORS_H
#define DFL_CERTIFY_FACTORS_H

#include "certify/problem.h"

/* Prime factors (with repetition) and divisors of one extent, both ascending. */
typedef struct {
    int64_t *primes, *divisors;
    uint32_t n_primes, n_divisors;
} dfl_certify_factors;

/* The factors of every extent of a problem, by rank of the problem; allocated in `arena`. */
const dfl_certify_factors *dfl_certify_factors_of(dfl_arena *arena, const dfl_certify_problem *problem);
/* Number of ordered factorizations of the extent into `n` factors. A prime of multiplicity m contributes C(m + n - 1,
   m). */
double dfl_certify_factors_count(const dfl_certify_factors *factors, uint32_t n);

#endif
