/*
 * Values with a dimension. A value is an exact integer of 128 bits as long as it is one, else a double. Both count base
 * units. A dimension is a product of integer powers of the bases:
 *
 *   DATA     bit
 *   TIME     second (s)
 *   OPS      operation; a FLOP is one, a MAC (multiply and accumulate) is two
 *   ENERGY   joule (J); a watt is J/s
 *   MONEY    US dollar
 *   AREA     square metre
 *   CARBON   gram of CO2 equivalent
 *   CYCLE    cycle of a clock; a frequency is cycle/s, so a rate per cycle times a clock is a rate per second
 *
 * Joule, watt, second and metre are those of the SI; the energy of ENERGY is a base here, not kg m2/s2.
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
    dfl_i128 integer; /* the value if `exact`, else without meaning */
    double real;      /* the value, or the nearest double of an exact one */
    dfl_dim dim;
    bool exact;
} dfl_quantity;

typedef enum {
    DFL_ARITH_OK,
    DFL_ARITH_OVERFLOW,     /* beyond 128 bits, a double, or a power of a dimension */
    DFL_ARITH_DIMENSION,    /* operands of different dimensions */
    DFL_ARITH_ZERO,         /* division by zero */
    DFL_ARITH_INEXACT,      /* integer / integer with a remainder and no dimension left */
    DFL_ARITH_DOMAIN,       /* logarithm of zero, root of a negative number, odd root of a dimension, ... */
} dfl_arith;

#define DFL_DIM_NONE ((dfl_dim){ { 0 } })

bool dfl_dim_equal(dfl_dim a, dfl_dim b);
bool dfl_dim_is_none(dfl_dim dim);
/* The dimension of one base, and of a quotient of two: data / time. */
dfl_dim dfl_dim_of(dfl_base over);
dfl_dim dfl_dim_ratio(dfl_base over, dfl_base under);
/* a * b^sign, sign = 1 or -1; false if a power does not fit. */
bool dfl_dim_product(dfl_dim a, dfl_dim b, int sign, dfl_dim *out);

dfl_quantity dfl_quantity_int(dfl_i128 value);
dfl_quantity dfl_quantity_real(double value, dfl_dim dim);

/* Arithmetic. The result is exact if both operands are and the operation has an integer result. `*out` has a meaning
   only after DFL_ARITH_OK. */
dfl_arith dfl_quantity_add(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sub(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_mul(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_div(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* floor(a / b), or ceil(a / b) for `up`: of exact integers without loss, of others by the quotient of doubles. */
dfl_arith dfl_quantity_div_round(dfl_quantity a, dfl_quantity b, bool up, dfl_quantity *out);
/* a - b * floor(a / b), with the sign of b. */
dfl_arith dfl_quantity_mod(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* Integer powers of integers are exact or overflow. */
dfl_arith dfl_quantity_pow(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sqrt(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_log2(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_round(dfl_quantity a, bool up, dfl_quantity *out);
/* Sets *order to -1, 0 or 1. */
dfl_arith dfl_quantity_compare(dfl_quantity a, dfl_quantity b, int *order);

#endif
