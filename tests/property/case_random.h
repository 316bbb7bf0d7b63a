/* Random numbers for test cases, one stream per case, and drawing of parts of a case from families. */
#ifndef DFL_TESTS_PROPERTY_CASE_RANDOM_H
#define DFL_TESTS_PROPERTY_CASE_RANDOM_H

#include "tests/property/case.h"

typedef struct {
    uint64_t state;
    bool stretch; /* some extents are several times as large */
} case_random;

case_random case_random_of(uint64_t seed, uint64_t index);
/* A number from 0 to n - 1; n > 0. */
uint32_t case_below(case_random *rng, uint32_t n);
bool case_chance(case_random *rng, uint32_t percent);
bool case_has_rank(const dfl_case *c, uint32_t einsum, uint32_t rank);

void case_draw_workload(case_random *rng, dfl_case *c);
void case_draw_system(case_random *rng, dfl_case *c);

#endif
