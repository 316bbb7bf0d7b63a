/* Scans words and braces of MAESTRO's files; all other characters separate words. */
#include <string.h>

#include "import/maestro/maestro_internal.h"

static bool separates(char c)
{
    return (c != '\0' && strchr(" \t\r\n\v\f,:;()>", c) != NULL) || c == '\0';
}

/* Whether a comment starts: two slashes, or a slash and a star. */
static bool starts_comment(const dfl_maestro_lexer *lexer)
{
    const dfl_source *s = lexer->source;

    return s->text[lexer->at] == '/' && lexer->at + 1 < s->len && strchr("/*", s->text[lexer->at + 1]) != NULL &&
           s->text[lexer->at + 1] != '\0';
}

/* Skips a comment, which ends with its line or with the mark of its kind, else with the file. */
static void skip_comment(dfl_maestro_lexer *lexer)
{
    const dfl_source *s = lexer->source;
    const char *mark = s->text[lexer->at + 1] == '/' ? "\n" : "*/";
    size_t n = strlen(mark);

    for (lexer->at += 2; lexer->at < s->len; lexer->at++) {
        if (lexer->at + n <= s->len && memcmp(s->text + lexer->at, mark, n) == 0) {
            lexer->at += n;
            break;
        }
    }
}

static bool in_word(const dfl_maestro_lexer *lexer)
{
    char c = lexer->source->text[lexer->at];

    return lexer->at < lexer->source->len && !separates(c) && c != '{' && c != '}' &&
           !starts_comment(lexer);
}

dfl_maestro_token dfl_maestro_next(dfl_maestro_lexer *lexer)
{
    const dfl_source *s = lexer->source;
    dfl_maestro_token t = { .kind = DFL_MAESTRO_END };
    size_t start;

    if (lexer->at == 0 && s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
        lexer->at = 3; /* a byte order mark */
    while (lexer->at < s->len) {
        if (starts_comment(lexer))
            skip_comment(lexer);
        else if (separates(s->text[lexer->at]))
            lexer->at++;
        else
            break;
    }
    start = lexer->at;
    if (start < s->len) {
        if (s->text[start] == '{' || s->text[start] == '}') {
            t.kind = s->text[start] == '{' ? DFL_MAESTRO_OPEN : DFL_MAESTRO_CLOSE;
            lexer->at++;
        } else {
            t.kind = DFL_MAESTRO_WORD;
            while (in_word(lexer))
                lexer->at++;
        }
    }
    t.text = s->text + start;
    t.len = lexer->at - start;
    t.span = (dfl_span){ s->base + (uint32_t)start, s->base + (uint32_t)lexer->at };
    return t;
}

bool dfl_maestro_is(const dfl_maestro_token *token, const char *word)
{
    return token->kind == DFL_MAESTRO_WORD && strlen(word) == token->len &&
           memcmp(token->text, word, token->len) == 0;
}

const char *dfl_maestro_dim_text(dfl_maestro_dim dim)
{
    static const char *const names[DFL_DIM_COUNT] = {
        [DFL_DIM_N] = "N",      [DFL_DIM_G] = "G",      [DFL_DIM_K] = "K", [DFL_DIM_C] = "C",
        [DFL_DIM_R] = "R",      [DFL_DIM_S] = "S",      [DFL_DIM_Y] = "Y", [DFL_DIM_X] = "X",
        [DFL_DIM_Y_OUT] = "Y'", [DFL_DIM_X_OUT] = "X'", [DFL_DIM_M] = "M",
    };

    return names[dim];
}

bool dfl_maestro_number(dfl_loss_report *report, const dfl_maestro_token *token, int64_t *out)
{
    int64_t value = 0;
    bool digits = token->kind == DFL_MAESTRO_WORD && token->len > 0;
    bool large = false;

    for (size_t i = 0; digits && i < token->len; i++) {
        if (token->text[i] < '0' || token->text[i] > '9') {
            digits = false;
        } else if (!large) {
            value = value * 10 + (token->text[i] - '0');
            large = value > INT32_MAX;
        }
    }
    if (!digits) {
        dfl_diag *d = dfl_report(report->sink, DFL_FOREIGN_SYNTAX, token->span, "expected a whole number");

        if (token->kind == DFL_MAESTRO_END)
            dfl_diag_here(report->sink, d, "the file ends here");
        return false;
    }
    if (large || value == 0) {
        dfl_diag *d = dfl_report(report->sink, DFL_FOREIGN_RANGE, token->span, "the number is out of range");

        dfl_diag_help(report->sink, d, "sizes, offsets and strides go from 1 to %d", INT32_MAX);
        return false;
    }
    *out = value;
    return true;
}
