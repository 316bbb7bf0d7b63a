#include "syntax/feed.h"

#include <string.h>

static const char *text_at(const dfl_source *source, uint32_t position)
{
    return source->text + (position - source->base);
}

void dfl_feed_open(dfl_feed *f, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source)
{
    dfl_span start = { source->base, source->base };

    *f = (dfl_feed){ .now = { .span = start }, .statement = { .kind = DFL_TOK_END }, .last = { .kind = DFL_TOK_END } };
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

uint32_t dfl_feed_indent(const dfl_feed *f, const dfl_token *token)
{
    const dfl_source *source = f->lexer.source;
    uint32_t start = token->span.start - source->base, at;

    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    for (at = start; source->text[at] == ' ' || source->text[at] == '\t';)
        at++;
    return at - start;
}

uint32_t dfl_feed_count_deeper(const dfl_feed *f)
{
    uint32_t column = dfl_feed_indent(f, &f->now), n = 0;

    while (n < f->open.n && f->open.at[f->open.n - 1 - n].kind == '{' &&
           dfl_feed_indent(f, &f->open.at[f->open.n - 1 - n]) >= column)
        n++;
    return n;
}

/* Compares the indentation of a `}` with that of the innermost `{`, which it closes. */
static void compare_indents(dfl_feed *f)
{
    const dfl_token *open = f->open.n > 0 ? &f->open.at[f->open.n - 1] : NULL;
    uint32_t want, have;

    if (open == NULL || open->kind != '{' || !dfl_feed_starts_line(f))
        return;
    want = dfl_feed_indent(f, open);
    have = dfl_feed_indent(f, &f->now);
    if (have < want && f->unclosed.kind == 0) {
        f->unclosed = *open;
        f->stolen = f->now;
        f->last_inside = f->before.span;
    }
    if (f->open.n == 1) {
        f->early = have > want ? f->now : (dfl_token){ .kind = 0 };
        f->unclosed.kind = 0;
    }
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
            f->statement.kind = f->last.kind = DFL_TOK_END;
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
        compare_indents(f);
        close_bracket(f, '{');
        if (!f->in_set)
            f->statement.kind = f->last.kind = DFL_TOK_END;
        f->in_set = false;
        break;
    case ';':
        while (f->open.n > 0 && f->open.at[f->open.n - 1].kind != '{')
            pop(f);
        if (f->statement.kind != DFL_TOK_IDENT) /* a statement that lacks its keyword continues the one before */
            f->last = f->statement;
        f->last_end = f->now.span;
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

void dfl_feed_skip_parentheses(dfl_feed *f)
{
    uint32_t depth = 1;

    while (depth > 0 && f->next.kind != DFL_TOK_END && f->next.kind != '{' && f->next.kind != '}') {
        dfl_feed_step(f);
        depth += f->now.kind == '(';
        depth -= f->now.kind == ')';
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
