/*
 * Formats any bytes as a file, if the file parses. Only white space changes; tokens, comments and tree stay equal.
 * Formatting is idempotent, and `fmt --check` accepts the result. Between tokens stand single blanks and line ends.
 * `check` reports the same codes before and after. Memory is linear in the length of the text.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dfl/dfl.h"
#include "diag/diag.h"
#include "fmt/fmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_AT_LEAST = 1 << 20, BYTES_PER_BYTE = 2048, STEPS = 50000, MEMORY = 24 << 20, MOST_CODES = 256 };

static void demand(bool truth)
{
    if (!truth)
        __builtin_trap();
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static void check_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;

    while (true) {
        while (i < a_len && is_blank(a[i]))
            i++;
        while (j < b_len && is_blank(b[j]))
            j++;
        if (i == a_len || j == b_len)
            break;
        demand(a[i++] == b[j++]);
    }
    demand(i == a_len && j == b_len);
}

/* Offset behind the end of the comment that begins at `at`. */
static const char *comment_end(const char *at, const char *end)
{
    for (at += 2; end - at >= 2; at++)
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    __builtin_trap();
}

/* Outside of tokens and comments: blanks that end no line, and at most two line ends. */
static void check_gaps(dfl_arena *arena, const dfl_source *source)
{
    uint32_t n, at = source->base;
    const dfl_token *tokens = dfl_syntax_tokens(arena, source, &n);

    for (uint32_t i = 0; i < n; at = tokens[i++].span.end) {
        const char *text = source->text + (at - source->base);
        const char *end = source->text + (tokens[i].span.start - source->base);

        for (unsigned lines = 0; text < end;) {
            if (*text == '/') {
                const char *close = text[1] == '*' ? comment_end(text, end) : memchr(text, '\n', (size_t)(end - text));

                lines = 0;
                text = close ? close : end;
                continue;
            }
            demand(*text == '\n' || (*text == ' ' && text + 1 < end + (i + 1 < n) && text[1] != '\n'));
            lines += *text++ == '\n';
            demand(lines <= 2);
        }
    }
    demand(source->len == 0 || source->text[source->len - 1] == '\n');
}

typedef struct {
    dfl_exit status;
    size_t n;
    char code[MOST_CODES][6];
    char *formatted; /* owned */
} verdict;

/* The reports of `dflc check`, and the text of `dflc fmt`. */
static void check_text(verdict *v, const char *text, size_t len)
{
    const dfl_session_options options = { .size = sizeof options, .memory_limit = MEMORY, .step_limit = STEPS };
    dfl_session *s = dfl_session_new(&options);
    const char *out;

    *v = (verdict){ .status = dfl_session_open_text(s, "fuzz.dfl", text, len) };
    if (v->status == DFL_EXIT_OK) {
        out = dfl_session_formatted(s, NULL);
        v->formatted = out ? strdup(out) : NULL;
        v->status = dfl_session_check(s);
    }
    demand(v->status != DFL_EXIT_INTERNAL);
    out = dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL);
    for (; (out = strstr(out, "[E")) && v->n < MOST_CODES; out = strchr(out, '\n'))
        memcpy(v->code[v->n++], out + 1, 5);
    dfl_session_free(s);
}

static void check_verdicts(const dfl_source *before, const char *text, size_t len)
{
    verdict was, is;

    if (before->len == 0 || len == 0)
        return;
    check_text(&was, before->text, before->len);
    check_text(&is, text, len);
    demand(!was.formatted || strcmp(was.formatted, text) == 0);
    demand(!is.formatted || strcmp(is.formatted, text) == 0);
    if (was.status != DFL_EXIT_STOPPED && is.status != DFL_EXIT_STOPPED) {
        demand(was.status == is.status && was.n == is.n);
        demand(memcmp(was.code, is.code, sizeof was.code) == 0);
    }
    free(was.formatted);
    free(is.formatted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_budget budget = { .memory_limit = 0 };
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    dfl_intern *names = dfl_intern_new(arena);
    const dfl_source *source = dfl_source_add(sources, "fuzz.dfl", (const char *)data, size);
    dfl_syntax syntax = dfl_syntax_parse(arena, names, sink, source), again;
    size_t len, again_len;
    const char *text, *same;

    if (syntax.ok) {
        text = dfl_fmt(arena, &syntax, &len);
        demand(strlen(text) == len || memchr(text, 0, len));
        demand(budget.memory_used <= BYTES_AT_LEAST + BYTES_PER_BYTE * size);
        check_bytes(source->text, source->len, text, len);
        again = dfl_syntax_parse(arena, names, sink, dfl_source_add(sources, "again.dfl", text, len));
        demand(again.ok && dfl_fmt_broken_law(arena, names, &syntax, &again) == NULL);
        check_gaps(arena, again.source);
        same = dfl_fmt(arena, &again, &again_len);
        demand(len == again_len && memcmp(text, same, len) == 0);
        if (!memchr(text, 0, len))
            check_verdicts(source, text, len);
    }
    dfl_arena_free(arena);
    return 0;
}
