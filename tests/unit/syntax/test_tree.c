/* Trees of whole files, of files cut off at any byte, and of parses stopped at any step; spans of nodes, row by row;
   doc comments without a declaration. */
#include "tests/unit/syntax/tree.h"

#include <stdio.h>

#include "lint/source.h"

/* ---- spans ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *text;
    const char *kind; /* of the node, expression or reference: the first one of this kind */
    const char *span; /* its text */
} span_case;

#define WORKLOAD(text) "workload w { " text " }"
#define SYSTEM(text) "system s { " text " }"
#define MAPPING(text) "mapping m for w on s { " text " }"

static const span_case cases[] = {
    { "edition", " dfl 1; ", "edition", "dfl 1;" },
    { "import", "import a . b as c; ", "import", "import a . b as c;" },
    { "param", "param a = 1 in 1..2 ;", "param", "param a = 1 in 1..2 ;" },
    { "workload", " workload w { } ", "workload", "workload w { }" },
    { "derived system", "system s = t { a = 1; } // b", "system", "system s = t { a = 1; }" },
    { "declaration with a doc comment", "/// a\nlet b = 1;", "let", "let b = 1;" },
    { "check", "let a = 1; require b < c ; let d = 1;", "check", "require b < c ;" },
    { "check with a source", "assume a == 1 from \"b\";", "check", "assume a == 1 from \"b\";" },
    { "check in a workload", WORKLOAD("expect macs == 3;"), "check", "expect macs == 3;" },
    { "check in a system", SYSTEM("require area < 1mm2;"), "check", "require area < 1mm2;" },
    { "check in a mapping", MAPPING("require latency < 1s;"), "check", "require latency < 1s;" },
    { "einsum", WORKLOAD("Z[m] = A[m] where m < 2;"), "einsum", "Z[m] = A[m] where m < 2;" },
    { "einsum with a role", WORKLOAD("output Z[m] = A[m];"), "einsum", "output Z[m] = A[m];" },
    { "tensor of an einsum", WORKLOAD("output Z[m] : i8 = A[m];"), "tensor", "Z[m] : i8" },
    { "ranks", WORKLOAD("rank a = 1, b = 2;"), "ranks", "rank a = 1, b = 2;" },
    { "rank", WORKLOAD("rank a = 1 + 1, b = 2;"), "rank", "a = 1 + 1" },
    { "binding", WORKLOAD("apply v as x { a.B = C, D; }"), "bind", "a.B = C, D;" },
    { "binding that is carried", WORKLOAD("repeat 2 as l carrying X = Y { }"), "bind", "X = Y" },
    { "apply", WORKLOAD("apply v as x;"), "apply", "apply v as x;" },
    { "if with else", WORKLOAD("if a { } else if b { } else { }"), "if", "if a { } else if b { } else { }" },
    { "memory", SYSTEM("memory d { size = 1B; }"), "memory", "memory d { size = 1B; }" },
    { "attribute", SYSTEM("clock = 1GHz;"), "attribute", "clock = 1GHz;" },
    { "axis", SYSTEM("array x[2], y[3] over n { }"), "axis", "x[2]" },
    { "use", SYSTEM("use t as u { a = 1; }"), "use", "use t as u { a = 1; }" },
    { "loop", MAPPING("temporal a, b:2 cyclic;"), "loop", "a" },
    { "loop with a tile", MAPPING("temporal b:2 cyclic;"), "loop", "b:2 cyclic" },
    { "hole", MAPPING("temporal a:? in {1, 2};"), "hole", "? in {1, 2}" },
    { "spread", MAPPING("spatial a:2, b on x pipeline(c) for T;"), "spread", "a:2, b on x pipeline(c)" },
    { "spatial", MAPPING("spatial a on x for T;"), "spatial", "spatial a on x for T;" },
    { "kept", MAPPING("keep A, B in d fresh, C in e;"), "kept", "A, B in d fresh" },
    { "branch", MAPPING("fuse { each a, b { } }"), "branch", "each a, b { }" },
    { "head", MAPPING("a.b[2] { }"), "head", "a.b[2]" },
    { "any lines", MAPPING("...;"), "anything", "...;" },
    { "varied", "sweep x for w on s { over a in 1..2 times 2; }", "varied", "a in 1..2 times 2" },
    { "limit of a sweep", "sweep x for w on s { require a < b; }", "require", "require a < b;" },
    { "range", "param a = 1 in 1..2*b step 3;", "range", "1..2*b step 3" },
    { "sum", "let a = b + c * (d);", "add", "b + c * (d)" },
    { "sum in parentheses", "let a = (b + c);", "add", "b + c" },
    { "call", "let a = b.c(d, e = 1);", "call", "b.c(d, e = 1)" },
    { "gather", "let a = gather T[i] by I[j];", "gather", "gather T[i] by I[j]" },
    { "string", "let a = \"b\\n\";", "string", "\"b\\n\"" },
    { "reference", "mapping m = t(a = 1) for w;", "ref", "t(a = 1)" },
};

typedef struct {
    const char *kind;
    dfl_span span;
    bool found;
} finder;

static void take(finder *f, const char *kind, dfl_span span)
{
    if (!f->found && strcmp(kind, f->kind) == 0)
        *f = (finder){ f->kind, span, true };
}

static void find_node(dfl_walk *walk, const dfl_ast_node *n, const char *as)
{
    (void)as;
    take(walk->state, dfl_ast_kind_text(n->kind), n->span);
}

static void find_expr(dfl_walk *walk, const dfl_expr *e, const char *as)
{
    (void)as;
    take(walk->state, dfl_expr_kind_text(e->kind), e->span);
}

static void find_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    (void)as;
    take(walk->state, "ref", ref->span);
}

static void has_span(void **state)
{
    const span_case *c = *state;
    finder f = { .kind = c->kind };
    dfl_walk walk = { .state = &f, .enter_node = find_node, .enter_expr = find_expr, .enter_ref = find_ref };
    parsed p;

    parsed_open(&p, c->text, strlen(c->text));
    assert_string_equal(parsed_reports(&p), "");
    dfl_walk_file(&walk, p.syntax.file);
    assert_true(f.found);
    assert_string_equal(compact_slice(&p, f.span), c->span);
    parsed_close(&p);
}

static void dumps_places(void **state)
{
    static const char text[] = "let a = f(b,\n  -1);\r\nmapping m = t for w;";
    parsed p;
    dfl_strbuf out;

    (void)state;
    parsed_open(&p, text, sizeof text - 1);
    dfl_strbuf_init(&out, p.arena);
    dfl_dump_ast(&out, p.sources, p.names, p.syntax.file);
    assert_string_equal(out.text, "declaration: let name=a @1:1-2:7\n"
                                  "  value: call path=f @1:9-2:6\n"
                                  "    argument: path path=b @1:11-1:12\n"
                                  "    argument: negate @2:3-2:5\n"
                                  "      left: number 1 @2:4-2:5\n"
                                  "declaration: mapping name=m @3:1-3:21\n"
                                  "  ref: ref path=t @3:13-3:14\n"
                                  "  for: ref path=w @3:19-3:20\n");
    parsed_close(&p);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

typedef struct { size_t files, met; } counts;

static void check_file(void *context, const char *path)
{
    counts *sum = context;
    size_t len;
    char *text = check_read_file(path, &len);
    parsed p;

    assert_non_null(text);
    parsed_open(&p, text, len);
    sum->met += tree_ok(&p);
    sum->files++;
    parsed_close(&p);
    free(text);
}

static void files_of_the_tree(void **state)
{
    counts sum = { 0 };

    (void)state;
    check_every_file("examples", check_file, &sum);
    check_every_file("stdlib", check_file, &sum);
    check_every_file("tests", check_file, &sum);
    printf("# %zu files, %zu nodes\n", sum.files, sum.met);
    assert_true(sum.files >= 40 && sum.met > 100 * sum.files);
}

static const char everything[] =
    "dfl 1; import a.b as c; param d = 1 in {1, 2}; let e = f(g = -1);\n"
    "op h(x, y) over k = 2FLOP;\n"
    "/// i\nworkload w(n = 2) : i8 { rank m = n; input A[m]; /// j\n Z[m] += A[m] * 2 where m < 1, m > 0;\n"
    "  apply v(1) as x { A = B; } repeat 2 as l carrying X = Y { } for k in 0..2 { }\n"
    "  if a { } else if b { } else { } }\n"
    "system s { clock = 1GHz; memory d { size = 1GB; read { width = 1B; } } array x[2] over n { compute c { } }\n"
    "  use t as u; }\n"
    "mapping m for w(1) on s { temporal m:? in {1, 2}, n:2 cyclic; \n"
    "  spatial m on x pipeline(a) for A; keep A, ? in d fresh split m/2 on x;\n"
    "  fuse { each a, b[1] { ...; } } minimize latency; require a < b; }\n"
    "sweep z for w on s { over a in 1..8 times 2; pareto area; } expect a within 1% of b from \"c\\n\";\n";

/* Files cut off at any byte. */
static void cut_off_at_any_byte(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof everything; len++) {
        parsed p;

        parsed_open(&p, everything, len);
        tree_ok(&p);
        assert_int_equal(p.syntax.ok, dfl_sink_errors(p.sink) == 0);
        parsed_close(&p);
    }
}

/* Files with one byte replaced. */
static void any_byte_wrong(void **state)
{
    static const char others[] = "{}();,:= a1\"\0/\xff";

    (void)state;
    for (size_t i = 0; i + 1 < sizeof everything; i += 3) {
        char text[sizeof everything];
        parsed p;

        memcpy(text, everything, sizeof text);
        text[i] = others[i / 3 % (sizeof others - 1)];
        parsed_open(&p, text, sizeof text - 1);
        tree_ok(&p);
        assert_int_equal(p.syntax.ok, dfl_sink_errors(p.sink) == 0);
        parsed_close(&p);
    }
}

static void open_within(parsed *p, const char *text, uint64_t steps, size_t memory)
{
    *p = (parsed){ .budget = { .steps_limit = steps, .memory_limit = memory } };
    p->arena = dfl_arena_new(&p->budget);
    p->sources = dfl_source_map_new(p->arena);
    p->names = dfl_intern_new(p->arena);
    p->sink = dfl_sink_new(p->arena, p->sources);
    p->syntax = parsed_more(p, "test.dfl", text, strlen(text));
}

/* A stopped parse reports the stop once and keeps the tree so far. */
static void stops_at_any_step(void **state)
{
    bool stopped = true;
    size_t stops = 0;

    (void)state;
    for (uint64_t steps = 1; stopped; steps += 7) {
        parsed p;
        size_t said = 0;

        open_within(&p, everything, steps, 0);
        stopped = p.budget.why == DFL_STOP_STEPS;
        for (size_t i = 0; i < dfl_sink_count(p.sink); i++)
            said += dfl_sink_at(p.sink, i)->code == DFL_LIMIT_STEPS;
        assert_int_equal(said, stopped);
        assert_int_equal(p.syntax.ok, !stopped);
        assert_int_equal(p.syntax.whole, !stopped);
        tree_ok(&p);
        stops += stopped;
        parsed_close(&p);
    }
    assert_true(stops > 10);
}

static void stops_without_memory(void **state)
{
    parsed p;

    (void)state;
    open_within(&p, everything, 0, 1);
    assert_int_equal(p.budget.why, DFL_STOP_MEMORY);
    assert_false(p.syntax.ok || p.syntax.whole);
    tree_ok(&p);
    parsed_close(&p);
}

/* ---- mistakes without end -------------------------------------------------------------------------------------- */

static void many_mistakes(void **state)
{
    enum { MANY = 2000, MOST_REPORTS = 256 };
    static const char mistake[] = "let = 1;\n";
    char *text = malloc(MANY * sizeof mistake);
    parsed p;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + i * (sizeof mistake - 1), mistake, sizeof mistake);
    parsed_open(&p, text, strlen(text));
    assert_true(dfl_sink_errors(p.sink) >= MOST_REPORTS);
    assert_true(dfl_sink_errors(p.sink) <= MOST_REPORTS + 1);
    parsed_close(&p);
    free(text);
}

/* ---- doc comments --------------------------------------------------------------------------------------------- */

static void stray_docs(void **state)
{
    static const char text[] = "/// of the file, far from it\n\n\n/// of a\nlet a = 1; /// behind\n"
                               "workload w {\n  /// of nothing\n  /// at all\n}\n"
                               "let b = 1 /// inside\n + 2;\n/// at the end\n";
    static const char *const want[] = { "/// of nothing", "/// inside", "/// at the end" };
    dfl_lint_levels levels = { 0 };
    parsed p;

    (void)state;
    parsed_open(&p, text, sizeof text - 1);
    assert_true(p.syntax.ok);
    assert_string_equal(p.syntax.file->items->more->doc, "of the file, far from it\nof a");
    assert_string_equal(p.syntax.file->items->next->more->doc, "behind");
    for (size_t i = 0; i < p.syntax.n_stray_docs && i < sizeof want / sizeof *want; i++)
        assert_string_equal(compact_slice(&p, p.syntax.stray_docs[i]), want[i]);
    assert_int_equal(p.syntax.n_stray_docs, sizeof want / sizeof *want);
    dfl_lint_stray_docs(p.sink, &levels, &p.syntax);
    assert_int_equal(dfl_sink_count(p.sink), sizeof want / sizeof *want);
    assert_string_equal(dfl_sink_at(p.sink, 0)->lint, "stray-doc");
    assert_int_equal(dfl_sink_at(p.sink, 0)->code, DFL_SYNTAX_STRAY_DOC);
    parsed_close(&p);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(files_of_the_tree), cmocka_unit_test(cut_off_at_any_byte),  cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(stops_at_any_step), cmocka_unit_test(stops_without_memory), cmocka_unit_test(many_mistakes),
        cmocka_unit_test(stray_docs),        cmocka_unit_test(dumps_places),
    };
    int failed = CHECK_TABLE("syntax.spans", cases, has_span);

    return CHECK_GROUP("syntax.trees", others) + failed;
}
