/* Tokens of texts. Every row is scanned in three ways: with reports, silently, and in pieces cut between its tokens. */
#include "tests/unit/syntax/parsed.h"

#include <stdlib.h>

#include "syntax/lex.h"

/* ---- tokens as text ------------------------------------------------------------------------------------------- */

static const char *token_class(const dfl_token *token, char first)
{
    switch (token->kind) {
    case DFL_TOK_END:           return "end";
    case DFL_TOK_IDENT:         return "name";
    case DFL_TOK_NUMBER:        return "number";
    case DFL_TOK_QUANTITY:      return "quantity";
    case DFL_TOK_STRING:        return "string";
    case DFL_TOK_DFL_YYerror:   return "wrong";
    default:                    return first >= 'a' && first <= 'z' ? "word" : NULL;
    }
}

/* `name(a) = number(1) ;`: classes and texts, bytes that are no ASCII as \xHH; symbols stand for themselves. */
static void add_token(dfl_strbuf *out, const dfl_source *source, const dfl_token *token)
{
    const char *text = source->text + (token->span.start - source->base), *class = token_class(token, *text);

    dfl_strbuf_z(out, out->len > 0 ? " " : "");
    if (token->kind == DFL_TOK_END)
        return;
    dfl_strbuf_printf(out, "%s%s", class ? class : "", class ? "(" : "");
    for (uint32_t i = 0; i < token->span.end - token->span.start; i++)
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 0x7f)
            dfl_strbuf_printf(out, "\\x%02x", (unsigned char)text[i]);
        else
            dfl_strbuf_char(out, text[i]);
    dfl_strbuf_z(out, class ? ")" : "");
}

static bool same_token(const dfl_token *a, uint32_t a_from, const dfl_token *b, uint32_t b_from)
{
    return a->kind == b->kind && a->span.start - a_from == b->span.start - b_from &&
           a->span.end - a_from == b->span.end - b_from;
}

/* Scans without a parser: the tokens and their reports. */
static const char *scan(parsed *p, const char *text, size_t len, const dfl_token **tokens, uint32_t *n)
{
    const dfl_source *source = dfl_source_add(p->sources, "test.dfl", text, len);
    dfl_lexer lexer;
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    dfl_lexer_open(&lexer, p->arena, p->names, p->sink, source);
    *tokens = dfl_syntax_tokens(p->arena, source, n);
    for (uint32_t i = 0; i < *n; i++) {
        dfl_token token = dfl_lexer_next(&lexer);

        assert_true(same_token(&token, 0, &(*tokens)[i], 0));
        add_token(&out, source, &token);
    }
    assert_int_equal(dfl_lexer_next(&lexer).kind, DFL_TOK_END);
    assert_int_equal((*tokens)[*n - 1].kind, DFL_TOK_END);
    assert_int_equal((*tokens)[*n - 1].span.end - source->base, len);
    dfl_lexer_close(&lexer);
    return out.len > 0 && out.text[out.len - 1] == ' ' ? dfl_arena_copy(p->arena, out.text, out.len - 1) : out.text;
}

/* Two pieces of a text, cut behind any token, hold the tokens of the whole. */
static void check_pieces(parsed *p, const char *text, size_t len, const dfl_token *tokens, uint32_t n)
{
    uint32_t base = tokens[n - 1].span.end - (uint32_t)len;

    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t cut = tokens[i].span.end - base, n_first, n_second;
        const dfl_source *first = dfl_source_add(p->sources, "first", text, cut);
        const dfl_source *second = dfl_source_add(p->sources, "second", text + cut, len - cut);
        const dfl_token *a = dfl_syntax_tokens(p->arena, first, &n_first);
        const dfl_token *b = dfl_syntax_tokens(p->arena, second, &n_second);

        assert_int_equal(n_first + n_second, n + 1);
        for (uint32_t k = 0; k <= i; k++)
            assert_true(same_token(&a[k], first->base, &tokens[k], base));
        for (uint32_t k = 0; k < n_second; k++)
            assert_true(same_token(&b[k], second->base, &tokens[i + 1 + k], base + cut));
    }
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *text;
    size_t len;
    const char *tokens, *reports;
} lex_case;

/* A text, which may hold NULs, and its length. */
#define T(text) (text), sizeof(text) - 1

static const lex_case cases[] = {
    { "nothing", T(""), "", "" },
    { "white space", T(" \t\r\n\f"), "", "" },
    { "name", T("a _a a_1 A9 _"), "name(a) name(_a) name(a_1) name(A9) name(_)", "" },
    { "names of eight letters and more", T("abcdefgh abcdefghi abcdefg"), "name(abcdefgh) name(abcdefghi) "
      "name(abcdefg)", "" },
    { "words", T("let lets Let LET"), "word(let) name(lets) name(Let) name(LET)", "" },
    { "symbols", T(";:,.(){}[]=+-*/<>?"), "; : , . ( ) { } [ ] = + - * / < > ?", "" },
    { "symbols of two characters", T("..+=<=>===!=&&||"), ".. += <= >= == != && ||", "" },
    { "dots", T(". .. ... .... ....."), ". .. ... ... . ... ..", "" },
    { "the longest one is taken", T("<==>==-="), "<= = >= = - =", "" },

    /* numbers */
    { "numbers", T("0 00 12 1.5 2e9 2E9 2e+9 2e-9 1.5e3"),
      "number(0) number(00) number(12) number(1.5) number(2e9) number(2E9) number(2e+9) number(2e-9) "
      "number(1.5e3)", "" },
    { "underscores", T("1_000 1__0 1_ 1_.5_ 1_e3"), "number(1_000) number(1__0) number(1_) number(1_.5_) "
      "number(1_e3)", "" },
    { "underscore before a number", T("_1"), "name(_1)", "" },
    { "underscore in an exponent", T("1e1_0"), "quantity(1e1_0)", "" },
    { "dots of numbers", T("1.5.2 1. .5 1..2 1.5..2.5 1...2"),
      "number(1.5) . number(2) number(1) . . number(5) number(1) .. number(2) number(1.5) .. number(2.5) "
      "number(1) ... number(2)", "" },
    { "range up to a name", T("0..n 0.n"), "number(0) .. name(n) number(0) . name(n)", "" },
    { "sign", T("-1 +1 a-1"), "- number(1) + number(1) name(a) - number(1)", "" },
    { "exponent without digits", T("2e+ 1.5E- 2e+x"), "wrong(2e+) wrong(1.5E-) wrong(2e+) name(x)",
      "1:1: error[E0107]: the exponent of this number has no digits\n"
      "1:5: error[E0107]: the exponent of this number has no digits\n"
      "1:11: error[E0107]: the exponent of this number has no digits\n" },
    { "exponent without a sign and digits is a unit", T("2e 2ex"), "quantity(2e) quantity(2ex)", "" },

    /* quantities: a later pass checks that the unit exists */
    { "units", T("4GB 4KiB 1.5TB 2e9B 7p 85%"), "quantity(4GB) quantity(4KiB) quantity(1.5TB) "
      "quantity(2e9B) quantity(7p) quantity(85%)",
      "" },
    { "unit behind an exponent", T("1E3B 1EB 1EiB 2e-3s 1_0kB"), "quantity(1E3B) quantity(1EB) "
      "quantity(1EiB) quantity(2e-3s) quantity(1_0kB)",
      "" },
    { "unit over unit", T("4GB/s 7pJ/bit 64B/cycle 1B/s/J"), "quantity(4GB/s) quantity(7pJ/bit) "
      "quantity(64B/cycle) quantity(1B/s/J)", "" },
    { "unit over something else", T("4GB/n 4GB/2 4GB/(2)"), "quantity(4GB) / name(n) quantity(4GB) / "
      "number(2) quantity(4GB) / ( number(2) )", "" },
    { "unit over unit over something else", T("4GB/s/n 4GB/s/2 4GB/n/s"),
      "quantity(4GB/s) / name(n) quantity(4GB/s) / number(2) quantity(4GB) / name(n) / name(s)", "" },
    { "prefixes behind the stroke", T("1B/ms 1B/Kis 1B/xs 1B/KiB 1B/mis"), "quantity(1B/ms) "
      "quantity(1B/Kis) quantity(1B) / name(xs) "
      "quantity(1B/KiB) quantity(1B) / name(mis)", "" },
    { "unit before a comment", T("4GB//s\n4GB/*s*/4GB/s//c"), "quantity(4GB) quantity(4GB) quantity(4GB/s)", "" },
    { "stroke at the end", T("4GB/ 4GB/s/"), "quantity(4GB) / quantity(4GB/s) /", "" },
    { "blank before the unit", T("4 GB"), "number(4) name(GB)", "" },
    { "unit of several words", T("4GBs_2 4x9"), "quantity(4GBs_2) quantity(4x9)", "" },
    { "hexadecimal is no number", T("0x10"), "quantity(0x10)", "" },
    { "percentages", T("10%of 10 % 3"), "quantity(10%of) number(10) wrong(%) number(3)",
      "1:10: error[E0106]: this starts no token\n" },

    /* strings */
    { "strings", T("\"\" \"a b\" \"a\\\"b\" \"\\\\\""), "string(\"\") string(\"a b\") string(\"a\\\"b\") "
      "string(\"\\\\\")", "" },
    { "string with other letters", T("\"\xc3\xa4\""), "string(\"\\xc3\\xa4\")", "" },
    { "strings hold comments", T("\"// /*\" a"), "string(\"// /*\") name(a)", "" },
    { "string without an end", T("\"a"), "wrong(\"a)", "1:1: error[E0104]: string is not closed on its line\n" },
    { "string that ends with its line", T("\"a\nb\""), "wrong(\"a) name(b) wrong(\")",
      "1:1: error[E0104]: string is not closed on its line\n2:2: error[E0104]: string is not closed on its line\n" },
    { "string with an escaped end", T("\"a\\\""), "wrong(\"a\\\")",
      "1:1: error[E0104]: string is not closed on its line\n" },
    { "string that ends in an escape", T("\"a\\"), "wrong(\"a\\)",
      "1:1: error[E0104]: string is not closed on its line\n" },
    { "string whose escape is a line end", T("\"a\\\nb\""), "wrong(\"a\\) name(b) wrong(\")",
      "1:1: error[E0104]: string is not closed on its line\n2:2: error[E0104]: string is not closed on its line\n" },

    /* comments */
    { "comment to the end of the line", T("a // b ; \"\nc"), "name(a) name(c)", "" },
    { "comment to the end of the text", T("a // b"), "name(a)", "" },
    { "comment between", T("a/* b */c/**/d/***/e/* ** / */f"), "name(a) name(c) name(d) name(e) name(f)", "" },
    { "comment over lines", T("a /* b\n * c\n */ d"), "name(a) name(d)", "" },
    { "comments do not nest", T("/* a /* b */ c */"), "name(c) * /", "" },
    { "line comment in a comment", T("/* // */ a"), "name(a)", "" },
    { "comment in a line comment", T("// /*\na"), "name(a)", "" },
    { "comment without an end", T("a /* b\nc *"), "name(a) wrong(/* b\\x0ac *)",
      "1:3: error[E0105]: comment is never closed\n" },
    { "comment without anything", T("/*"), "wrong(/*)", "1:1: error[E0105]: comment is never closed\n" },
    { "comment that begins with its end", T("/*/"), "wrong(/*/)", "1:1: error[E0105]: comment is never closed\n" },
    { "doc comments", T("/// a\n///\n//// b\nlet"), "word(let)", "" },

    /* bytes */
    { "line ends of another system", T("a;\r\nb;\r\n// c\r\n\"d\"\r\n"), "name(a) ; name(b) ; string(\"d\")", "" },
    { "NUL", T("a\0b"), "name(a) wrong(\\x00) name(b)", "1:2: error[E0112]: the source contains a NUL byte\n" },
    { "NULs", T("\0\0 \0"), "wrong(\\x00\\x00) wrong(\\x00)",
      "1:1: error[E0112]: the source contains a NUL byte\n1:4: error[E0112]: the source contains a NUL byte\n" },
    { "NUL at the end of a number", T("1\0"), "number(1) wrong(\\x00)", "1:2: error[E0112]: the source contains a NUL byte\n" },
    { "a control character", T("a \001 b"), "name(a) wrong(\\x01) name(b)",
      "1:3: error[E0106]: this starts no token\n" },
    { "another control character", T("\002\v\x7f"), "wrong(\\x02) wrong(\\x0b) wrong(\\x7f)",
      "1:1: error[E0106]: this starts no token\n1:2: error[E0106]: this starts no token\n"
      "1:3: error[E0106]: this starts no token\n" },
    { "byte order mark", T("\xef\xbb\xbflet"), "word(let)", "" },
    { "byte order mark and more", T("\xef\xbb\xbf\xc3\xa4"), "wrong(\\xc3\\xa4)", "1:4: error[E0106]: this starts no token\n" },
    { "byte order mark in the middle", T("a \xef\xbb\xbf"), "name(a) wrong(\\xef\\xbb\\xbf)",
      "1:3: error[E0106]: this starts no token\n" },
    { "other letters", T("\xc3\xa4 \xe2\x82\xac\xe2\x82\xac a\xc3\xb6"), "wrong(\\xc3\\xa4) "
      "wrong(\\xe2\\x82\\xac\\xe2\\x82\\xac) name(a) wrong(\\xc3\\xb6)",
      "1:1: error[E0106]: this starts no token\n1:4: error[E0106]: this starts no token\n"
      "1:12: error[E0106]: this starts no token\n" },
    { "no UTF-8", T("a \xff b"), "name(a) wrong(\\xff) name(b)", "1:3: error[E0103]: invalid UTF-8\n" },
    { "no UTF-8, only the first is told", T("\x80 \xc3"), "wrong(\\x80) wrong(\\xc3)",
      "1:1: error[E0103]: invalid UTF-8\n" },
    { "no UTF-8 in a string", T("\"\xff\""), "string(\"\\xff\")", "1:2: error[E0103]: invalid UTF-8\n" },
    { "no UTF-8 in a comment", T("a\n// \xc3\x28\nb"), "name(a) name(b)", "2:4: error[E0103]: invalid UTF-8\n" },
    { "overlong", T("\"\xc0\xaf\""), "string(\"\\xc0\\xaf\")", "1:2: error[E0103]: invalid UTF-8\n" },
    { "surrogate", T("\"\xed\xa0\x80\""), "string(\"\\xed\\xa0\\x80\")", "1:2: error[E0103]: invalid UTF-8\n" },
    { "cut off", T("\"\xe2\x82\""), "string(\"\\xe2\\x82\")", "1:2: error[E0103]: invalid UTF-8\n" },
    { "what others write", T("# ' & | ! ^ @ $ ~ ` \\"),
      "wrong(#) wrong(') wrong(&) | wrong(!) wrong(^) wrong(@) wrong($) wrong(~) wrong(`) wrong(\\)",
      "1:1: error[E0106]: this starts no token\n1:3: error[E0106]: this starts no token\n"
      "1:5: error[E0106]: this starts no token\n"
      "1:9: error[E0106]: this starts no token\n1:11: error[E0106]: this starts no token\n"
      "1:13: error[E0106]: this starts no token\n1:15: error[E0106]: this starts no token\n"
      "1:17: error[E0106]: this starts no token\n1:19: error[E0106]: this starts no token\n"
      "1:21: error[E0106]: this starts no token\n" },
};

static void reads(void **state)
{
    const lex_case *c = *state;
    const dfl_token *tokens;
    parsed p;
    uint32_t n;

    parsed_open(&p, "", 0);
    assert_string_equal(scan(&p, c->text, c->len, &tokens, &n), c->tokens);
    assert_string_equal(parsed_reports(&p), c->reports);
    check_pieces(&p, c->text, c->len, tokens, n);
    parsed_close(&p);
}

/* ---- places --------------------------------------------------------------------------------------------------- */

static void lists_tokens_with_places(void **state)
{
    static const char text[] = "let a=1; // c\r\n\t\"\xc3\xa4\\x\"4GB\n?\x01";
    parsed p;
    dfl_strbuf out;

    (void)state;
    parsed_open(&p, text, sizeof text - 1);
    dfl_strbuf_init(&out, p.arena);
    dfl_dump_tokens(&out, p.sources, &p.syntax);
    assert_string_equal(out.text, "1:1-1:4 keyword \"let\"\n"
                                  "1:5-1:6 name \"a\"\n"
                                  "1:6-1:7 symbol \"=\"\n"
                                  "1:7-1:8 number \"1\"\n"
                                  "1:8-1:9 symbol \";\"\n"
                                  "2:2-2:8 string \"\\\"\xc3\xa4\\\\x\\\"\"\n"
                                  "2:8-2:11 quantity \"4GB\"\n"
                                  "3:1-3:2 symbol \"?\"\n"
                                  "3:2-3:3 wrong \"\\x01\"\n"
                                  "3:3-3:3 end \"\"\n");
    parsed_close(&p);
}

static void helps(void **state)
{
    static const struct { const char *text, *help; } rows[] = {
        { "#", "comments begin with `//`" },
        { "'", "strings stand between double quotes" },
        { "'a'", "strings stand between double quotes" },
        { "`a`", "a name stands alone, without quotes" },
        { "#include", "files are imported by `import \"name.dfl\";`" },
        { "#define", "a constant is declared by `let name = value;`" },
        { "&", "write `&&` for \"and\"" },
        { "!", "write the opposite comparison, or `== 0`" },
        { "%", "comments begin with `//`" },
        { "a % b", "the rest of a division is `mod(a, b)`; a percentage is written `85%`" },
        { "^", "powers are `pow(a, b)`" },
        { "@", "a product of matrices names its ranks: `Z[m, n] += A[m, k] * B[k, n];`" },
        { "$", "names have no `$`" },
        { "\\", "a statement may go on in the next line without a mark; it ends in `;`" },
        { "\xce\xbc", "names are ASCII letters, digits and `_`; other characters belong in strings and comments" },
        { "\xe2\x80\x9c", "this is U+201C, which looks like `\"`" },
        { "\xe2\x89\xa4", "this is U+2264, which looks like `<=`" },
        { "\xef\xbc\x9b", "this is U+FF1B, which looks like `;`" },
        { "\xef\xbd\x9e", "this is U+FF5E, which looks like `~`" },
        { "\xc2\xa0\xe2\x80\x8b", "this is U+00A0, not an ASCII space" },
        { "\"", "close it with `\"`; a line break inside a string is written `\\n`" },
        { "/*", "close it with `*/`" },
        { "1e+", "write the exponent, as in `2e9`" },
        { "\xff", "save the file as UTF-8" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const dfl_token *tokens;
        parsed p;
        uint32_t n;

        parsed_open(&p, "", 0);
        scan(&p, rows[i].text, strlen(rows[i].text), &tokens, &n);
        assert_int_equal(dfl_sink_count(p.sink), 1);
        assert_string_equal(dfl_sink_at(p.sink, 0)->help, rows[i].help);
        parsed_close(&p);
    }
}

/* ---- every byte, every word, every unit ----------------------------------------------------------------------- */

static void every_byte_alone(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text = (char)c;
        const dfl_token *tokens;
        parsed p;
        uint32_t n;
        int want = DFL_TOK_DFL_YYerror;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
            want = DFL_TOK_IDENT;
        else if (c >= '0' && c <= '9')
            want = DFL_TOK_NUMBER;
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f')
            want = DFL_TOK_END;
        else if (c != 0 && strchr(";:,.(){}[]=+-*/<>?|", c))
            want = c;
        parsed_open(&p, "", 0);
        scan(&p, &text, 1, &tokens, &n);
        assert_int_equal(tokens[0].kind, want);
        assert_int_equal(n, want == DFL_TOK_END ? 1 : 2);
        assert_int_equal(dfl_sink_errors(p.sink), want == DFL_TOK_DFL_YYerror);
        parsed_close(&p);
    }
}

static int kind_of(parsed *p, const char *text)
{
    const dfl_token *tokens;
    uint32_t n;

    scan(p, text, strlen(text), &tokens, &n);
    assert_int_equal(n, 2);
    return tokens[0].kind;
}

static void every_word(void **state)
{
    static const struct { const char *text; int token; } words[] = {
#define DFL_KEYWORD(spelling, token, kind, edition) { spelling, DFL_TOK_##token },
#include "grammar/keywords.def"
#undef DFL_KEYWORD
    };
    parsed p;

    (void)state;
    parsed_open(&p, "", 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *upper = dfl_arena_printf(p.arena, "%s", words[i].text);

        *upper = (char)(*upper - 'a' + 'A');
        assert_int_equal(kind_of(&p, words[i].text), words[i].token);
        assert_int_equal(kind_of(&p, upper), DFL_TOK_IDENT);
        assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "%s_", words[i].text)), DFL_TOK_IDENT);
        assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "_%s", words[i].text)), DFL_TOK_IDENT);
    }
    parsed_close(&p);
}

/* With every prefix, before and behind a stroke. */
static void every_unit(void **state)
{
    static const char *const units[] = {
#define DFL_UNIT(name, prefixes, numerator, denominator, dimension) name,
#include "grammar/units.def"
#undef DFL_UNIT
    };
    static const char *const prefixes[] = { "",  "m", "u", "n",  "p",  "k",  "M",  "G",  "T", "P",
                                            "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    parsed p;

    (void)state;
    parsed_open(&p, "", 0);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && strcmp(units[u], "%") != 0; i++) {
            const char *unit = dfl_arena_printf(p.arena, "%s%s", prefixes[i], units[u]);

            assert_true(dfl_lex_is_unit(unit, strlen(unit)));
            assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "1.5%s", unit)), DFL_TOK_QUANTITY);
            assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "1e3%s/%s", unit, unit)), DFL_TOK_QUANTITY);
        }
        assert_false(dfl_lex_is_unit(dfl_arena_printf(p.arena, "x%s", units[u]), strlen(units[u]) + 1));
        assert_false(dfl_lex_is_unit(dfl_arena_printf(p.arena, "kk%s", units[u]), strlen(units[u]) + 2));
    }
    assert_int_equal(kind_of(&p, "85%"), DFL_TOK_QUANTITY);
    assert_false(dfl_lex_is_unit("", 0));
    assert_false(dfl_lex_is_unit("KiKiB", 5));
    parsed_close(&p);
}

/* ---- long ones ------------------------------------------------------------------------------------------------ */

static void long_tokens(void **state)
{
    enum { LONG = 400, LONGER = 100000 };
    char *digits = malloc(LONGER + 1);
    parsed p;

    (void)state;
    assert_non_null(digits);
    memset(digits, '7', LONGER);
    digits[LONGER] = '\0';
    parsed_open(&p, "", 0);
    assert_int_equal(kind_of(&p, digits), DFL_TOK_NUMBER);
    assert_int_equal(kind_of(&p, digits + LONGER - LONG), DFL_TOK_NUMBER);
    assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "%.*s.%.*sGB/s", (int)LONG, digits, (int)LONG, digits)),
                     DFL_TOK_QUANTITY);
    assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "1e%s", digits)), DFL_TOK_NUMBER);
    assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "a%.*s", DFL_MOST_NAME - 1, digits)), DFL_TOK_IDENT);
    assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "\"%s\"", digits)), DFL_TOK_STRING);
    assert_int_equal(dfl_sink_count(p.sink), 0);
    assert_int_equal(kind_of(&p, dfl_arena_printf(p.arena, "a%.*s", DFL_MOST_NAME, digits)), DFL_TOK_DFL_YYerror);
    assert_int_equal(dfl_sink_count(p.sink), 1);
    assert_int_equal(dfl_sink_at(p.sink, 0)->code, DFL_LIMIT_COUNT);
    parsed_close(&p);
    free(digits);
}

/* Reports stop at a limit; tokens do not. */
static void many_mistakes(void **state)
{
    enum { MANY = 1000 };
    char text[2 * MANY];
    const dfl_token *tokens;
    parsed p;
    uint32_t n;

    (void)state;
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "@ ", 2);
    parsed_open(&p, "", 0);
    dfl_sink_limit(p.sink, MANY);
    scan(&p, text, sizeof text, &tokens, &n);
    assert_int_equal(n, MANY + 1);
    assert_int_equal(dfl_sink_errors(p.sink), DFL_MOST_LEX_REPORTS);
    parsed_close(&p);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(lists_tokens_with_places), cmocka_unit_test(helps),      cmocka_unit_test(every_byte_alone),
        cmocka_unit_test(every_word),               cmocka_unit_test(every_unit), cmocka_unit_test(long_tokens),
        cmocka_unit_test(many_mistakes),
    };
    int failed = CHECK_TABLE("syntax.lex", cases, reads);

    return CHECK_GROUP("syntax.lex.more", others) + failed;
}
