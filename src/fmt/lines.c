#include "fmt/lines.h"

#include <string.h>

#include "fmt/fmt.h"

uint32_t dfl_fmt_width(const char *text, size_t len)
{
    uint32_t width = 0;

    for (size_t i = 0; i < len && text[i] != '\n'; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void dfl_fmt_lines_init(dfl_fmt_lines *lines, dfl_arena *arena)
{
    *lines = (dfl_fmt_lines){ .arena = arena };
    dfl_strbuf_init(&lines->code, arena);
}

void dfl_fmt_lines_begin(dfl_fmt_lines *lines, uint32_t indent)
{
    dfl_fmt_line line = { .code = lines->code.len, .indent = indent };

    DFL_PUSH(lines->arena, &lines->line, line);
}

void dfl_fmt_lines_put(dfl_fmt_lines *lines, const char *code, size_t len)
{
    dfl_strbuf_add(&lines->code, code, len);
    lines->line.at[lines->line.n - 1].len += len;
}

void dfl_fmt_lines_blank(dfl_fmt_lines *lines)
{
    if (lines->line.n > 0 && lines->line.at[lines->line.n - 1].len > 0)
        dfl_fmt_lines_begin(lines, 0);
}

void dfl_fmt_lines_comment(dfl_fmt_lines *lines, const char *text, size_t len)
{
    dfl_fmt_line *line = &lines->line.at[lines->line.n - 1];
    dfl_fmt_comment comment = { text, len };
    uint32_t width = memchr(text, '\n', len) != NULL ? DFL_FMT_WIDTH : dfl_fmt_width(text, len);

    if (line->n_comments++ == 0)
        line->comments = lines->comment.n;
    else
        width++; /* the blank between two comments */
    DFL_PUSH(lines->arena, &lines->comment, comment);
    line->comment_width = width < DFL_FMT_WIDTH - line->comment_width ? line->comment_width + width : DFL_FMT_WIDTH;
}

/* Width of the code of a line with its indentation, columns. */
static uint32_t line_width(const dfl_fmt_lines *lines, const dfl_fmt_line *line)
{
    return line->len == 0 ? 0 : line->indent + dfl_fmt_width(lines->code.text + line->code, line->len);
}

/* Finds the run of adjacent lines with comments that starts at line `first`; returns the index behind the run. *column is
   the common column of the comments, or 0 if a comment would exceed the line width there. */
static size_t find_comment_run(const dfl_fmt_lines *lines, size_t first, uint32_t *column)
{
    size_t end = first;
    uint32_t widest = 0;

    for (; end < lines->line.n && lines->line.at[end].n_comments > 0; end++) {
        uint32_t width = line_width(lines, &lines->line.at[end]);

        if (width > widest)
            widest = width;
    }
    *column = widest + 2;
    for (size_t i = first; i < end; i++)
        if (*column + lines->line.at[i].comment_width > DFL_FMT_WIDTH)
            *column = 0;
    return end;
}

static void print_blanks(uint32_t n, dfl_strbuf *out)
{
    static const char blanks[] = "                                ";

    for (; n >= sizeof blanks; n -= (uint32_t)sizeof blanks - 1)
        dfl_strbuf_add(out, blanks, sizeof blanks - 1);
    dfl_strbuf_add(out, blanks, n);
}

/* Prints a comment with LF for each CR LF. */
static void print_comment(const dfl_fmt_comment *comment, dfl_strbuf *out)
{
    for (size_t i = 0; i < comment->len; i++)
        if (comment->text[i] != '\r' || i + 1 == comment->len || comment->text[i + 1] != '\n')
            dfl_strbuf_char(out, comment->text[i]);
}

static void print_line(const dfl_fmt_lines *lines, const dfl_fmt_line *line, uint32_t column, dfl_strbuf *out)
{
    if (line->len > 0)
        print_blanks(line->indent, out);
    dfl_strbuf_add(out, lines->code.text + line->code, line->len);
    if (line->n_comments > 0) {
        uint32_t at = line_width(lines, line);

        print_blanks(column > at + 2 ? column - at : 2, out);
    }
    for (uint32_t i = 0; i < line->n_comments; i++) {
        if (i > 0)
            dfl_strbuf_char(out, ' ');
        print_comment(&lines->comment.at[line->comments + i], out);
    }
    dfl_strbuf_char(out, '\n');
}

void dfl_fmt_lines_print(const dfl_fmt_lines *lines, dfl_strbuf *out)
{
    for (size_t i = 0; i < lines->line.n;) {
        uint32_t column;
        size_t end = find_comment_run(lines, i, &column);

        for (; i < end; i++)
            print_line(lines, &lines->line.at[i], column, out);
        if (i < lines->line.n)
            print_line(lines, &lines->line.at[i++], 0, out);
    }
}
