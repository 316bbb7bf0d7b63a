/* The layout of text that is put into a file: its line ends, its comments, and that of the formatter. */
#include "api/session.h"

#include <string.h>

#include "fmt/fmt.h"
#include "fmt/gap.h"

/* Whether the lines of the file end in CR LF, as the first one does. */
static bool has_returns(const dfl_source *source)
{
    const char *end = memchr(source->text, '\n', source->len);

    return end != NULL && end > source->text && end[-1] == '\r';
}

const char *dfl_session_line_ends(dfl_session *s, const char *text, size_t *len)
{
    dfl_strbuf out;

    if (!has_returns(s->root->source))
        return text;
    dfl_strbuf_init(&out, s->arena);
    for (size_t i = 0; i < *len; i++) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
            dfl_strbuf_char(&out, '\r');
        dfl_strbuf_char(&out, text[i]);
    }
    *len = out.len;
    return out.len > 0 ? out.text : "";
}

const char *dfl_session_laid_out(dfl_session *s, const char *text, size_t *len)
{
    dfl_sink *quiet = dfl_sink_new(dfl_session_after(s), NULL);
    const dfl_source *source = dfl_source_add(s->sources, s->root->source->name, text, *len);
    dfl_syntax syntax;

    dfl_sink_limit(quiet, 0);
    if (!source)
        return NULL;
    syntax = dfl_syntax_parse(dfl_session_after(s), s->names, quiet, source);
    return syntax.ok ? dfl_fmt(dfl_session_after(s), &syntax, len) : NULL;
}

/* Line ends of either kind are the same. */
static bool same_lines(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;

    for (; i < a_len && j < b_len; i++, j++) {
        i += a[i] == '\r' && i + 1 < a_len && a[i + 1] == '\n';
        if (a[i] != b[j])
            return false;
    }
    return i == a_len && j == b_len;
}

bool dfl_session_is_laid_out(dfl_session *s)
{
    const dfl_source *source = s->root->source;
    const dfl_syntax *syntax = dfl_loaded_syntax(s, s->root);
    size_t len = 0;
    const char *text = syntax->ok ? dfl_fmt(dfl_session_after(s), syntax, &len) : NULL;

    return text && same_lines(source->text, source->len, text, len);
}

/* The first token that ends behind a position, by halves. */
static uint32_t first_behind(const dfl_fmt_input *in, uint32_t position)
{
    uint32_t low = 0, n = in->n_tokens;

    while (n > 0) {
        uint32_t half = n / 2;
        if (in->tokens[low + half].span.end > position) {
            n = half;
        } else {
            low += half + 1;
            n -= half + 1;
        }
    }
    return low;
}

void dfl_session_add_comments(dfl_session *s, dfl_strbuf *out, dfl_span span)
{
    const dfl_fmt_input in = dfl_fmt_input_of(dfl_session_after(s), dfl_loaded_syntax(s, s->root));

    for (uint32_t i = first_behind(&in, span.start); i < in.n_tokens && in.tokens[i].span.end <= span.end; i++) {
        dfl_gap gap = dfl_gap_before(&in, i);
        if (in.tokens[i].span.start <= span.start)
            continue;
        while (dfl_gap_next(&gap)) {
            if (gap.text < in.source->text + (span.start - in.source->base))
                continue;
            dfl_strbuf_z(out, out->len > 0 && out->text[out->len - 1] == '\n' ? "" : " ");
            dfl_strbuf_add(out, gap.text, gap.len);
            dfl_strbuf_z(out, gap.line ? "\n" : "");
        }
    }
}
