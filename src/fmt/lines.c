/* Lines and the column of their comments. */
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

void dfl_fmt_lines_add(dfl_fmt_lines *lines, const char *code, size_t len)
{
    dfl_fmt_line line = { .code = dfl_arena_copy(lines->arena, code, len), .len = (uint32_t)len };

    line.width = dfl_fmt_width(code, len);
    DFL_PUSH(lines->arena, &lines->line, line);
}

void dfl_fmt_lines_blank(dfl_fmt_lines *lines)
{
    if (lines->line.n > 0 && lines->line.at[lines->line.n - 1].len > 0)
        dfl_fmt_lines_add(lines, "", 0);
}

void dfl_fmt_lines_comment(dfl_fmt_lines *lines, const char *text, size_t len)
{
    dfl_fmt_line *line = &lines->line.at[lines->line.n - 1];

    if (line->comment != NULL) { /* a second one behind the first */
        line->comment = dfl_arena_printf(lines->arena, "%.*s %.*s", (int)line->comment_len, line->comment, (int)len, text);
        line->comment_len += (uint32_t)len + 1;
    } else {
        line->comment = text;
        line->comment_len = (uint32_t)len;
    }
    line->comment_width = memchr(line->comment, '\n', line->comment_len) != NULL
                              ? DFL_FMT_WIDTH
                              : dfl_fmt_width(line->comment, line->comment_len);
}

/* Lines from `first` that have a comment each; their common column goes to *column, 0 when they do not fit one. */
static size_t run_of_comments(const dfl_fmt_lines *lines, size_t first, uint32_t *column)
{
    size_t end = first;
    uint32_t widest = 0;

    for (; end < lines->line.n && lines->line.at[end].comment != NULL; end++)
        if (lines->line.at[end].width > widest)
            widest = lines->line.at[end].width;
    *column = widest + 2;
    for (size_t i = first; i < end; i++)
        if (*column + lines->line.at[i].comment_width > DFL_FMT_WIDTH)
            *column = 0;
    return end;
}

/* A comment, with line ends of one sort. */
static void print_comment(const dfl_fmt_line *line, dfl_strbuf *out)
{
    for (uint32_t i = 0; i < line->comment_len; i++)
        if (line->comment[i] != '\r' || i + 1 == line->comment_len || line->comment[i + 1] != '\n')
            dfl_strbuf_char(out, line->comment[i]);
}

static void print_line(const dfl_fmt_line *line, uint32_t column, dfl_strbuf *out)
{
    dfl_strbuf_add(out, line->code, line->len);
    if (line->comment != NULL) {
        uint32_t at = line->width;

        do
            dfl_strbuf_char(out, ' ');
        while (++at < column || at < line->width + 2);
        print_comment(line, out);
    }
    dfl_strbuf_char(out, '\n');
}

void dfl_fmt_lines_print(const dfl_fmt_lines *lines, dfl_strbuf *out)
{
    for (size_t i = 0; i < lines->line.n;) {
        uint32_t column;
        size_t end = run_of_comments(lines, i, &column);

        for (; i < end; i++)
            print_line(&lines->line.at[i], column, out);
        if (i < lines->line.n)
            print_line(&lines->line.at[i++], 0, out);
    }
}
