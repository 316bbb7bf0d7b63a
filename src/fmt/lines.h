/*
 * The lines of a formatted text, with comments behind them kept apart until the end, when those of neighbouring lines
 * are put in one column.
 */
#ifndef DFL_FMT_LINES_H
#define DFL_FMT_LINES_H

#include <stdint.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef struct {
    const char *code;    /* with its indentation; empty for a blank line */
    const char *comment; /* behind the code, or NULL */
    uint32_t len, comment_len;
    uint32_t width, comment_width; /* columns; a comment over several lines never fits */
} dfl_fmt_line;

typedef struct {
    dfl_arena *arena;
    DFL_VEC(dfl_fmt_line) line;
} dfl_fmt_lines;

void dfl_fmt_lines_add(dfl_fmt_lines *lines, const char *code, size_t len);
/* A blank line, unless there is nothing above or a blank line already. */
void dfl_fmt_lines_blank(dfl_fmt_lines *lines);
/* Puts a comment behind the last line, which must exist. */
void dfl_fmt_lines_comment(dfl_fmt_lines *lines, const char *text, size_t len);
void dfl_fmt_lines_print(const dfl_fmt_lines *lines, dfl_strbuf *out);
/* Columns of a text: its code points up to the first line end. */
uint32_t dfl_fmt_width(const char *text, size_t len);

#endif
