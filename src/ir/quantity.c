#include "ir/quantity.h"

#include <math.h>
#include <string.h>

bool dfl_dim_equal(dfl_dim a, dfl_dim b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

bool dfl_dim_is_none(dfl_dim dim)
{
    return dfl_dim_equal(dim, DFL_DIM_NONE);
}

dfl_dim dfl_dim_of(dfl_base over)
{
    dfl_dim dim = DFL_DIM_NONE;

    dim.power[over] = 1;
    return dim;
}

dfl_dim dfl_dim_ratio(dfl_base over, dfl_base under)
{
    dfl_dim dim = dfl_dim_of(over);

    dim.power[under] = (int8_t)(dim.power[under] - 1);
    return dim;
}

bool dfl_dim_product(dfl_dim a, dfl_dim b, int sign, dfl_dim *out)
{
    bool fits = true;

    for (int i = 0; i < DFL_N_BASES; i++) {
        int power = a.power[i] + sign * b.power[i];

        fits = fits && power >= -100 && power <= 100;
        out->power[i] = (int8_t)(fits ? power : 0);
    }
    return fits;
}

dfl_quantity dfl_quantity_int(dfl_i128 value)
{
    return (dfl_quantity){ .integer = value, .real = dfl_i128_double(value), .exact = true };
}

dfl_quantity dfl_quantity_real(double value, dfl_dim dim)
{
    return (dfl_quantity){ .real = value, .dim = dim };
}

static dfl_arith exact(dfl_i128 value, dfl_dim dim, dfl_quantity *out)
{
    *out = dfl_quantity_int(value);
    out->dim = dim;
    return DFL_ARITH_OK;
}

static dfl_arith real(double value, dfl_dim dim, dfl_quantity *out)
{
    *out = dfl_quantity_real(value, dim);
    return isfinite(value) ? DFL_ARITH_OK : DFL_ARITH_OVERFLOW;
}

dfl_arith dfl_quantity_add(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_i128 sum;

    if (!dfl_dim_equal(a.dim, b.dim))
        return DFL_ARITH_DIMENSION;
    if (!a.exact || !b.exact)
        return real(a.real + b.real, a.dim, out);
    return dfl_add(a.integer, b.integer, &sum) ? DFL_ARITH_OVERFLOW : exact(sum, a.dim, out);
}

dfl_arith dfl_quantity_sub(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_i128 rest;

    if (!dfl_dim_equal(a.dim, b.dim))
        return DFL_ARITH_DIMENSION;
    if (!a.exact || !b.exact)
        return real(a.real - b.real, a.dim, out);
    return dfl_sub(a.integer, b.integer, &rest) ? DFL_ARITH_OVERFLOW : exact(rest, a.dim, out);
}

dfl_arith dfl_quantity_mul(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_i128 product;
    dfl_dim dim;

    if (!dfl_dim_product(a.dim, b.dim, 1, &dim))
        return DFL_ARITH_OVERFLOW;
    if (!a.exact || !b.exact)
        return real(a.real * b.real, dim, out);
    return dfl_mul(a.integer, b.integer, &product) ? DFL_ARITH_OVERFLOW : exact(product, dim, out);
}

/* Divides 128-bit integers, truncating; false on overflow (the smallest integer divided by -1). */
static bool divides(dfl_i128 a, dfl_i128 b, dfl_i128 *quotient, dfl_i128 *rest)
{
    dfl_i128 negated;

    *rest = 0;
    if (b == -1)
        return !dfl_sub(0, a, quotient);
    negated = a / b;
    *quotient = negated;
    *rest = a % b;
    return true;
}

dfl_arith dfl_quantity_div(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_i128 quotient, rest;
    dfl_dim dim;

    if (!dfl_dim_product(a.dim, b.dim, -1, &dim))
        return DFL_ARITH_OVERFLOW;
    if (b.exact ? b.integer == 0 : b.real == 0)
        return DFL_ARITH_ZERO;
    if (!a.exact || !b.exact)
        return real(a.real / b.real, dim, out);
    if (!divides(a.integer, b.integer, &quotient, &rest))
        return DFL_ARITH_OVERFLOW;
    if (rest == 0)
        return exact(quotient, dim, out);
    return dfl_dim_is_none(dim) ? DFL_ARITH_INEXACT : real(a.real / b.real, dim, out);
}

dfl_arith dfl_quantity_div_round(dfl_quantity a, dfl_quantity b, bool up, dfl_quantity *out)
{
    dfl_i128 quotient, rest;
    dfl_quantity ratio;
    dfl_dim dim;

    if (!a.exact || !b.exact || b.integer == 0) {
        dfl_arith status = dfl_quantity_div(a, b, &ratio);

        return status == DFL_ARITH_OK ? dfl_quantity_round(ratio, up, out) : status;
    }
    if (!dfl_dim_product(a.dim, b.dim, -1, &dim) || !divides(a.integer, b.integer, &quotient, &rest))
        return DFL_ARITH_OVERFLOW;
    if (rest != 0 && up && (rest > 0) == (b.integer > 0))
        quotient++;
    if (rest != 0 && !up && (rest > 0) != (b.integer > 0))
        quotient--;
    return exact(quotient, dim, out);
}

dfl_arith dfl_quantity_mod(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_i128 quotient, rest;

    if (!dfl_dim_equal(a.dim, b.dim))
        return DFL_ARITH_DIMENSION;
    if (b.exact ? b.integer == 0 : b.real == 0)
        return DFL_ARITH_ZERO;
    if (!a.exact || !b.exact)
        return real(a.real - b.real * floor(a.real / b.real), a.dim, out);
    if (!divides(a.integer, b.integer, &quotient, &rest))
        return exact(0, a.dim, out);
    if (rest != 0 && (rest > 0) != (b.integer > 0))
        rest += b.integer;
    return exact(rest, a.dim, out);
}

static dfl_arith integer_power(dfl_i128 base, dfl_i128 exponent, dfl_i128 *out)
{
    *out = 1;
    if (base == 0 || base == 1)
        *out = exponent == 0 ? 1 : base;
    else if (base == -1)
        *out = exponent % 2 == 0 ? 1 : -1;
    else
        for (; exponent > 0; exponent--)
            if (dfl_mul(*out, base, out))
                return DFL_ARITH_OVERFLOW;
    return DFL_ARITH_OK;
}

dfl_arith dfl_quantity_pow(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    dfl_dim dim = DFL_DIM_NONE;
    dfl_i128 power;
    double value;

    if (!dfl_dim_is_none(b.dim))
        return DFL_ARITH_DIMENSION;
    if (!dfl_dim_is_none(a.dim) && (!b.exact || b.integer > 100 || b.integer < -100))
        return DFL_ARITH_DOMAIN;
    for (int i = 0; i < DFL_N_BASES && !dfl_dim_is_none(a.dim); i++) {
        dfl_i128 scaled = a.dim.power[i] * b.integer;

        if (scaled > 100 || scaled < -100)
            return DFL_ARITH_OVERFLOW;
        dim.power[i] = (int8_t)scaled;
    }
    if (a.exact && b.exact && b.integer >= 0)
        return integer_power(a.integer, b.integer, &power) == DFL_ARITH_OK ? exact(power, dim, out) : DFL_ARITH_OVERFLOW;
    if (a.real == 0 && b.real < 0)
        return DFL_ARITH_ZERO;
    value = pow(a.real, b.real);
    return isnan(value) ? DFL_ARITH_DOMAIN : real(value, dim, out);
}

dfl_arith dfl_quantity_sqrt(dfl_quantity a, dfl_quantity *out)
{
    dfl_dim dim = DFL_DIM_NONE;
    double root;

    if (a.real < 0)
        return DFL_ARITH_DOMAIN;
    for (int i = 0; i < DFL_N_BASES; i++) {
        if (a.dim.power[i] % 2 != 0)
            return DFL_ARITH_DOMAIN;
        dim.power[i] = (int8_t)(a.dim.power[i] / 2);
    }
    root = sqrt(a.real);
    if (a.exact && root < 0x1p62) {
        dfl_i128 near = (dfl_i128)root;

        for (dfl_i128 r = near > 0 ? near - 1 : 0; r <= near + 1; r++)
            if (r * r == a.integer)
                return exact(r, dim, out);
    }
    return real(root, dim, out);
}

dfl_arith dfl_quantity_log2(dfl_quantity a, dfl_quantity *out)
{
    if (!dfl_dim_is_none(a.dim))
        return DFL_ARITH_DIMENSION;
    if (a.real <= 0)
        return DFL_ARITH_DOMAIN;
    for (int i = 0; a.exact && i < 127; i++)
        if (a.integer == (dfl_i128)1 << i)
            return exact(i, a.dim, out);
    return real(log2(a.real), a.dim, out);
}

dfl_arith dfl_quantity_round(dfl_quantity a, bool up, dfl_quantity *out)
{
    double value = up ? ceil(a.real) : floor(a.real);

    *out = a;
    if (a.exact)
        return DFL_ARITH_OK;
    if (!(value > -0x1p126 && value < 0x1p126))
        return DFL_ARITH_OVERFLOW;
    return exact((dfl_i128)value, a.dim, out);
}

dfl_arith dfl_quantity_compare(dfl_quantity a, dfl_quantity b, int *order)
{
    *order = 0;
    if (!dfl_dim_equal(a.dim, b.dim))
        return DFL_ARITH_DIMENSION;
    if (a.exact && b.exact)
        *order = (a.integer > b.integer) - (a.integer < b.integer);
    else
        *order = (a.real > b.real) - (a.real < b.real);
    return DFL_ARITH_OK;
}
