#include <string.h>

#include "fmt/fmt.h"
#include "fmt/gap.h"
#include "syntax/dump.h"

static bool have_same_tokens(const dfl_fmt_input *a, const dfl_fmt_input *b)
{
    if (a->n_tokens != b->n_tokens)
        return false;
    for (uint32_t i = 0; i < a->n_tokens; i++) {
        const dfl_token *s = &a->tokens[i], *t = &b->tokens[i];
        size_t len = s->span.end - s->span.start;

        if (s->kind != t->kind || len != t->span.end - t->span.start ||
            memcmp(a->source->text + (s->span.start - a->source->base),
                   b->source->text + (t->span.start - b->source->base), len) != 0)
            return false;
    }
    return true;
}

/* Reads the next character of a comment; CR LF is one character. False at the end. */
static bool read_char(const char **at, const char *end, char *c)
{
    if (*at == end)
        return false;
    if (**at == '\r' && *at + 1 < end && (*at)[1] == '\n')
        ++*at;
    *c = *(*at)++;
    return true;
}

static bool are_equal_comments(const dfl_gap *a, const dfl_gap *b)
{
    const char *s = a->text, *t = b->text;
    char c = 0, d = 0;

    while (read_char(&s, a->text + a->len, &c))
        if (!read_char(&t, b->text + b->len, &d) || c != d)
            return false;
    return t == b->text + b->len;
}

static bool have_same_comments(const dfl_fmt_input *a, const dfl_fmt_input *b)
{
    for (uint32_t i = 0; i < a->n_tokens; i++) {
        dfl_gap s = dfl_gap_before(a, i), t = dfl_gap_before(b, i);

        while (true) {
            bool more = dfl_gap_next(&s);

            if (dfl_gap_next(&t) != more)
                return false;
            if (!more)
                break;
            if (!are_equal_comments(&s, &t))
                return false;
        }
    }
    return true;
}

const char *dfl_fmt_broken_law(dfl_arena *arena, const dfl_intern *names, const dfl_syntax *before,
                               const dfl_syntax *after)
{
    dfl_fmt_input old = dfl_fmt_input_of(arena, before), new = dfl_fmt_input_of(arena, after);
    dfl_strbuf a, b;

    if (!after->ok)
        return "the formatted text has errors";
    if (!have_same_tokens(&old, &new))
        return "other tokens";
    if (!have_same_comments(&old, &new))
        return "other comments";
    dfl_strbuf_init(&a, arena);
    dfl_strbuf_init(&b, arena);
    dfl_dump_ast(&a, NULL, names, before->file);
    dfl_dump_ast(&b, NULL, names, after->file);
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0 ? NULL : "another tree";
}
