/* UTF-8 text: validation, decoding, and its width on a terminal. No other room uses utf8proc. */
#ifndef DFL_SUPPORT_UTF8_H
#define DFL_SUPPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at `text` and returns its length, 1 to 4 bytes. An invalid sequence counts as one byte and
   gives U+FFFD. `len` must not be 0. */
size_t dfl_utf8_decode(const char *text, size_t len, uint32_t *point);
/* Offset of the first byte that is not valid UTF-8, or `len`. Surrogates and overlong forms are invalid. */
size_t dfl_utf8_check(const char *text, size_t len);
/* Columns of one code point: 0 for a combining mark, 2 for a wide character, 1 for one that cannot be printed. */
unsigned dfl_utf8_point_width(uint32_t point);
/* Columns of a text without tabs. */
size_t dfl_utf8_width(const char *text, size_t len);
/* False for control characters and for marks that hide or reorder text on screen. */
bool dfl_utf8_printable(uint32_t point);
/* UTF-16 code units of a valid text, the columns of SARIF and of editors. */
size_t dfl_utf8_utf16_length(const char *text, size_t len);

#endif
