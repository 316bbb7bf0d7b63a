/* The difference of two texts, line by line. */
#ifndef DFL_CMD_LINE_DIFF_H
#define DFL_CMD_LINE_DIFF_H

#include <stdio.h>

/* A unified diff with three lines of context; nothing when the texts are equal. */
void dfl_line_diff_print(FILE *out, const char *name, const char *before, const char *after);

#endif
