/* Erroneous texts: reports, their places, and the declarations and lines that are kept. The text of each row is read a
   second time as the second file of a session and must give the same. */
#include "tests/unit/syntax/tree.h"

typedef struct {
    const char *name, *text, *reports, *kept;
} recovery_case;

static const recovery_case cases[] = {
    { "not a declaration", "foo;\nlet z = 1;", "1:1: error[E0101]: expected a declaration, found `foo`\n", "let z" },
    { "not a declaration with braces", "foo a { b; { c; } }\nlet z = 1;",
      "1:1: error[E0101]: expected a declaration, found `foo`\n", "let z" },
    { "a closing brace too many", "let a = 1; }\nlet z = 1;",
      "1:12: error[E0101]: expected a declaration after `;`, found `}`\n", "let a let z" },
    { "a semicolon too many", "let a = 1;;\nlet z = 1;",
      "1:11: error[E0101]: expected a declaration after `;`, found `;`\n", "let a let z" },
    { "semicolon behind braces", "system s { };\nlet z = 1;",
      "1:13: error[E0101]: expected a declaration after `}`, found `;`\n", "system s {} let z" },
    { "no value", "let a = ;\nlet z = 1;", "1:9: error[E0101]: expected an expression after `=`, found `;`\n",
      "let z" },
    { "no name", "let = 1;\nlet z = 1;", "1:5: error[E0101]: expected a name after `let`, found `=`\n", "let z" },
    { "no equals sign", "let a 1;\nlet z = 1;", "1:7: error[E0101]: expected `=` after `a`, found `1`\n", "let z" },
    { "reserved word as a name", "let for = 1;\nlet z = 1;",
      "1:5: error[E0101]: expected a name after `let`, found `for`\n", "let z" },
    { "expression not finished", "let a = 1 + ;\nlet z = 1;",
      "1:13: error[E0101]: expected an expression after `+`, found `;`\n", "let z" },
    { "parenthesis not closed", "let a = (1 + 2;\nlet z = 1;",
      "1:15: error[E0101]: expected `)` or an operator after `2`, found `;`\n", "let z" },
    { "bracket not closed", "let a = T[1;\nlet z = 1;",
      "1:12: error[E0101]: expected `,`, `]` or an operator after `1`, found `;`\n", "let z" },
    { "closed by another", "let a = (1];\nlet z = 1;",
      "1:11: error[E0101]: expected `)` or an operator after `1`, found `]`\n", "let z" },
    { "two errors in two declarations", "let a = ;\nlet b = ;\nlet z = 1;",
      "1:9: error[E0101]: expected an expression after `=`, found `;`\n2:9: error[E0101]: expected an expression "
      "after `=`, found `;`\n", "let z" },
    { "two errors in one", "let a = ) + ];\nlet z = 1;",
      "1:9: error[E0101]: expected an expression after `=`, found `)`\n", "let z" },
    { "chained comparison", "let a = b < c < d;\nlet z = 1;",
      "1:15: error[E0101]: expected `;` or an operator after `c`, found `<`\n", "let z" },
    { "unit behind a blank", "let a = 40 GB;\nlet z = 1;",
      "1:12: error[E0101]: expected `;` or an operator after `40`, found `GB`\n", "let z" },
    { "power", "let a = 2 ** 3;\nlet z = 1;", "1:12: error[E0101]: expected an expression after `*`, found `*`\n",
      "let z" },
    { "arrow", "let a = b -> c;\nlet z = 1;", "1:12: error[E0101]: expected an expression after `-`, found `>`\n",
      "let z" },
    { "assignment in a condition", "require a = b;\nlet z = 1;",
      "1:11: error[E0101]: expected `;`, `exactly`, `from`, `within` or an operator after `a`, found `=`\n", "let z" },
    { "typed value", "let int a = 1;\nlet z = 1;", "1:9: error[E0101]: expected `=` after `int`, found `a`\n",
      "let z" },
    { "subtracting reduction", "workload w {\nZ[m] -= A[m];\n}\nlet z = 1;\n",
      "2:6: error[E0101]: expected `=`, `:`, a name or `+=` after `]`, found `-`\n", "workload w {} let z" },
    { "blank in a comparison", "let a = b < = c;\nlet z = 1;",
      "1:13: error[E0101]: expected an expression after `<`, found `=`\n", "let z" },
    { "misspelt declaration", "sytem s { memory d { } }\nlet z = 1;",
      "1:1: error[E0101]: no declaration begins with `sytem`\n", "let z" },
    { "misspelt line", "mapping m for w on s {\ntemporel k;\nkeep A in d;\n}\nlet z = 1;\n",
      "2:1: error[E0101]: no statement begins with `temporel`\n", "mapping m {keep} let z" },
    { "edition later", "let a = 1;\ndfl 1;", "2:1: error[E0110]: the edition comes too late\n", "let a edition" },
    { "unknown edition", "dfl 2;\nlet z = 1;", "1:5: error[E0110]: unknown edition\n", "edition let z" },
    { "edition with a fraction", "dfl 1.0;\nlet z = 1;", "1:5: error[E0110]: unknown edition\n", "edition let z" },
    { "unknown escape", "let a = \"b\\qc\";\nlet z = 1;", "1:11: error[E0111]: unknown escape in a string\n",
      "let a let z" },
    { "escaped letter of two bytes", "let a = \"b\\\303\244c\";\nlet z = 1;",
      "1:11: error[E0111]: unknown escape in a string\n", "let a let z" },
    { "wrong token", "let a = # 1;\nlet z = 1;", "1:9: error[E0106]: this starts no token\n", "let z" },
    { "string without an end", "let a = \"b;\nlet z = 1;", "1:9: error[E0104]: string is not closed on its line\n",
      "" },
    { "comment without an end", "let a = 1;\n/* b", "2:1: error[E0105]: comment is never closed\n", "" },
    { "statement of a workload", "workload w {\nrank m = 1;\nbad bad bad;\nZ[m] = A[m];\n}\nlet z = 1;\n",
      "3:9: error[E0101]: expected `=` after `bad`, found `bad`\n", "workload w {ranks einsum} let z" },
    { "statement of a system",
      "system s {\nclock = ;\nmemory d { size = ; bandwidth = 1B/s; }\nclock = 1GHz;\n}\nlet z = 1;\n",
      "2:9: error[E0101]: expected an expression after `=`, found `;`\n3:19: error[E0101]: expected an expression "
      "after `=`, found `;`\n", "system s {memory d {attribute bandwidth} attribute clock} let z" },
    { "statement of a mapping",
      "mapping m for w on s {\ntemporal ;\nkeep A in d;\nfuse { A { temporal ,; on c; } B }\n}\nlet z = 1;\n",
      "2:10: error[E0101]: expected a name or `?` after `temporal`, found `;`\n4:21: error[E0101]: expected a name "
      "or `?` after `temporal`, found `,`\n4:34: error[E0101]: expected `,` or `{` after `B`, found `}`\n",
      "mapping m {keep fuse {branch {on}}} let z" },
    { "statement of a fuse", "mapping m for w on s {\nfuse { A { } keep B; C { } }\n}\nlet z = 1;\n",
      "2:14: error[E0101]: expected `}` or a name after `}`, found `keep`\n",
      "mapping m {fuse {branch {} branch {}}} let z" },
    { "line of a sweep", "sweep x for w on s {\nover a;\nlet b = 1;\npareto latency;\n}\nlet z = 1;\n",
      "2:7: error[E0101]: expected `in` after `a`, found `;`\n3:1: error[E0101]: expected `}` or a statement after "
      "`;`, found `let`\n", "sweep x {pareto} let z" },
    { "binding", "system s = t { a 1; b = 2; }\nlet z = 1;", "1:18: error[E0101]: expected `=` after `a`, found `1`\n",
      "system s let z" },
    { "braces of a broken head are skipped",
      "workload w {\nfor k of 0..2 { rank m = 1; input A[m]; }\nrank n = 1;\n}\nlet z = 1;\n",
      "2:7: error[E0101]: expected `in` after `k`, found `of`\n", "workload w {ranks} let z" },
    { "broken head of a workload", "workload w( { rank m = 1; }\nlet z = 1;",
      "1:13: error[E0101]: expected `)` or a name after `(`, found `{`\n", "let z" },
    { "broken head of a system", "system { memory d { size = 1B; } }\nlet z = 1;",
      "1:8: error[E0101]: expected a name after `system`, found `{`\n", "let z" },
    { "else without if", "workload w {\nelse { rank m = 1; }\nrank n = 1;\n}\nlet z = 1;\n",
      "2:1: error[E0101]: expected `}` or a statement after `{`, found `else`\n", "workload w {ranks} let z" },
    { "empty memory list", "mapping m for w on s {\nkeep in d;\ntemporal m;\n}\nlet z = 1;\n",
      "2:6: error[E0101]: expected a name or `?` after `keep`, found `in`\n", "mapping m {temporal} let z" },
    { "hole in an expression", "let a = ?;\nlet z = 1;",
      "1:9: error[E0101]: expected an expression after `=`, found `?`\n", "let z" },
    { "empty set", "param a = 1 in {};\nlet z = 1;",
      "1:17: error[E0101]: expected an expression after `{`, found `}`\n1:18: error[E0101]: expected a declaration "
      "after `}`, found `;`\n", "let z" },
    { "trailing comma", "let a = f(1, );\nlet z = 1;",
      "1:14: error[E0101]: expected an expression after `,`, found `)`\n", "let z" },
    { "type of a loop", "mapping m for w on s {\ntemporal m=8;\n}\nlet z = 1;\n",
      "2:11: error[E0101]: expected `;`, `,`, `:`, `online` or `/` after `m`, found `=`\n", "mapping m {} let z" },
    { "size of parts", "mapping m for w on s {\ntemporal m 8;\n}\nlet z = 1;\n",
      "2:12: error[E0101]: expected `;`, `,`, `:`, `online` or `/` after `m`, found `8`\n", "mapping m {} let z" },
    { "loop in parentheses", "workload w {\nfor (k in 0..2) { rank m = 1; }\nrank n = 1;\n}\nlet z = 1;\n",
      "2:5: error[E0101]: expected a name after `for`, found `(`\n", "workload w {ranks} let z" },
    { "exactly and within", "expect a exactly b within 1% of c;\nlet z = 1;",
      "1:20: error[E0101]: expected `;`, `from` or an operator after `b`, found `within`\n", "let z" },
    { "within and exactly", "expect a within 1% of c exactly b;\nlet z = 1;",
      "1:25: error[E0101]: expected `;`, `from` or an operator after `c`, found `exactly`\n", "let z" },
    { "within without of", "expect a within 1%;\nlet z = 1;",
      "1:19: error[E0101]: expected `of` or an operator after `1%`, found `;`\n", "let z" },
    { "from without a string", "expect a from b;\nlet z = 1;",
      "1:15: error[E0101]: expected a string after `from`, found `b`\n", "let z" },
    { "missing brace at the end", "workload w {\nrank m = 1;\n", "1:12: error[E0101]: missing `}`\n",
      "workload w {ranks}" },
    { "missing braces at the end", "system s {\nmemory d {\nsize = 1GB;\n", "2:10: error[E0101]: missing `}`\n",
      "system s {memory d {attribute size}}" },
    { "missing brace before a declaration", "workload w {\nrank m = 1;\nsystem s { }\n",
      "1:12: error[E0101]: missing `}`\n", "workload w {ranks} system s {}" },
    { "missing brace in the middle", "system s {\nmemory d {\nsize = 1GB;\n}\nworkload w { }\n",
      "1:10: error[E0101]: missing `}`\n", "system s {memory d {attribute size}} workload w {}" },
    { "the indentation shows the missing brace", "system s {\n  memory d {\n    size = 1GB;\n"
      "  array a[2] { }\n}\nworkload w { }\n",
      "2:12: error[E0101]: missing `}`\n", "system s {memory d {attribute size} array {}} workload w {}" },
    { "a brace that closes another one", "system s {\n  array a[2] {\n    memory d {\n      size = 1GB;\n    }\n}\n",
      "2:14: error[E0101]: missing `}`\n", "system s {array {memory d {attribute size}}}" },
    { "missing semicolon and brace", "workload w {\nrank m = 1",
      "1:12: error[E0101]: missing `}`\n2:11: error[E0102]: missing `;`\n", "workload w {ranks}" },
    { "missing semicolon at the end", "let a = 1", "1:10: error[E0102]: missing `;`\n", "let a" },
    { "missing semicolon in a line", "let a = 1\nlet z = 1;", "1:10: error[E0102]: missing `;`\n", "let a let z" },
    { "missing semicolon before a brace", "system s {\nclock = 1GHz\n}\nlet z = 1;\n",
      "2:13: error[E0102]: missing `;`\n", "system s {attribute clock} let z" },
    { "missing semicolon before a comment", "let a = 1 // b\nlet z = 1;", "1:10: error[E0102]: missing `;`\n",
      "let a let z" },
    { "missing semicolon on the same line", "let a = 1 let z = 1;",
      "1:11: error[E0101]: expected `;` or an operator after `1`, found `let`\n", "" },
    { "two missing semicolons", "let a = 1\nlet b = 2\nlet z = 1;",
      "1:10: error[E0102]: missing `;`\n2:10: error[E0102]: missing `;`\n", "let a let b let z" },
    { "missing semicolon before a name", "workload w {\nZ[m] = A[m]\nY[m] = B[m];\n}\nlet z = 1;\n",
      "2:12: error[E0102]: missing `;`\n", "workload w {einsum einsum} let z" },
    { "missing semicolon of a check", "expect a\nexpect b;", "1:9: error[E0102]: missing `;`\n", "check check" },
    { "line that goes on", "let a = 1 +\nb;\nlet c = f\n(1);\nlet d = T\n[2];", "", "let a let c let d" },
    { "nothing but names", "a b c d e f", "1:1: error[E0101]: expected a declaration, found `a`\n", "" },
    { "missing semicolon behind a set", "param a = 1 in {1, 2}\nlet z = 1;", "1:22: error[E0102]: missing `;`\n",
      "param a let z" },
    { "missing semicolon behind a set at the end", "mapping m for w on s {\ntemporal m:? in {1, 2}\n}\nlet z = 1;\n",
      "2:23: error[E0102]: missing `;`\n", "mapping m {temporal} let z" },
    { "list of a set over lines", "param a = 1 in {1,\nb};\nparam c = 1 in {\nb\n};", "", "param a param c" },
    { "set not closed", "param a = 1 in {1, 2;\nlet z = 1;",
      "1:21: error[E0101]: expected `,`, `}` or an operator after `2`, found `;`\n", "let z" },
    { "long token",
      "let abcdefghijklmnopqrstuvwxyz 1;\n"
      "let "
      "\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303"
      "\266\303\274;",
      "1:32: error[E0101]: expected `=` after `abcdefghijklmnopqrstu...`, found `1`\n2:5: error[E0106]: this "
      "starts no token\n", "" },
    { "bracket closed twice", "let a = (1));\nlet z = 1;",
      "1:12: error[E0101]: expected `;` or an operator after `)`, found `)`\n", "let z" },
    { "long string",
      "let a \"\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\";",
      "1:7: error[E0101]: expected `=` after `a`, found "
      "`\"\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\303\244...`\n", "" },
    { "long string cut in a letter",
      "let a \"x\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274\";",
      "1:7: error[E0101]: expected `=` after `a`, found "
      "`\"x\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303\274...`\n", "" },
};

static void recovers(void **state)
{
    const recovery_case *c = *state;
    parsed p;

    parsed_open(&p, c->text, strlen(c->text));
    assert_string_equal(parsed_reports(&p), c->reports);
    assert_string_equal(compact_nodes(&p, p.syntax.file), c->kept);
    assert_int_equal(p.syntax.ok, c->reports[0] == '\0');
    assert_int_equal(p.syntax.whole, strstr(c->reports, "E0102") != NULL
                                         ? strstr(c->reports, "E0101") == NULL : p.syntax.ok);
    tree_ok(&p);
    parsed_close(&p);
}

/* ---- help ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *text, *help;
    const char *edit; /* text that replaces the mistake, or NULL */
    const char *label;
} help_case;

static const help_case helps[] = {
    { "unit behind a blank", "let a = 40 GB;", "a unit stands directly behind its number: `40GB`", "", NULL },
    { "no unit behind a blank", "let a = 40 cows;", NULL, NULL, NULL },
    { "subtraction as a reduction", "workload w { Z[m] = A[m] - = 1; }",
      "reductions are `+=`, `max=` and `min=`", NULL, NULL },
    { "multiplication as a reduction", "let a = b *= 2;", "reductions are `+=`, `max=` and `min=`", NULL, NULL },
    { "blank in a comparison", "let a = b < = c;", "write `<=` and `>=` without a blank", NULL, NULL },
    { "blank in an equality", "let a = = b;", "a definition has one `=`; equality is `==`", NULL, NULL },
    { "power", "let a = 2 ** 3;", "powers are `pow(a, b)`", NULL, NULL },
    { "arrow", "let a = b -> c;", "DFL has no arrows; a comparison is `>` or `>=`", NULL, NULL },
    { "fat arrow", "let a => c;", "a definition is written `name = value;`, with `=` alone", "", NULL },
    { "dotted attribute", "system s { memory d { read.x = 1; } }",
      "attributes of a group stand in braces: `rate { i8 = 1MAC/cycle; }`", " { ", NULL },
    { "equality as a definition", "system s { memory d { read.x == 1; } }",
      "attributes of a group stand in braces: `rate { i8 = 1MAC/cycle; }`", " { ", NULL },
    { "definition without a name", "let == 1;", NULL, NULL, NULL },
    { "equality behind a word that is a name", "let step == 1;",
      "a definition is written `name = value;`", "=", NULL },
    { "semicolon behind braces", "system s { };", "remove the `;`: none follows a `}`", "", NULL },
    { "hole in an expression", "let a = ?;",
      "a hole can stand only in a line of a mapping; write a value here", NULL, NULL },
    { "tile as a definition", "mapping m for w on s { temporal r = 8; }",
      "`r:T` makes tiles of `T` elements, and `r/K` makes `K` tiles", ":", NULL },
    { "brace missing behind a head", "system s\n    clock = 1GHz;\n}", "add `{`", " {", NULL },
    { "quotient as a comment", "workload w { rank m = N // 2;\n rank k = 1; }",
      "`//` begins a comment; a quotient is `floor(a / b)` or `ceil(a / b)`", NULL, NULL },
    { "loop of another language", "workload w { for (i = 0; i < 4; i++) { } }",
      "a `for` loop is written without parentheses: `for k in 0..n { }`", NULL, NULL },
    { "condition as a definition", "expect a = 1;", "equality is `==`", "==", NULL },
    { "type before a tensor", "workload w { input i8 A[m]; }", "the type stands behind the tensor: `A[m, k] : i8`", "", NULL },
    { "colon in a sum", "workload w { if a : b { } }",
      "`r:T` makes tiles of `T` elements, and `r/K` makes `K` tiles", NULL, NULL },
    { "loop in parentheses", "workload w { for (k in 0..2) { } }",
      "a `for` loop is written without parentheses: `for k in 0..n { }`", NULL, NULL },
    { "typed value", "let int a = 1;", "values are declared without a type: `let name = value;`", NULL, NULL },
    { "chained comparison", "let a = b < c < d;", "comparisons do not chain: write `a < b && b < c`", NULL, NULL },
    { "both kinds of tolerance", "expect a exactly b within 1% of c;",
      "a check is `a exactly b` or `a within p of b`, not both",
      NULL, NULL },
    { "both kinds of tolerance, the other way round", "expect a within 1% of b exactly c;",
      "a check is `a exactly b` or `a within p of b`, not both", NULL, NULL },
    { "reserved word", "let for = 1;", "`for` is a keyword; choose another name", NULL, NULL },
    { "misspelt declaration", "sytem s { }", NULL, "system", NULL },
    { "misspelt line", "mapping m for w on s { temporel k; }", NULL, "temporal", NULL },
    { "no known word", "xyzzy s { }", NULL, NULL, NULL },
    { "parenthesis not closed", "let a = (1;", "close it with `)`", ")", "this `(` is not closed" },
    { "bracket not closed by a parenthesis", "let a = T[1);", "close it with `]`", "]", "this `[` is not closed" },
    { "brace not closed", "workload w { rank m = 1;", "add `}`", "\n}", NULL },
    { "brace not closed behind half a line", "workload w { rank m = ", NULL, NULL, "this `{` is not closed" },
    { "missing semicolon", "let a = 1", "add `;`", ";", NULL },
};

static void assert_text(const char *got, const char *want)
{
    assert_int_equal(got == NULL, want == NULL);
    if (want != NULL)
        assert_string_equal(got, want);
}

static void gives_help(void **state)
{
    const help_case *c = *state;
    const dfl_diag *d;
    parsed p;

    parsed_open(&p, c->text, strlen(c->text));
    assert_int_equal(dfl_sink_count(p.sink), 1);
    d = dfl_sink_at(p.sink, 0);
    assert_text(d->help, c->help);
    assert_text(d->edits != NULL ? d->edits->text : NULL, c->edit);
    assert_text(d->labels != NULL ? d->labels->text : NULL, c->label);
    parsed_close(&p);
}

/* ---- others --------------------------------------------------------------------------------------------------- */

static void nul_in_a_string(void **state)
{
    static const char text[] = "import \"a\0b\";\nlet c = 1;";
    parsed p;

    (void)state;
    parsed_open(&p, text, sizeof text - 1);
    assert_string_equal(parsed_reports(&p), "1:10: error[E0112]: a string cannot contain a NUL byte\n");
    assert_string_equal(compact_nodes(&p, p.syntax.file), "import let c");
    tree_ok(&p);
    parsed_close(&p);
}

static void span_of_an_escape(void **state)
{
    static const char text[] = "let a = \"\xc3\xa4\\\xe2\x82\xac\xc3\xa4\";";
    parsed p;

    (void)state;
    parsed_open(&p, text, sizeof text - 1);
    assert_int_equal(dfl_sink_count(p.sink), 1);
    assert_string_equal(compact_slice(&p, dfl_sink_at(p.sink, 0)->span), "\\\xe2\x82\xac");
    assert_string_equal(dfl_sym_text(p.names, p.syntax.file->items->value->sym), "\xc3\xa4\xc3\xa4");
    parsed_close(&p);
}

int main(void)
{
    const struct CMUnitTest others[] = { cmocka_unit_test(nul_in_a_string), cmocka_unit_test(span_of_an_escape) };
    int failed = CHECK_TABLE("syntax.recovery", cases, recovers);

    failed += CHECK_TABLE("syntax.help", helps, gives_help);
    return CHECK_GROUP("syntax.strings", others) + failed;
}
