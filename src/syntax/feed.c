#include "syntax/feed.h"

#include <string.h>

static const char *text_at(const dfl_source *source, uint32_t position)
{
    return source->text + (position - source->base);
}

void dfl_feed_open(dfl_feed *f, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source)
{
    dfl_span start = { source->base, source->base };

    *f = (dfl_feed){ .now = { .span = start }, .statement = { .kind = DFL_TOK_END } };
    dfl_lexer_open(&f->lexer, arena, names, sink, source);
    f->next = dfl_lexer_next(&f->lexer);
}

static void pop(dfl_feed *f)
{
    f->n_braces -= f->open.at[--f->open.n].kind == '{';
}

static uint16_t opener_of(uint16_t closer)
{
    return closer == ')' ? '(' : closer == ']' ? '[' : '{';
}

/* Closes the innermost `opener` and all brackets inside of it. Does nothing if no such bracket is open. */
static void close_bracket(dfl_feed *f, uint16_t opener)
{
    size_t n = f->open.n;

    while (n > 0 && f->open.at[n - 1].kind != opener && (opener == '{' || f->open.at[n - 1].kind != '{'))
        n--;
    if (n == 0 || f->open.at[n - 1].kind != opener)
        return;
    while (f->open.n >= n)
        pop(f);
}

void dfl_feed_bracket(dfl_feed *f)
{
    switch (f->now.kind) {
    case '{':
        f->n_braces++;
        f->in_set = f->before.kind == DFL_TOK_IN;
        if (!f->in_set)
            f->statement.kind = DFL_TOK_END;
        DFL_PUSH(f->lexer.arena, &f->open, f->now);
        break;
    case '(':
    case '[':
        DFL_PUSH(f->lexer.arena, &f->open, f->now);
        break;
    case ')':
    case ']':
        close_bracket(f, opener_of(f->now.kind));
        break;
    case '}':
        close_bracket(f, '{');
        if (!f->in_set)
            f->statement.kind = DFL_TOK_END;
        f->in_set = false;
        break;
    case ';':
        while (f->open.n > 0 && f->open.at[f->open.n - 1].kind != '{')
            pop(f);
        f->statement.kind = DFL_TOK_END;
        f->in_set = false;
        break;
    default:
        break;
    }
}

void dfl_feed_skip_braces(dfl_feed *f)
{
    uint32_t depth = 1;

    while (depth > 0 && f->next.kind != DFL_TOK_END) {
        dfl_feed_step(f);
        depth += f->now.kind == '{';
        depth -= f->now.kind == '}';
    }
}

bool dfl_feed_starts_late_line(const dfl_feed *f)
{
    uint32_t from = f->before.span.end;

    return memchr(text_at(f->lexer.source, from), '\n', f->now.span.start - from) != NULL;
}

bool dfl_feed_starts_column(const dfl_feed *f)
{
    return f->now.span.start > f->lexer.source->base && text_at(f->lexer.source, f->now.span.start)[-1] == '\n';
}

const char *dfl_feed_shown(dfl_arena *arena, const dfl_source *source, const dfl_token *token)
{
    enum { MOST = 24 }; /* longest quote (in bytes), so that a message fits one line */
    uint32_t len = token->span.end - token->span.start;
    const char *text = text_at(source, token->span.start);

    if (token->kind == DFL_TOK_END)
        return "the end of the file";
    if (len <= MOST)
        return dfl_arena_printf(arena, "`%.*s`", (int)len, text);
    len = MOST - 3;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) /* do not cut within a UTF-8 sequence */
        len--;
    return dfl_arena_printf(arena, "`%.*s...`", (int)len, text);
}
