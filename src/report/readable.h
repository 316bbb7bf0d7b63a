/*
 * Numbers in readable form: four significant digits and a prefix that suits the size. "9.437 ms", "812 KiB", "16.78M". A count
 * below 100000 is printed in full.
 */
#ifndef DFL_REPORT_READABLE_H
#define DFL_REPORT_READABLE_H

#include "ir/quantity.h"

enum { DFL_UNIT_TEXT = 48 }; /* buffer size of a number with its unit (in bytes) */

/* Writes `value` in `unit` with a decimal prefix: 0.0094 and "s" give "9.4 ms". */
void dfl_human(double value, const char *unit, char out[DFL_UNIT_TEXT]);
/* Writes a number of bits in bytes: with a decimal prefix if that is exact ("16 GB"), else with a binary prefix ("812
   KiB"). Sizes below 1024 bytes that are not whole bytes stay in bits. */
void dfl_human_bits(dfl_i128 bits, char out[DFL_UNIT_TEXT]);
/* Writes a count without a unit: "65536", "16.78M". */
void dfl_human_count(dfl_i128 count, char out[DFL_UNIT_TEXT]);
/* Writes all digits of a count, with a blank between groups of three digits: "9 437 184". */
void dfl_human_exact(dfl_i128 count, char out[DFL_UNIT_TEXT + 16]);
/* Writes a value in SI units with its unit: "9.4 ms", "64 KiB", "2.41 uJ*s". */
void dfl_human_quantity(double value, dfl_dim dim, char out[DFL_UNIT_TEXT]);
/* Writes a share of a whole in percent: "88.9 %"; "-" if the whole is not positive. */
void dfl_human_share(double part, double whole, char out[DFL_UNIT_TEXT]);

#endif
