/* Drives the generated scanner, and words its reports. */
#include "syntax/lex.h"

#include <string.h>

#include "support/strbuf.h"
#include "support/utf8.h"
#include "syntax/lexer.h"
#include "syntax/lookalikes.h"

typedef struct {
    const char *text;
    int token;
} keyword;

static const keyword keywords[] = {
#define DFL_KEYWORD(spelling, token, kind, edition) { spelling, DFL_TOK_##token },
#include "grammar/keywords.def"
#undef DFL_KEYWORD
};

enum { N_KEYWORDS = sizeof keywords / sizeof keywords[0], PADDING = 16 }; /* padding behind the text (in bytes) */

static const struct { const char *text; size_t len; } units[] = {
#define DFL_UNIT(name, prefixes, numerator, denominator, dimension) { (name), sizeof(name) - 1 },
#include "grammar/units.def"
#undef DFL_UNIT
};

/* ---- reports -------------------------------------------------------------------------------------------------- */

static const char *text_of(const dfl_lexer *l, dfl_span at)
{
    return l->source->text + (at.start - l->source->base);
}

/* Whether only blanks stand before a place on its line. */
static bool starts_line(const dfl_lexer *l, dfl_span at)
{
    uint32_t i = at.start - l->source->base;

    while (i > 0 && (l->source->text[i - 1] == ' ' || l->source->text[i - 1] == '\t'))
        i--;
    return i == 0 || l->source->text[i - 1] == '\n';
}

/* Help for a character that users know from other languages. */
static const char *help_for_stray(const char *text, bool starts_line)
{
    switch (*text) {
    case '#':
        return strncmp(text, "#include", 8) == 0  ? "files are imported by `import \"name.dfl\";`"
               : strncmp(text, "#define", 7) == 0 ? "a constant is declared by `let name = value;`"
                                                  : "comments begin with `//`";
    case '\'':
        return "strings stand between double quotes";
    case '`':
        return "a name stands alone, without quotes";
    case '&':
        return "write `&&` for \"and\"";
    case '!':
        return "write the opposite comparison, or `== 0`";
    case '%':
        return starts_line ? "comments begin with `//`"
                           : "the rest of a division is `mod(a, b)`; a percentage is written `85%`";
    case '^':
        return "powers are `pow(a, b)`";
    case '@':
        return "a product of matrices names its ranks: `Z[m, n] += A[m, k] * B[k, n];`";
    case '$':
        return "names have no `$`";
    case '\\':
        return "a statement may go on in the next line without a mark; it ends in `;`";
    default:
        return "names are ASCII letters, digits and `_`; other characters belong in strings and comments";
    }
}

/* A text whose characters all look like ASCII: help with the edit. False for any other text. */
static bool help_lookalike(const dfl_lexer *l, dfl_diag *d, dfl_span at, const char *text, size_t len)
{
    dfl_arena *arena = dfl_sink_arena(l->sink);
    uint32_t first = 0;
    size_t step;
    dfl_strbuf ascii;

    dfl_strbuf_init(&ascii, arena);
    for (size_t i = 0; i < len; i += step) {
        uint32_t character = dfl_lookalike_decode(text + i, &step);

        first = i == 0 ? character : first;
        if (dfl_lookalike(character) == NULL)
            return false;
        dfl_strbuf_z(&ascii, dfl_lookalike(character));
    }
    if (*ascii.text > ' ')
        dfl_diag_help(l->sink, d, "this is U+%04X, which looks like `%s`", (unsigned)first, dfl_lookalike(first));
    else
        dfl_diag_help(l->sink, d, "this is U+%04X, not an ASCII space", (unsigned)first);
    dfl_diag_fix(l->sink, d, at, ascii.text, DFL_FIX_SURE);
    return true;
}

static void report_stray(const dfl_lexer *l, dfl_span at)
{
    const char *text = text_of(l, at);
    size_t len = at.end - at.start;
    dfl_diag *d;

    /* Invalid UTF-8 was reported when the file was opened. */
    if (dfl_utf8_check(text, len) != len)
        return;
    d = dfl_report(l->sink, DFL_SYNTAX_STRAY_BYTE, at, "this starts no token");
    if ((unsigned char)*text >= 0x80 && help_lookalike(l, d, at, text, len))
        return;
    dfl_diag_help(l->sink, d, "%s", help_for_stray(text, starts_line(l, at)));
    if (len == 1 || (*text != '\'' && *text != '`') || text[len - 1] != *text)
        return;
    dfl_diag_fix(l->sink, d, (dfl_span){ at.start, at.start + 1 }, *text == '`' ? "" : "\"", DFL_FIX_SURE);
    dfl_diag_fix(l->sink, d, (dfl_span){ at.end - 1, at.end }, *text == '`' ? "" : "\"", DFL_FIX_SURE);
}

void dfl_lexer_report(dfl_lexer *l, dfl_span at, dfl_code code)
{
    dfl_span head = { at.start, at.end - at.start > 2 ? at.start + 2 : at.end };

    if (l->sink == NULL || l->reports++ >= DFL_MOST_LEX_REPORTS)
        return;
    switch ((int)code) {
    case DFL_SYNTAX_UNTERMINATED_COMMENT:
        dfl_diag_help(l->sink, dfl_report(l->sink, code, head, "comment is never closed"), "close it with `*/`");
        break;
    case DFL_SYNTAX_UNTERMINATED_STRING:
        dfl_diag_help(l->sink, dfl_report(l->sink, code, at, "string is not closed on its line"),
                      "close it with `\"`; a line break inside a string is written `\\n`");
        break;
    case DFL_SYNTAX_BAD_NUMBER:
        dfl_diag_help(l->sink, dfl_report(l->sink, code, at, "the exponent of this number has no digits"),
                      "write the exponent, as in `2e9`");
        break;
    case DFL_LIMIT_COUNT:
        dfl_diag_help(l->sink, dfl_report(l->sink, code, at,
                "this name has %u characters", (unsigned)(at.end - at.start)),
                      "the most is %d", DFL_MOST_NAME);
        break;
    case DFL_SYNTAX_NUL:
        if (*text_of(l, at) != 0) {
            report_stray(l, at);
            break;
        }
        dfl_diag_help(l->sink, dfl_report(l->sink, code, at, "the source contains a NUL byte"), "is this a text file?");
        break;
    default:
        report_stray(l, at);
        break;
    }
}

static void report_utf8(const dfl_lexer *l, size_t offset)
{
    uint32_t at = l->source->base + (uint32_t)offset;

    dfl_diag_help(l->sink, dfl_report(l->sink, DFL_SYNTAX_BAD_UTF8, (dfl_span){ at, at + 1 }, "invalid UTF-8"),
                  "save the file as UTF-8");
}

/* ---- words and numbers ---------------------------------------------------------------------------------------- */

const dfl_word *dfl_lex_new_word(dfl_lexer *l, const char *text, size_t len)
{
    dfl_word *word = &l->long_word;

    word->letters = len <= sizeof word->letters ? dfl_letters_of(text, len) : 0;
    word->sym = dfl_intern_text(l->names, text, len);
    word->kind = word->sym < l->n_keyword && l->keyword[word->sym] != 0 ? l->keyword[word->sym] : DFL_TOK_IDENT;
    if (len <= sizeof word->letters)
        l->words[(word->letters * 0x9e3779b97f4a7c15u) >> (64 - DFL_WORD_BITS)] = *word;
    return word;
}

bool dfl_lex_is_unit(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = units[i].len;

        if (n > len || len > n + 2 || text[len - 1] != units[i].text[n - 1] ||
            memcmp(text + len - n, units[i].text, n) != 0)
            continue;
        if (n == len || (len - n == 1 && strchr("munpkMGTPE", text[0])) ||
            (len - n == 2 && text[1] == 'i' && strchr("KMGTPE", text[0])))
            return true;
    }
    return false;
}

size_t dfl_lex_unit_end(const char *text, size_t len)
{
    const char *slash = memchr(text, '/', len);

    while (slash != NULL) {
        const char *unit = slash + 1;
        size_t left = len - (size_t)(unit - text);
        const char *next = memchr(unit, '/', left);

        if (!dfl_lex_is_unit(unit, next != NULL ? (size_t)(next - unit) : left))
            return (size_t)(slash - text);
        slash = next;
    }
    return len;
}

int dfl_lex_amount(const char *text, size_t len)
{
    size_t at = strspn(text, "0123456789_.");

    if (at + 1 >= len || (text[at] != 'e' && text[at] != 'E'))
        return DFL_TOK_QUANTITY;
    for (at++; at < len; at++)
        if (text[at] < '0' || text[at] > '9')
            return DFL_TOK_QUANTITY;
    return DFL_TOK_NUMBER;
}

/* ---- the scanner ---------------------------------------------------------------------------------------------- */

static void make_keyword_table(dfl_lexer *l)
{
    dfl_sym most = 0, syms[N_KEYWORDS];
    uint16_t *table;

    for (size_t i = 0; i < N_KEYWORDS; i++) {
        syms[i] = dfl_intern_z(l->names, keywords[i].text);
        most = syms[i] > most ? syms[i] : most;
    }
    table = DFL_NEW_ARRAY(l->arena, uint16_t, most + 1);
    for (size_t i = 0; i < N_KEYWORDS; i++)
        table[syms[i]] = (uint16_t)keywords[i].token;
    l->keyword = table;
    l->n_keyword = most + 1;
}

/* Opens flex on a copy of the text, since flex writes into its buffer. Two NULs end the buffer; the padding lets eight
   bytes be read from any position. */
static void open_scanner(dfl_lexer *l)
{
    size_t len = l->source->len;
    char *text = dfl_arena_alloc(l->arena, len + PADDING, 1, _Alignof(uint64_t));

    memcpy(text, l->source->text, len);
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark is white space */
        memset(text, ' ', 3);
    /* replace NULs, which would end the buffer of flex, with U+0001, which starts no token either */
    for (char *nul = memchr(text, 0, len); nul != NULL; nul = memchr(nul, 0, len - (size_t)(nul - text)))
        *nul = 1;
    l->text = text;
    if (dfl_lex_lex_init_extra(l, &l->scanner) != 0 || dfl_lex__scan_buffer(text, len + 2, l->scanner) == NULL)
        dfl_budget_stop(dfl_arena_budget(l->arena), DFL_STOP_MEMORY);
}

void dfl_lexer_open(dfl_lexer *l, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source)
{
    size_t good = sink != NULL ? dfl_utf8_check(source->text, source->len) : source->len;

    *l = (dfl_lexer){ .arena = arena, .names = names, .sink = sink, .source = source };
    l->words = DFL_NEW_ARRAY(arena, dfl_word, 1 << DFL_WORD_BITS);
    make_keyword_table(l);
    if (good < source->len)
        report_utf8(l, good);
    open_scanner(l);
}

void dfl_lexer_close(dfl_lexer *l)
{
    if (l->scanner != NULL)
        dfl_lex_lex_destroy(l->scanner);
    l->scanner = NULL;
}

void dfl_lex_doc(dfl_lexer *l, const char *text, size_t len)
{
    uint32_t start = l->source->base + (uint32_t)(text - l->text);

    DFL_PUSH(l->arena, &l->docs, ((dfl_doc_line){ .span = { start, start + (uint32_t)len } }));
}

void dfl_lex_docs_end(dfl_lexer *l, uint32_t position)
{
    for (; l->first_open_doc < l->docs.n; l->first_open_doc++)
        l->docs.at[l->first_open_doc].before = position;
}

void dfl_lexer_scan(dfl_lexer *l)
{
    uint32_t end = l->source->base + (uint32_t)l->source->len;

    l->taken = l->given = 0;
    if (l->scanner != NULL && dfl_lex_lex(l->scanner) != 0)
        return;
    l->ahead[l->given++] = (dfl_token){ .span = { end, end }, .kind = DFL_TOK_END };
    dfl_lex_docs_end(l, end);
    dfl_lexer_close(l); /* flex must not be called again after the end of the file */
}

dfl_token *dfl_syntax_tokens(dfl_arena *arena, const dfl_source *source, uint32_t *n)
{
    DFL_VEC(dfl_token) tokens = { 0 };
    dfl_lexer l;

    dfl_lexer_open(&l, arena, dfl_intern_new(arena), NULL, source);
    do {
        DFL_PUSH(arena, &tokens, dfl_lexer_next(&l));
    } while (tokens.at[tokens.n - 1].kind != DFL_TOK_END);
    dfl_lexer_close(&l);
    *n = (uint32_t)tokens.n;
    return tokens.at;
}
