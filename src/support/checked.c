#include "support/checked.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;

size_t dfl_i128_text(dfl_i128 value, char out[41])
{
    char digits[41];
    size_t at = sizeof digits;
    u128 left = value < 0 ? -(u128)value : (u128)value;

    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left != 0);
    if (value < 0)
        digits[--at] = '-';
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at - 1;
}

int64_t dfl_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t dfl_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

int64_t dfl_gcd(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? -(uint64_t)b : (uint64_t)b;

    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}
