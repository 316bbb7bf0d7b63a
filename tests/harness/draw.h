/*
 * Pseudo-random numbers in a fixed order, so that a failure comes back: the upper bits of the linear congruential generator of
 * Knuth's MMIX, whose lower bits have short periods. `state` may start anywhere.
 */
#ifndef DFL_TESTS_HARNESS_DRAW_H
#define DFL_TESTS_HARNESS_DRAW_H

#include <stdint.h>

/* 0 .. 2^31 - 1. */
static inline uint32_t draw_bits(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* 0 .. n - 1. */
static inline uint32_t draw(uint64_t *state, uint32_t n)
{
    return draw_bits(state) % n;
}

/* 0 .. n - 1, of at most 2^31. */
static inline int64_t draw_amount(uint64_t *state, int64_t n)
{
    return (int64_t)draw_bits(state) % n;
}

#endif
