#include "mapper/program/exponential.h"

#include <string.h>

/* ln 2 as a sum: LN2_HIGH has 21 zero bits at its end, so its products with the exponents of doubles are exact. */
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW  0x1.a39ef35793c76p-33
#define LN2_INVERSE 0x1.71547652b82fep+0
/* A double x with |x| < 2^51 plus this number is rounded to an integer, which stands in the low bits of the sum. */
#define ROUNDING 0x1.8p+52

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023, TOGETHER = 4 };

/* e^r for |r| <= ln 2 / 2: the Taylor series to r^11 / 11!. The rest is less than 2^-47. */
static double small_exponential(double r)
{
    double sum = 1.0 / 39916800;

    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    return sum * r + 1;
}

/* e^x = 2^k * e^r with x = k * ln 2 + r. */
static double exponential(double x)
{
    const double rounded = x * LN2_INVERSE + ROUNDING, k = rounded - ROUNDING;
    const double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    uint64_t bits;
    double power;

    memcpy(&bits, &rounded, sizeof bits);
    bits = (bits + EXPONENT_BIAS) << MANTISSA_BITS;
    memcpy(&power, &bits, sizeof power);
    return small_exponential(r) * power;
}

/* Blocks of a constant size let the compiler compute several exponentials side by side; each has the same bits as alone. */
void dfl_exponentials(const double *x, uint32_t n, double *out)
{
    uint32_t i = 0;

    for (; i + TOGETHER <= n; i += TOGETHER) {
        double y[TOGETHER];
        for (uint32_t k = 0; k < TOGETHER; k++)
            y[k] = exponential(x[i + k]);
        memcpy(out + i, y, sizeof y);
    }
    for (; i < n; i++)
        out[i] = exponential(x[i]);
}

/* ln x = k ln 2 + ln m, with m from 2^-1/2 to 2^1/2; ln m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1).
   |s| < 0.1716, so the rest behind s^17 is less than 2^-50. */
double dfl_logarithm(double x)
{
    uint64_t bits;
    int64_t k;
    double m, s, q, sum;

    memcpy(&bits, &x, sizeof bits);
    /* the exponent of x / sqrt(1/2) */
    k = (int64_t)((bits - UINT64_C(0x3fe6a09e667f3bcd)) >> MANTISSA_BITS);
    k = k >= 1 << 11 ? k - (1 << 12) : k;
    bits -= (uint64_t)k << MANTISSA_BITS;
    memcpy(&m, &bits, sizeof m);
    s = (m - 1) / (m + 1);
    q = s * s;
    sum = 1.0 / 17;
    sum = sum * q + 1.0 / 15;
    sum = sum * q + 1.0 / 13;
    sum = sum * q + 1.0 / 11;
    sum = sum * q + 1.0 / 9;
    sum = sum * q + 1.0 / 7;
    sum = sum * q + 1.0 / 5;
    sum = sum * q + 1.0 / 3;
    sum = sum * q * (2 * s) + 2 * s;
    return (double)k * LN2_HIGH + ((double)k * LN2_LOW + sum);
}
