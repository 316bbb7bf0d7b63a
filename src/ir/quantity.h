/*
 * Values with a dimension. A value is an exact integer of 128 bits if possible, else a double. Integers and doubles
 * count base units of the dimension. A dimension is a product of integer powers of the bases:
 *
 *   DATA     bit
 *   TIME     second (s)
 *   OPS      operation; a FLOP is one operation, a MAC (multiply and accumulate) two
 *   ENERGY   joule (J); a watt is J/s
 *   MONEY    US dollar
 *   AREA     square metre
 *   CARBON   gram of CO2 equivalent
 *   CYCLE    cycle of a clock; a frequency is cycle/s, so a rate per cycle times a clock is a rate per second
 *
 * Joule, watt, second and metre are SI units, but ENERGY is a base here, independent of kg m2/s2.
 */
#ifndef DFL_IR_QUANTITY_H
#define DFL_IR_QUANTITY_H

#include "support/checked.h"

typedef enum {
    DFL_BASE_DATA, DFL_BASE_TIME, DFL_BASE_OPS, DFL_BASE_ENERGY,
    DFL_BASE_MONEY, DFL_BASE_AREA, DFL_BASE_CARBON, DFL_BASE_CYCLE,
    DFL_N_BASES
} dfl_base;

/* The power of each base, from -100 to 100. */
typedef struct { int8_t power[DFL_N_BASES]; } dfl_dim;

typedef struct {
    dfl_i128 integer; /* the value if `exact`, else undefined */
    double real;      /* the value, or for an exact value the nearest double */
    dfl_dim dim;
    bool exact;
} dfl_quantity;

typedef enum {
    DFL_ARITH_OK,
    DFL_ARITH_OVERFLOW,     /* the result exceeds 128 bits, a double, or the powers of a dimension */
    DFL_ARITH_DIMENSION,    /* operands of different dimensions */
    DFL_ARITH_ZERO,         /* division by zero */
    DFL_ARITH_INEXACT,      /* division of integers without a dimension, with a remainder */
    DFL_ARITH_DOMAIN,       /* argument outside of the domain: logarithm of zero, root of a negative number, odd root of a
                               dimension, and similar */
} dfl_arith;

#define DFL_DIM_NONE ((dfl_dim){ { 0 } })

bool dfl_dim_equal(dfl_dim a, dfl_dim b);
bool dfl_dim_is_none(dfl_dim dim);
/* The dimension of one base; the dimension of a quotient of two bases, for example data / time. */
dfl_dim dfl_dim_of(dfl_base over);
dfl_dim dfl_dim_ratio(dfl_base over, dfl_base under);
/* a * b^sign, sign = 1 or -1; false if a power does not fit. */
bool dfl_dim_product(dfl_dim a, dfl_dim b, int sign, dfl_dim *out);

dfl_quantity dfl_quantity_int(dfl_i128 value);
dfl_quantity dfl_quantity_real(double value, dfl_dim dim);

/* Arithmetic on quantities. The result is exact if both operands are exact and the operation has an integer result.
   `*out` is defined only after DFL_ARITH_OK. */
dfl_arith dfl_quantity_add(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sub(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_mul(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_div(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* floor(a / b), or ceil(a / b) if `up`: exact for exact integers, else from the quotient of doubles. */
dfl_arith dfl_quantity_div_round(dfl_quantity a, dfl_quantity b, bool up, dfl_quantity *out);
/* a - b * floor(a / b), which has the sign of b. */
dfl_arith dfl_quantity_mod(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* Integer powers of integers are exact or overflow. */
dfl_arith dfl_quantity_pow(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sqrt(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_log2(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_round(dfl_quantity a, bool up, dfl_quantity *out);
/* Compares two quantities: sets *order to -1, 0 or 1. */
dfl_arith dfl_quantity_compare(dfl_quantity a, dfl_quantity b, int *order);

#endif
