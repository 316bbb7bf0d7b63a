/*
 * Counts are 128 bits wide and never wrap: each operation says whether its result fits. Callers that chain many
 * operations collect the flag with |= and look once at the end.
 */
#ifndef DFL_SUPPORT_CHECKED_H
#define DFL_SUPPORT_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 dfl_i128;

/* True on overflow, as the builtins have it. */
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

/* Decimal digits of `value`; `out` has room for 41 bytes. Returns the length without the NUL. */
size_t dfl_i128_text(dfl_i128 value, char out[41]);
/* Nearest double. Most counts fit 64 bits, where the processor converts. */
static inline double dfl_i128_double(dfl_i128 value)
{
    return value == (int64_t)value ? (double)(int64_t)value : (double)value;
}
/* ceil(a / b), floor(a / b) for b > 0 and any sign of a. */
int64_t dfl_ceil_div(int64_t a, int64_t b);
int64_t dfl_floor_div(int64_t a, int64_t b);
/* Never negative; 2^63 (both arguments INT64_MIN or 0) is given as INT64_MAX. */
int64_t dfl_gcd(int64_t a, int64_t b);

#endif
