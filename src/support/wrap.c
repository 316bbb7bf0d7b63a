#include "support/wrap.h"

#include <stdbool.h>

size_t dfl_word_length(const char *words)
{
    size_t len = 0;

    for (bool quoted = false; words[len] != '\0' && (quoted || words[len] != ' '); len++)
        quoted ^= words[len] == '`';
    return len;
}

void dfl_wrap(char *text, size_t first, size_t indent, size_t width)
{
    size_t column = first;
    char *blank = NULL; /* before the word at `text` on this line */

    while (*text != '\0') {
        const size_t len = dfl_word_length(text);

        if (blank && column + len > width) {
            *blank = '\n';
            column = indent;
        }
        for (size_t i = 0; i < len; i++)
            column = text[i] == '\n' ? indent : column + 1;
        text += len;
        blank = *text == ' ' ? text : NULL;
        column += blank != NULL;
        text += blank != NULL;
    }
}
