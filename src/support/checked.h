/*
 * Checked arithmetic of 128-bit counts: each operation returns whether it overflowed. A caller that chains operations
 * collects the results with |= and tests them once at the end.
 */
#ifndef DFL_SUPPORT_CHECKED_H
#define DFL_SUPPORT_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 dfl_i128;

/* `*out` = a op b; true on overflow, like the compiler's builtins. */
static inline bool dfl_add(dfl_i128 a, dfl_i128 b, dfl_i128 *out) { return __builtin_add_overflow(a, b, out); }
static inline bool dfl_sub(dfl_i128 a, dfl_i128 b, dfl_i128 *out) { return __builtin_sub_overflow(a, b, out); }
static inline bool dfl_mul(dfl_i128 a, dfl_i128 b, dfl_i128 *out)
{
    if (a == (int64_t)a && b == (int64_t)b) {
        *out = (dfl_i128)(int64_t)a * (int64_t)b;
        return false;
    }
    return __builtin_mul_overflow(a, b, out);
}

/* Writes the decimal digits of `value`. Returns the length without the NUL. */
size_t dfl_i128_text(dfl_i128 value, char out[41]);
/* The nearest double. A count of at most 64 bits, the usual case, is converted by one instruction. */
static inline double dfl_i128_double(dfl_i128 value)
{
    return value == (int64_t)value ? (double)(int64_t)value : (double)value;
}
/* Quotients rounded up and down, for b > 0 and any sign of a. */
int64_t dfl_ceil_div(int64_t a, int64_t b);
int64_t dfl_floor_div(int64_t a, int64_t b);
/* Greatest common divisor, never negative. 2^63, when each argument is INT64_MIN or 0, becomes INT64_MAX. */
int64_t dfl_gcd(int64_t a, int64_t b);

#endif
