/* UTF-8 text: validation, decoding and the columns it takes on a terminal. The only user of utf8proc. */
#ifndef DFL_SUPPORT_UTF8_H
#define DFL_SUPPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The code point at `text`. Returns its length in bytes, 1 to 4; for bytes that are not valid UTF-8 it returns 1 and
 * sets U+FFFD. `len` must not be 0.
 */
size_t dfl_utf8_decode(const char *text, size_t len, uint32_t *point);
/* Offset of the first byte that is not valid UTF-8, or `len`. Surrogates and overlong forms are invalid. */
size_t dfl_utf8_check(const char *text, size_t len);
/* Columns of one code point: 0 for combining marks, 2 for wide ones; 1 for what cannot be printed. */
unsigned dfl_utf8_point_width(uint32_t point);
/* Columns of a text without tabs. */
size_t dfl_utf8_width(const char *text, size_t len);
/* False for control characters, and for the marks that reorder text on screen. */
bool dfl_utf8_printable(uint32_t point);
/* UTF-16 code units of a valid text: the columns that SARIF and editors count. */
size_t dfl_utf8_utf16_length(const char *text, size_t len);

#endif
