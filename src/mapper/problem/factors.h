/*
 * Which amounts a search tries for a loop with `n` elements left. `perfect`: divisors of n, so that every tile is full.
 * `imperfect`: for every possible number of iterations the smallest tile with so many; other tiles take the same number
 * of steps and more room. The numbers of parts are the same sets. Lists are made once for every n.
 */
#ifndef DFL_MAPPER_PROBLEM_FACTORS_H
#define DFL_MAPPER_PROBLEM_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Largest n; its lists have less than 2^21 numbers and take that many steps. */
#define DFL_LATTICE_MOST (INT64_C(1) << 40)

typedef struct dfl_factor_set dfl_factor_set;

typedef struct {
    const int64_t *at; /* ascending, from 1 to n */
    uint32_t n;
} dfl_amounts;

/* a / b, rounded up, of positive numbers. */
static inline int64_t dfl_divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }
/* The smallest tile that makes as many tiles of the extent as `tile`. */
int64_t dfl_even_tile(int64_t extent, double tile);
/* Divisors of n > 0. */
dfl_amounts dfl_divisors(dfl_arena *arena, int64_t n);
dfl_factor_set *dfl_factor_set_new(dfl_arena *arena, bool imperfect);
/* 0 < n <= DFL_LATTICE_MOST. Good as long as the arena. */
dfl_amounts dfl_factor_set_amounts(dfl_factor_set *lattice, int64_t n);

#endif
