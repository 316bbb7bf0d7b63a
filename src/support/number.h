/* Doubles as decimal text, the same on every machine and in every locale. */
#ifndef DFL_SUPPORT_NUMBER_H
#define DFL_SUPPORT_NUMBER_H

#include <stddef.h>

/*
 * Writes the fewest significant digits that read back as `value`: "0.1", "1e+300", "-2"; "inf", "-inf", "nan".
 * Returns the length without the NUL.
 */
size_t dfl_double_text(double value, char out[32]);
/* Writes `digits` significant digits (1 to 17) without trailing zeros, for tables that people read. Returns the length. */
size_t dfl_double_text_short(double value, int digits, char out[32]);

#endif
