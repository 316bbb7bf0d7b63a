/* Precedence of every pair of operators, keywords that may also be names, and limits of nesting. */
#include "tests/unit/syntax/tree.h"

#include <stdio.h>

#include "syntax/parser.h"

/* ---- operators ------------------------------------------------------------------------------------------------ */

static const struct { const char *sign; int level; } operators[] = {
    { "||", 0 }, { "&&", 1 }, { "<", 2 }, { ">", 2 }, { "<=", 2 }, { ">=", 2 }, { "==", 2 }, { "!=", 2 },
    { "+", 3 },  { "-", 3 },  { "*", 4 }, { "/", 4 },
};

enum { N_OPERATORS = sizeof operators / sizeof *operators, COMPARISON = 2 };

static void open_expr(parsed *p, const char *text)
{
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);
    const char *whole = dfl_arena_printf(arena, "let x = %s;", text);

    parsed_open(p, whole, strlen(whole));
    dfl_arena_free(arena);
}

static const char *grouped(parsed *p)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    compact_expr(p, &out, p->syntax.file->items->value);
    return out.text;
}

/* In `a OP b OP c` the operator of higher precedence binds first, equal ones from left to right; comparisons do not chain. */
static void every_pair_of_operators(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OPERATORS; i++) {
        for (size_t k = 0; k < N_OPERATORS; k++) {
            char text[32], want[32];
            parsed p;

            snprintf(text, sizeof text, "a %s b %s c", operators[i].sign, operators[k].sign);
            snprintf(want, sizeof want, operators[i].level >= operators[k].level ? "((a%sb)%sc)" : "(a%s(b%sc))",
                     operators[i].sign, operators[k].sign);
            open_expr(&p, text);
            if (operators[i].level == COMPARISON && operators[k].level == COMPARISON) {
                assert_int_equal(dfl_sink_errors(p.sink), 1);
                assert_int_equal(dfl_sink_at(p.sink, 0)->code, DFL_SYNTAX_UNEXPECTED);
                assert_string_equal(compact_slice(&p, dfl_sink_at(p.sink, 0)->span), operators[k].sign);
                assert_non_null(dfl_sink_at(p.sink, 0)->help);
                assert_string_equal(dfl_sink_at(p.sink, 0)->help, "comparisons do not chain: write `a < b && b < c`");
            } else {
                assert_true(p.syntax.ok);
                assert_string_equal(grouped(&p), want);
            }
            parsed_close(&p);
        }
    }
}

typedef struct {
    const char *name, *text, *want;
} group_case;

static const group_case groups[] = {
    { "sign before a product", "-a * b", "((-a)*b)" },
    { "sign before a sum", "-a + b", "((-a)+b)" },
    { "sign behind an operator", "a * -b / -c", "((a*(-b))/(-c))" },
    { "two signs", "--a", "(-(-a))" },
    { "sign and difference", "a - -b - c", "((a-(-b))-c)" },
    { "sign of a call", "-f(1)", "(-f(1))" },
    { "parentheses", "a * (b + c) * d", "((a*(b+c))*d)" },
    { "parentheses on the right", "a - (b - c)", "(a-(b-c))" },
    { "compared comparisons", "(a < b) == (c < d)", "((a<b)==(c<d))" },
    { "all levels", "a || b && c < d + e * -f", "(a||(b&&(c<(d+(e*(-f))))))" },
    { "all levels from the other side", "-a * b + c < d && e || f", "((((((-a)*b)+c)<d)&&e)||f)" },
    { "four of one level", "a / b * c / d", "(((a/b)*c)/d)" },
};

static void groups_operators(void **state)
{
    const group_case *c = *state;
    parsed p;

    open_expr(&p, c->text);
    assert_true(p.syntax.ok);
    assert_string_equal(grouped(&p), c->want);
    parsed_close(&p);
}

/* ---- words that are also names -------------------------------------------------------------------------------- */

typedef struct { const char *text; int token; } word;

static const word words[] = {
#define DFL_KEYWORD(spelling, token, kind, edition) { spelling, DFL_TOK_##token },
#include "grammar/keywords.def"
#undef DFL_KEYWORD
};

enum { N_WORDS = sizeof words / sizeof *words };

/* All places where a name may stand; `%` is replaced by the word. */
static const char *const places[] = {
    "let % = 1;", "let a = %;", "let a = % + %;", "let a = b.%;", "let a = %.b;", "let a = %(1);", "let a = f(% = 1);",
    "let a = %[i];", "let a = T[%];", "let a = T[%: B];", "let a = -%;", "let a = (%);", "param % = 1;", "op %(x) = 1;",
    "op f(%, y) over % = 1;", "option % = 1;", "import %;", "import a.% as %;", "workload % { }",
    "workload w(%, a) { }",
    "workload w : % { }", "workload w = %(1);", "workload w { rank % = 1; }", "workload w { input %[m]; }",
    "workload w { Z[m] += %[m] over %; }", "workload w { apply % as %; }",
    "workload w { repeat 2 as % carrying % = % { } }",
    "workload w { for % in 0..% { } }", "workload w { if % { } }", "system % { }", "system s { % = 1; }",
    "system s { % { % = 1; } }", "system s { memory % { } }", "system s { network % = %; }", "system s { use % as %; }",
    "system s { array %[%] over % { } }", "system s { element % { compute % { } } }", "system s = t { % = %, %; }",
    "mapping % for % on % { }", "mapping m = % for % on %;", "mapping m for w on s { temporal %, a:%, %/2; }",
    "mapping m for w on s { spatial % on % for %; }", "mapping m for w on s { keep %, % in %; }",
    "mapping m for w on s { on %; recompute %; }", "mapping m for w on s { fuse { each % { } } }",
    "mapping m for w on s { use %; }", "mapping m for w on s { minimize %; pareto %; }", "require % < %;",
    "expect % exactly %;", "expect % within % of %;", "sweep % for % on % { over % in {%}; mapping %; }",
};

static const char *with_word(dfl_arena *arena, const char *place, const char *text)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (; *place != '\0'; place++)
        if (*place == '%')
            dfl_strbuf_z(&out, text);
        else
            dfl_strbuf_char(&out, *place);
    return out.text;
}

/* The lists of words in REFERENCE.md, words between backquotes. */
static bool reference_lists(const char *reference, const char *from, const char *text)
{
    const char *at = strstr(reference, from), *end = at ? strchr(strchr(at, '`') + 1, '`') : NULL;
    size_t len = strlen(text);

    assert_non_null(end);
    for (at = strchr(at, '`') + 1; at < end; at += strcspn(at, " \n`") + 1)
        if (strncmp(at, text, len) == 0 && strchr(" \n`", at[len]) != NULL)
            return true;
    return false;
}

static void words_that_are_names(void **state)
{
    size_t len, names = 0;
    char *reference = check_read_file("grammar/REFERENCE.md", &len);
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);

    (void)state;
    assert_non_null(reference);
    for (size_t i = 0; i < N_WORDS; i++) {
        bool is_name = dfl_token_is_name(words[i].token);

        if (reference_lists(reference, "Keywords that stay usable as names:", words[i].text) != is_name ||
            reference_lists(reference, "The others are reserved:", words[i].text) == is_name)
            fail_msg("%s is %s; the reference says otherwise", words[i].text, is_name ? "a name" : "reserved");
        names += is_name;
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            const char *text = with_word(arena, places[k], words[i].text);
            parsed p;

            parsed_open(&p, text, strlen(text));
            if (p.syntax.ok != is_name)
                fail_msg("%s\n%s", text, parsed_reports(&p));
            tree_ok(&p);
            parsed_close(&p);
        }
    }
    assert_int_equal(names, 39);
    assert_true(dfl_token_is_name(DFL_TOK_IDENT));
    assert_false(dfl_token_is_name(DFL_TOK_NUMBER) || dfl_token_is_name('(') || dfl_token_is_name(DFL_TOK_END));
    dfl_arena_free(arena);
    free(reference);
}

/* ---- nesting -------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *before, *open, *inside, *close, *behind;
    unsigned fits; /* number of levels that may be open */
} nest_case;

static const nest_case nests[] = {
    { "parentheses", "let a = ", "(", "1", ")", ";", DFL_MAX_DEPTH },
    { "calls", "let a = ", "f(", "1", ")", ";", DFL_MAX_DEPTH - 1 },
    { "indices", "let a = ", "T[", "1", "]", ";", DFL_MAX_DEPTH - 1 },
    { "signs", "let a = ", "-", "1", "", ";", DFL_MAX_DEPTH - 1 },
    { "sums to the left", "let a = 1", "+1", "", "", ";", DFL_MAX_DEPTH - 1 },
    { "names of a path", "let a = b", ".b", "", "", ";", DFL_MAX_DEPTH - 1 },
    { "ifs", "workload w { ", "if a { ", "", "}", "}", DFL_MAX_DEPTH - 1 },
    { "elses", "workload w { if a { }", " else if a { }", "", "", "}", DFL_MAX_DEPTH - 2 },
    { "elements", "system s { ", "element e { ", "", "}", "}", DFL_MAX_DEPTH - 1 },
    { "groups of attributes", "system s { ", "a { ", "", "}", "}", DFL_MAX_DEPTH - 1 },
    { "branches", "mapping m for w on s { ", "A { ", "", "}", "}", DFL_MAX_DEPTH - 1 },
};

/* 0 if the text parses, else the code of the only report. */
static int nested(const nest_case *c, unsigned n)
{
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_strbuf text;
    parsed p;
    int code;

    dfl_strbuf_init(&text, arena);
    dfl_strbuf_z(&text, c->before);
    for (unsigned i = 0; i < n; i++)
        dfl_strbuf_z(&text, c->open);
    dfl_strbuf_z(&text, c->inside);
    for (unsigned i = 0; i < n; i++)
        dfl_strbuf_z(&text, c->close);
    dfl_strbuf_z(&text, c->behind);
    parsed_open(&p, text.text, text.len);
    assert_int_equal(p.syntax.ok, dfl_sink_count(p.sink) == 0);
    assert_true(dfl_sink_count(p.sink) <= 1);
    code = p.syntax.ok ? 0 : (int)dfl_sink_at(p.sink, 0)->code;
    if (p.syntax.ok)
        tree_ok(&p);
    parsed_close(&p);
    dfl_arena_free(arena);
    return code;
}

static void nesting_has_a_limit(void **state)
{
    const nest_case *c = *state;

    assert_int_equal(nested(c, 1), 0);
    assert_int_equal(nested(c, c->fits), 0);
    assert_int_equal(nested(c, c->fits + 1), DFL_SYNTAX_TOO_DEEP);
    assert_int_equal(nested(c, 10 * c->fits), DFL_SYNTAX_TOO_DEEP);
    assert_int_equal(nested(c, 1000 * c->fits), DFL_SYNTAX_TOO_DEEP);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(every_pair_of_operators), cmocka_unit_test(words_that_are_names),
    };
    int failed = CHECK_TABLE("syntax.groups", groups, groups_operators);

    failed += CHECK_TABLE("syntax.nesting", nests, nesting_has_a_limit);
    return CHECK_GROUP("syntax.expr", others) + failed;
}
