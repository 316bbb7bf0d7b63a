#include "fmt/gap.h"

#include <string.h>

dfl_fmt_input dfl_fmt_input_of(dfl_arena *arena, const dfl_syntax *syntax)
{
    dfl_fmt_input in = { .source = syntax->source, .file = syntax->file };

    in.tokens = dfl_syntax_tokens(arena, syntax->source, &in.n_tokens);
    return in;
}

dfl_gap dfl_gap_before(const dfl_fmt_input *in, uint32_t i)
{
    const char *text = in->source->text;
    uint32_t base = in->source->base;
    size_t from = i == 0 ? 0 : in->tokens[i - 1].span.end - base;
    size_t to = in->tokens[i].span.start - base;

    return (dfl_gap){ .at = text + from, .end = text + to };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\n';
}

/* The position after the comment at `at`. The lexer has checked that block comments are closed. */
static const char *find_comment_end(const char *at, const char *end, bool line)
{
    for (const char *c = at + 2; c < end; c++) {
        if (line && *c == '\n')
            return c;
        if (!line && c + 1 < end && c[0] == '*' && c[1] == '/')
            return c + 2;
    }
    return end;
}

bool dfl_gap_next(dfl_gap *gap)
{
    const char *end;

    for (gap->newlines = 0; gap->at < gap->end && (is_blank(*gap->at) || *gap->at != '/'); gap->at++)
        gap->newlines += *gap->at == '\n';
    if (gap->at >= gap->end)
        return false;
    gap->line = gap->at + 1 < gap->end && gap->at[1] == '/';
    end = find_comment_end(gap->at, gap->end, gap->line);
    gap->text = gap->at;
    gap->len = (size_t)(end - gap->at);
    gap->at = end;
    while (gap->line && gap->len > 0 && is_blank(gap->text[gap->len - 1]))
        gap->len--;
    gap->lines = memchr(gap->text, '\n', gap->len) != NULL;
    return true;
}

bool dfl_gap_is_empty(const dfl_gap *gap)
{
    return gap->at == gap->end;
}

bool dfl_gap_is_one_line(const dfl_gap *gap)
{
    return gap->at == gap->end || memchr(gap->at, '\n', (size_t)(gap->end - gap->at)) == NULL;
}

bool dfl_gap_has_comment(const dfl_gap *gap)
{
    dfl_gap copy = *gap;

    return dfl_gap_next(&copy);
}
