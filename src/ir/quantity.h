/*
 * Values with a dimension. A value is an exact integer of 128 bits as long as it is one, else a double; either way
 * it counts base units: bits, seconds, operations (1 MAC = 2), joules, USD, square metres, grams of CO2e, cycles.
 * A dimension is a product of powers of those. Frequencies are cycles per second, so that a rate per cycle times a
 * clock is a rate per second. Units are listed in grammar/units.def.
 */
#ifndef DFL_IR_QUANTITY_H
#define DFL_IR_QUANTITY_H

#include "support/checked.h"
#include "support/strbuf.h"

typedef enum {
    DFL_BASE_DATA, DFL_BASE_TIME, DFL_BASE_OPS, DFL_BASE_ENERGY,
    DFL_BASE_MONEY, DFL_BASE_AREA, DFL_BASE_CARBON, DFL_BASE_CYCLE,
    DFL_N_BASES
} dfl_base;

typedef struct { int8_t power[DFL_N_BASES]; } dfl_dim;

typedef struct {
    dfl_i128 integer; /* meaningful if `exact` */
    double real;      /* always meaningful */
    dfl_dim dim;
    bool exact;
} dfl_quantity;

typedef enum {
    DFL_ARITH_OK,
    DFL_ARITH_OVERFLOW,     /* beyond 128 bits, a double, or a power of a dimension */
    DFL_ARITH_DIMENSION,    /* operands of different dimensions */
    DFL_ARITH_ZERO,         /* division by zero */
    DFL_ARITH_INEXACT,      /* integer / integer with a rest and no dimension left */
    DFL_ARITH_DOMAIN,       /* logarithm of zero, root of a negative number, odd root of a dimension, ... */
} dfl_arith;

typedef enum { DFL_LITERAL_OK, DFL_LITERAL_MALFORMED, DFL_LITERAL_UNIT, DFL_LITERAL_RANGE } dfl_literal;

#define DFL_DIM_NONE ((dfl_dim){ { 0 } })

bool dfl_dim_equal(dfl_dim a, dfl_dim b);
bool dfl_dim_is_none(dfl_dim dim);
/* The dimension of one base unit, or of a quotient like data / time. */
dfl_dim dfl_dim_of(dfl_base over);
dfl_dim dfl_dim_ratio(dfl_base over, dfl_base under);
/* a * b^sign, sign = 1 or -1; false when a power does not fit. */
bool dfl_dim_product(dfl_dim a, dfl_dim b, int sign, dfl_dim *out);

dfl_quantity dfl_quantity_int(dfl_i128 value);
dfl_quantity dfl_quantity_real(double value, dfl_dim dim);

/* A literal with its unit: "1_024", "2e9", "1.5TB/s", "85%". `unit_at` (may be NULL) gets the offset of the unit. */
dfl_literal dfl_quantity_parse(const char *text, size_t len, dfl_quantity *out, size_t *unit_at);
/* A unit alone, "GB/s", as a quantity of that many base units. */
dfl_literal dfl_unit_parse(const char *text, size_t len, dfl_quantity *out);

dfl_arith dfl_quantity_add(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sub(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_mul(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_div(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* floor(a / b) and ceil(a / b) of exact integers without loss; of others by the quotient of doubles. */
dfl_arith dfl_quantity_div_round(dfl_quantity a, dfl_quantity b, bool up, dfl_quantity *out);
dfl_arith dfl_quantity_mod(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
/* Integer powers of integers are exact or overflow. */
dfl_arith dfl_quantity_pow(dfl_quantity a, dfl_quantity b, dfl_quantity *out);
dfl_arith dfl_quantity_sqrt(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_log2(dfl_quantity a, dfl_quantity *out);
dfl_arith dfl_quantity_round(dfl_quantity a, bool up, dfl_quantity *out);
/* -1, 0 or 1 in *order. */
dfl_arith dfl_quantity_compare(dfl_quantity a, dfl_quantity b, int *order);

/* "data/time", "number"; the value in readable units, "40GB/s". */
void dfl_dim_print(dfl_strbuf *out, dfl_dim dim);
void dfl_quantity_print(dfl_strbuf *out, dfl_quantity value);
/* The value as an expression of the language that gives exactly the same value again: `8589934592bit`, `7e-12J/bit`. */
void dfl_quantity_write(dfl_strbuf *out, dfl_quantity value);

#endif
