/*
 * Scans any bytes. Tokens and gaps tile the text, and a gap holds nothing but white space and closed comments; a word
 * is a keyword exactly if keywords.def has it; exactly wrong tokens and invalid UTF-8 are reported; any run of tokens,
 * cut out with its gaps, gives equal tokens when it is scanned again.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/utf8.h"
#include "syntax/lex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_source_map *sources;
    const dfl_source *source;
    const dfl_token *tokens; /* the last one is the end */
    uint32_t n;
} tokens_of;

static void demand(bool truth)
{
    if (!truth)
        __builtin_trap();
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Offset behind the end of the comment that begins at `at`. */
static const char *comment_end(const char *at, const char *end)
{
    for (at += 2; end - at >= 2; at++)
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    __builtin_trap();
}

/* Whether the text up to `end` is white space, comments `//` and comments `/ * ... * /` only. */
static void check_gap(const char *at, const char *end, bool at_end)
{
    while (at < end) {
        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n' || *at == '\f') {
            at++;
            continue;
        }
        demand(end - at >= 2 && at[0] == '/' && (at[1] == '/' || at[1] == '*'));
        if (at[1] == '/') {
            at = memchr(at, '\n', (size_t)(end - at));
            demand(at || at_end);
            at = at ? at + 1 : end;
        } else {
            at = comment_end(at, end);
        }
    }
}

static uint16_t keyword_of(const char *text, size_t len)
{
#define DFL_KEYWORD(spelling, token, kind, edition)                          \
    if (len == sizeof spelling - 1 && memcmp(text, spelling, len) == 0)      \
        return DFL_TOK_##token;
#include "grammar/keywords.def"
#undef DFL_KEYWORD
    return DFL_TOK_IDENT;
}

static void check_kind(const tokens_of *t, const dfl_token *token)
{
    const char *text = t->source->text + (token->span.start - t->source->base);
    size_t len = token->span.end - token->span.start;

    if (is_word_char(*text) && !(*text >= '0' && *text <= '9')) {
        for (size_t i = 0; i < len; i++)
            demand(is_word_char(text[i]) || text[i] == '#'); /* `Z#2`: the second einsum of a tensor */
        demand(token->kind == (len > DFL_MOST_NAME ? DFL_TOK_DFL_YYerror : keyword_of(text, len)));
    } else if (*text >= '0' && *text <= '9') {
        demand(token->kind == DFL_TOK_NUMBER || token->kind == DFL_TOK_QUANTITY || token->kind == DFL_TOK_DFL_YYerror);
    } else if (token->kind < 256) {
        demand(len == 1 && token->kind == (unsigned char)*text);
    }
}

static void check_tiling(const tokens_of *t)
{
    uint32_t at = t->source->base, end = t->source->base + (uint32_t)t->source->len;

    demand(t->n > 0);
    if (t->source->len >= 3 && memcmp(t->source->text, "\xEF\xBB\xBF", 3) == 0) /* byte order mark */
        at += 3;
    for (uint32_t i = 0; i < t->n; i++) {
        const dfl_token *token = &t->tokens[i];
        bool last = i + 1 == t->n;

        demand(token->span.start >= at && token->span.start <= token->span.end && token->span.end <= end);
        demand((token->kind == DFL_TOK_END) == last && (token->span.start == token->span.end) == last);
        check_gap(t->source->text + (at - t->source->base), t->source->text + (token->span.start - t->source->base),
                  last);
        if (!last)
            check_kind(t, token);
        at = token->span.end;
    }
    demand(at == end);
}

/* Scans the tokens one by one, with names and reports, and compares them with `dfl_syntax_tokens`. */
static void check_reports(const tokens_of *t)
{
    dfl_sink *sink = dfl_sink_new(t->arena, t->sources);
    bool wrong = dfl_utf8_check(t->source->text, t->source->len) < t->source->len;
    dfl_lexer lexer;

    dfl_lexer_open(&lexer, t->arena, t->names, sink, t->source);
    for (uint32_t i = 0; i < t->n + 1; i++) {
        const dfl_token *want = &t->tokens[i < t->n ? i : t->n - 1];
        dfl_token got = dfl_lexer_next(&lexer);
        const char *text = t->source->text + (got.span.start - t->source->base);
        size_t len = got.span.end - got.span.start;

        demand(got.kind == want->kind && got.span.start == want->span.start && got.span.end == want->span.end);
        wrong |= got.kind == DFL_TOK_DFL_YYerror;
        demand((got.sym != 0) == (len > 0 && is_word_char(*text) && !(*text >= '0' && *text <= '9')));
        demand(got.sym == 0 || (strlen(dfl_sym_text(t->names, got.sym)) == len &&
                                memcmp(dfl_sym_text(t->names, got.sym), text, len) == 0));
    }
    dfl_lexer_close(&lexer);
    demand((dfl_sink_errors(sink) > 0) == wrong);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);

        demand(d->severity != DFL_INTERNAL);
        if (d->code != DFL_LIMIT_DIAGNOSTICS) /* nowhere */
            demand(d->span.start >= t->source->base && d->span.start <= d->span.end &&
                   d->span.end <= t->source->base + t->source->len);
    }
    for (size_t i = 0; i < lexer.docs.n; i++)
        demand(memcmp(t->source->text + (lexer.docs.at[i].span.start - t->source->base), "///", 3) == 0);
}

/* Scans tokens first..last and the gaps in front of them as a separate text. A run that is not the first one begins
   with one blank more: a byte order mark is skipped at the start of a text only. */
static void check_run(const tokens_of *t, uint32_t first, uint32_t last)
{
    uint32_t lead = first > 0, from = first == 0 ? t->source->base : t->tokens[first - 1].span.end, n;
    uint32_t len = t->tokens[last].span.end - from;
    dfl_arena *arena = dfl_arena_new(NULL);
    char *text = dfl_arena_alloc(arena, lead + len + 1, 1, 1);
    const dfl_source *source;
    const dfl_token *again;

    memset(text, ' ', lead);
    memcpy(text + lead, t->source->text + (from - t->source->base), len);
    source = dfl_source_add(dfl_source_map_new(arena), "run.dfl", text, lead + len);
    again = dfl_syntax_tokens(arena, source, &n);
    demand(n == last - first + 1 + (last + 1 < t->n));
    for (uint32_t i = 0; i < n - 1; i++)
        demand(again[i].kind == t->tokens[first + i].kind &&
               again[i].span.start - source->base - lead == t->tokens[first + i].span.start - from &&
               again[i].span.end - source->base - lead == t->tokens[first + i].span.end - from);
    dfl_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tokens_of t = { .arena = dfl_arena_new(NULL) };
    uint32_t step = 1, last;

    t.names = dfl_intern_new(t.arena);
    t.sources = dfl_source_map_new(t.arena);
    t.source = dfl_source_add(t.sources, "fuzz.dfl", (const char *)data, size);
    t.tokens = dfl_syntax_tokens(t.arena, t.source, &t.n);
    check_tiling(&t);
    check_reports(&t);
    for (uint32_t first = 0; first < t.n; first = last + 1) {
        last = first + step < t.n ? first + step - 1 : t.n - 1;
        check_run(&t, first, last);
        step = step * 5 % 61 + 1; /* runs of 1 to 61 tokens */
    }
    dfl_arena_free(t.arena);
    return 0;
}
