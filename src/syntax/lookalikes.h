/* Characters outside of ASCII that look like a token of DFL: quotes, dashes, signs and blanks of word processors, and full-width
   forms. */
#ifndef DFL_SYNTAX_LOOKALIKES_H
#define DFL_SYNTAX_LOOKALIKES_H

#include <stddef.h>
#include <stdint.h>

/* ASCII text that the character looks like; a blank for blanks, "" for a character without width, NULL if it is none of them. */
const char *dfl_lookalike(uint32_t character);
/* Decodes the first character of `text`, which is valid UTF-8 of at least one byte. `*len`: its number of bytes. */
uint32_t dfl_lookalike_decode(const char *text, size_t *len);

#endif
