/* Text as lines of limited width. */
#ifndef DFL_SUPPORT_WRAP_H
#define DFL_SUPPORT_WRAP_H

#include <stddef.h>

/* The length of the first word of a text (in bytes). A blank between backticks does not end a word. */
size_t dfl_word_length(const char *words);

/* Replaces blanks between words by line ends, so that no line is wider than `width` columns unless one word is. `first`: columns
   before the text on its first line; `indent`: columns before the other lines. A line end of the text stays. */
void dfl_wrap(char *text, size_t first, size_t indent, size_t width);

#endif
