/*
 * The lines of a formatted text. Comments at line ends are stored apart from the code; printing aligns the comments of
 * adjacent lines in one column. One buffer stores the code of all lines, without indentation.
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
    size_t code, len;         /* offset and length in `code` of the lines; length 0: a blank line */
    size_t comments;          /* index in `comment` of the lines: the first comment after the code */
    uint32_t n_comments;
    uint32_t comment_width;   /* width of the comments with a blank between two, columns; DFL_FMT_WIDTH if a comment has several
                                 lines */
    uint32_t indent;
} dfl_fmt_line;

typedef struct {
    dfl_arena *arena;
    dfl_strbuf code;
    DFL_VEC(dfl_fmt_line) line;
    DFL_VEC(dfl_fmt_comment) comment;
} dfl_fmt_lines;

void dfl_fmt_lines_init(dfl_fmt_lines *lines, dfl_arena *arena);
/* Begins a line with the given indentation; adds code to the last line. */
void dfl_fmt_lines_begin(dfl_fmt_lines *lines, uint32_t indent);
void dfl_fmt_lines_put(dfl_fmt_lines *lines, const char *code, size_t len);
/* Adds a blank line, unless it would be the first line or follow a blank one. */
void dfl_fmt_lines_blank(dfl_fmt_lines *lines);
/* Adds a comment behind the last line, which must exist. `text` must outlive the lines. */
void dfl_fmt_lines_comment(dfl_fmt_lines *lines, const char *text, size_t len);
void dfl_fmt_lines_print(const dfl_fmt_lines *lines, dfl_strbuf *out);
/* The columns of a text: its code points up to the first line end. */
uint32_t dfl_fmt_width(const char *text, size_t len);

#endif
