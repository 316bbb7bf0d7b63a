/*
 * The lines of a formatted text, with comments behind them kept apart until the end, when those of neighbouring lines
 * are put in one column. The code of all lines stands in one buffer, without indentation.
 */
#ifndef DFL_FMT_LINES_H
#define DFL_FMT_LINES_H

#include <stdint.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef struct {
    const char *text;
    size_t len;
} dfl_fmt_comment;

typedef struct {
    size_t code, len;         /* in `code` of the lines; empty for a blank line */
    size_t comments;          /* behind the code: the first in `comment` of the lines */
    uint32_t n_comments;
    uint32_t comment_width;   /* columns; comments over several lines never fit */
    uint32_t indent;
} dfl_fmt_line;

typedef struct {
    dfl_arena *arena;
    dfl_strbuf code;
    DFL_VEC(dfl_fmt_line) line;
    DFL_VEC(dfl_fmt_comment) comment;
} dfl_fmt_lines;

void dfl_fmt_lines_init(dfl_fmt_lines *lines, dfl_arena *arena);
/* Begins a line, which dfl_fmt_lines_put lengthens. */
void dfl_fmt_lines_begin(dfl_fmt_lines *lines, uint32_t indent);
void dfl_fmt_lines_put(dfl_fmt_lines *lines, const char *code, size_t len);
/* A blank line, unless there is nothing above or a blank line already. */
void dfl_fmt_lines_blank(dfl_fmt_lines *lines);
/* Puts a comment behind the last line, which must exist. `text` must outlive the lines. */
void dfl_fmt_lines_comment(dfl_fmt_lines *lines, const char *text, size_t len);
void dfl_fmt_lines_print(const dfl_fmt_lines *lines, dfl_strbuf *out);
/* Columns of a text: its code points up to the first line end. */
uint32_t dfl_fmt_width(const char *text, size_t len);

#endif
