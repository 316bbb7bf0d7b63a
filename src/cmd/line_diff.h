/* Line-by-line comparison of two texts. */
#ifndef DFL_CMD_LINE_DIFF_H
#define DFL_CMD_LINE_DIFF_H

#include <stdio.h>

/* Prints a unified diff with three lines of context; prints nothing if the texts are equal. */
void dfl_line_diff_print(FILE *out, const char *name, const char *before, const char *after);

#endif
