#include "certify/factors.h"

#include <stdlib.h>

#include "support/vec.h"

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void find_factors(dfl_arena *arena, int64_t extent, dfl_certify_factors *out)
{
    DFL_VEC(int64_t) primes = { 0 }, divisors = { 0 };
    int64_t left = extent;

    for (int64_t p = 2; left > 1 && (p % 4096 != 0 || dfl_budget_ok(dfl_arena_budget(arena))); p++) {
        if (p > left / p)
            p = left;
        for (; left % p == 0; left /= p)
            DFL_PUSH(arena, &primes, p);
    }
    DFL_PUSH(arena, &divisors, 1);
    for (size_t i = 0, first = 0, n; i < primes.n; i++) {
        n = divisors.n;
        if (i == 0 || primes.at[i] != primes.at[i - 1])
            first = 0;
        for (size_t d = first; d < n; d++)
            DFL_PUSH(arena, &divisors, divisors.at[d] * primes.at[i]);
        first = n;
    }
    qsort(divisors.at, divisors.n, sizeof *divisors.at, by_number);
    *out = (dfl_certify_factors){ primes.at, divisors.at, (uint32_t)primes.n, (uint32_t)divisors.n };
}

/* The powers of different primes are distributed independently: the number of factorizations is the product of
   C(m + n - 1, m) over the primes, where m is the exponent of the prime. */
double dfl_certify_factors_count(const dfl_certify_factors *factors, uint32_t n)
{
    double ways = 1;

    if (n == 0)
        return factors->n_primes == 0 ? 1 : 0;
    for (uint32_t i = 0, power = 0; i < factors->n_primes; i++) {
        power = i > 0 && factors->primes[i] == factors->primes[i - 1] ? power + 1 : 1;
        ways = ways * (n - 1 + power) / power;
    }
    return ways;
}

const dfl_certify_factors *dfl_certify_factors_of(dfl_arena *arena, const dfl_certify_problem *problem)
{
    dfl_certify_factors *out = DFL_NEW_ARRAY(arena, dfl_certify_factors, DFL_CERTIFY_RANKS);

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        find_factors(arena, problem->extent[r], &out[r]);
    return out;
}
