/*
 * Renderers. A case is a source text in which `[` and `]` enclose the primary place and `{` and `}` the secondary
 * ones (they are taken out before rendering); labels and remarks come from the case.
 */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "diag/render.h"
#include "diag/render_json.h"
#include "diag/render_sarif.h"
#include "diag/render_text.h"
#include "support/json.h"

typedef struct {
    const char *name;
    const char *text;
    const char *here;      /* label of the primary place */
    const char *labels[3]; /* of the secondary places, in the order of their `{` */
    const char *note, *help;
    const char *edit;      /* replaces the primary place */
    const char *want;
} text_case;

static const text_case cases[] = {
    { "caret on the token",
      "mapping m {\n    spatial [KK] on pe;\n}\n", "not a rank", { 0 }, NULL, NULL, "K",
      "a.dfl:2:13: error[E0301]: message\n"
      "    2 |     spatial KK on pe;\n"
      "      |             ^^ not a rank\n"
      "      = help: replace with `K`\n" },
    { "label on another line",
      "einsum {conv} = a;\n  spatial [KK] on pe;\n", NULL, { "declared here" }, "a note", "do this", NULL,
      "a.dfl:2:11: error[E0301]: message\n"
      "    2 |   spatial KK on pe;\n"
      "      |           ^^\n"
      "    1 | einsum conv = a;\n"
      "      |        ~~~~ declared here\n"
      "      = note: a note\n"
      "      = help: do this\n" },
    { "labels on one line",
      "a [bb] {cc} d\n", "first", { "second" }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 | a bb cc d\n"
      "      |   ^^ ~~ second\n"
      "      |   |\n"
      "      |   first\n" },
    { "three labels on one line",
      "{a} [bb] {cc} d\n", "primary", { "left", "right" }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 | a bb cc d\n"
      "      | ~ ^^ ~~ right\n"
      "      | | |\n"
      "      | | primary\n"
      "      | |\n"
      "      | left\n" },
    { "label without text between two",
      "{a} [bb] {cc} d\n", NULL, { "left", "right" }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 | a bb cc d\n"
      "      | ~ ^^ ~~ right\n"
      "      | |\n"
      "      | left\n" },
    { "place inside a place",
      "{a [bb] c}\n", "inner", { "outer" }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 | a bb c\n"
      "      | ~~^^~~\n"
      "      | | |\n"
      "      | | inner\n"
      "      | |\n"
      "      | outer\n" },
    { "other lines follow, by position",
      "one {two}\nthree {four}\nfive [six]\n", "here", { "a", "b" }, NULL, NULL, NULL,
      "a.dfl:3:6: error[E0301]: message\n"
      "    3 | five six\n"
      "      |      ^^^ here\n"
      "    1 | one two\n"
      "      |     ~~~ a\n"
      "    2 | three four\n"
      "      |       ~~~~ b\n" },
    { "a point",
      "let x = 1[]\nlet y = 2;\n", NULL, { 0 }, NULL, NULL, ";",
      "a.dfl:1:10: error[E0301]: message\n"
      "    1 | let x = 1\n"
      "      |          ^\n"
      "      = help: insert `;`\n" },
    { "removal beside a help line",
      "let [x] = 1;\n", NULL, { 0 }, "why", "take it out", "",
      "a.dfl:1:5: error[E0301]: message\n"
      "    1 | let x = 1;\n"
      "      |     ^\n"
      "      = note: why\n"
      "      = help: take it out\n"
      "      = fix: remove `x`\n" },
    { "an edit that the help line quotes is not told twice",
      "let x = 1[]\n", NULL, { 0 }, NULL, "add `;`", ";",
      "a.dfl:1:10: error[E0301]: message\n"
      "    1 | let x = 1\n"
      "      |          ^\n"
      "      = help: add `;`\n" },
    { "tabs stand for columns up to a multiple of four",
      "\ta\t[b]\tc\n", "b", { 0 }, NULL, NULL, NULL,
      "a.dfl:1:4: error[E0301]: message\n"
      "    1 |     a   b   c\n"
      "      |         ^ b\n" },
    { "wide and combining characters",
      "\xe6\x95\xb0 e\xcc\x81 [\xe6\x95\xb0] x\n", "wide", { 0 }, NULL, NULL, NULL,
      "a.dfl:1:9: error[E0301]: message\n"
      "    1 | \xe6\x95\xb0 e\xcc\x81 \xe6\x95\xb0 x\n"
      "      |      ^^ wide\n" },
    { "bytes that a terminal must not see",
      "a\x1b\xff [b]\xe2\x80\xae\n", "b\x1b", { 0 }, NULL, NULL, NULL,
      "a.dfl:1:5: error[E0301]: message\n"
      "    1 | a\xef\xbf\xbd\xef\xbf\xbd b\xef\xbf\xbd\n"
      "      |     ^ b\xef\xbf\xbd\n" },
    { "a note of two lines",
      "[a]\n", NULL, { 0 }, "first\nsecond", NULL, NULL,
      "a.dfl:1:1: error[E0301]: message\n"
      "    1 | a\n"
      "      | ^\n"
      "      = note: first\n"
      "              second\n" },
    { "carriage returns stay outside",
      "a [b]\r\nc\r\n", "b", { 0 }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 | a b\n"
      "      |   ^ b\n" },
    { "the line end itself",
      "a b[\n]c\n", NULL, { 0 }, NULL, NULL, NULL,
      "a.dfl:1:4: error[E0301]: message\n"
      "    1 | a b\n"
      "      |    ^\n" },
    { "the end of the file",
      "a\n[]", "end of file", { 0 }, NULL, NULL, NULL,
      "a.dfl:2:1: error[E0301]: message\n"
      "    2 |\n"
      "      | ^ end of file\n" },
    { "a block of whole lines",
      "x\n  [m {\n    y\n  }] z\n", "this block", { 0 }, NULL, NULL, NULL,
      "a.dfl:2:3: error[E0301]: message\n"
      "    2 | /   m {\n"
      "    3 | |     y\n"
      "    4 | |   } z\n"
      "      | |___^ this block\n" },
    { "a block that starts inside a line",
      "x = [f(\n  y\n)];\n", "this call", { 0 }, NULL, NULL, NULL,
      "a.dfl:1:5: error[E0301]: message\n"
      "    1 |   x = f(\n"
      "      |  _____^\n"
      "    2 | |   y\n"
      "    3 | | );\n"
      "      | |_^ this call\n" },
    { "a long block is cut",
      "[1\n2\n3\n4\n5\n6\n7\n8] {z}\n", "all", { "z" }, NULL, NULL, NULL,
      "a.dfl:1:1: error[E0301]: message\n"
      "    1 | / 1\n"
      "    2 | | 2\n"
      "    3 | | 3\n"
      "  ... | |\n"
      "    7 | | 7\n"
      "    8 | | 8 z\n"
      "      | |_^ all\n"
      "    8 | 8 z\n"
      "      |   ~ z\n" },
    { "a block ends with its line end",
      "a [b\nc\n]d\n", NULL, { 0 }, NULL, NULL, NULL,
      "a.dfl:1:3: error[E0301]: message\n"
      "    1 |   a b\n"
      "      |  ___^\n"
      "    2 | | c\n"
      "      | |_^\n" },
};

/* Takes the brackets out of `marked`: the text, the primary span, and up to three secondary ones. */
static size_t unmark(const char *marked, char *text, dfl_span *primary, dfl_span secondary[3])
{
    uint32_t n = 0;
    size_t opened = 0, closed = 0;

    for (; *marked; marked++) {
        switch (*marked) {
        case '[':
            primary->start = 1 + n;
            break;
        case ']':
            primary->end = 1 + n;
            break;
        case '{':
            if (marked[1] == '\n')
                text[n++] = *marked;
            else
                secondary[opened++].start = 1 + n;
            break;
        case '}':
            if (closed == opened)
                text[n++] = *marked;
            else
                secondary[closed++].end = 1 + n;
            break;
        default:
            text[n++] = *marked;
        }
    }
    text[n] = '\0';
    return opened;
}

static dfl_sink *sink_of(dfl_arena *arena, const text_case *c)
{
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    dfl_span primary = { 0, 0 }, secondary[3] = { { 0, 0 } };
    char text[1024];
    size_t n = unmark(c->text, text, &primary, secondary);
    dfl_diag *d;

    dfl_source_add(map, "a.dfl", text, strlen(text));
    d = dfl_report(sink, DFL_RANK_UNKNOWN, primary, "message");
    if (c->here)
        dfl_diag_here(sink, d, "%s", c->here);
    for (size_t i = 0; i < n; i++)
        dfl_diag_label(sink, d, secondary[i], "%s", c->labels[i]);
    if (c->note)
        dfl_diag_note(sink, d, "%s", c->note);
    if (c->help)
        dfl_diag_help(sink, d, "%s", c->help);
    if (c->edit)
        dfl_diag_fix(sink, d, primary, c->edit, DFL_FIX_SURE);
    return sink;
}

static void renders_text(void **state)
{
    const text_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf plain, colored;
    size_t kept = 0;

    dfl_strbuf_init(&plain, arena);
    dfl_render_text(&plain, sink_of(arena, c), false);
    assert_string_equal(plain.text, c->want);
    /* Colour adds escape sequences and nothing else, apart from blanks before one. */
    dfl_strbuf_init(&colored, arena);
    dfl_render_text(&colored, sink_of(arena, c), true);
    assert_true(colored.len > plain.len);
    for (size_t i = 0; i < colored.len; i++) {
        if (colored.text[i] == '\033')
            i += strcspn(colored.text + i, "m");
        else if (colored.text[i] == plain.text[kept])
            kept++;
        else
            assert_int_equal(colored.text[i], ' ');
    }
    assert_int_equal(kept, plain.len);
    dfl_arena_free(arena);
}

/* A sink with two files, a lint, a report without a place, and an edit in each file. */
static dfl_sink *mixed_sink(dfl_arena *arena)
{
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    const dfl_source *a, *b;
    dfl_diag *d;

    a = dfl_source_add(map, "a b.dfl", "\xf0\x9f\x98\x80 x\n", 7);
    b = dfl_source_add(map, "/lib/c.dfl", "one\ntwo\n", 8);
    dfl_report(sink, DFL_LIMIT_STEPS, (dfl_span){ 0, 0 }, "step limit reached");
    d = dfl_report_lint(sink, NULL, DFL_LINT_NO_ENERGY, (dfl_span){ b->base + 4, b->base + 7 },
                        "`two` has no energy");
    dfl_diag_note(sink, d, "say \"so\"");
    d = dfl_report(sink, DFL_NAME_UNKNOWN, (dfl_span){ a->base + 5, a->base + 6 }, "`x` is not known");
    dfl_diag_here(sink, d, "here");
    dfl_diag_label(sink, d, (dfl_span){ b->base, b->base + 3 }, "like this");
    dfl_diag_fix(sink, d, (dfl_span){ a->base + 5, a->base + 6 }, "one", DFL_FIX_SURE);
    dfl_diag_fix(sink, d, (dfl_span){ b->base + 7, b->base + 7 }, ";", DFL_FIX_MAYBE);
    return sink;
}

static void renders_two_files(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_render_text(&out, mixed_sink(arena), false);
    assert_string_equal(out.text,
                        "a b.dfl:1:6: error[E0201]: `x` is not known\n"
                        "    1 | \xf0\x9f\x98\x80 x\n"
                        "      |    ^ here\n"
                        "     ::: /lib/c.dfl:1:1\n"
                        "    1 | one\n"
                        "      | ~~~ like this\n"
                        "      = help: replace with `one`\n"
                        "      = help: insert `;` at /lib/c.dfl:2:4\n"
                        "/lib/c.dfl:2:1: warning[E0505]: `two` has no energy [no-energy]\n"
                        "    2 | two\n"
                        "      | ^^^\n"
                        "      = note: say \"so\"\n"
                        "error[E0602]: step limit reached\n");
    dfl_arena_free(arena);
}

static void renders_short_lines(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_sink *sink = mixed_sink(arena);
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_render_short(&out, sink);
    dfl_render_summary(&out, sink);
    assert_string_equal(out.text,
                        "a b.dfl:1:6: error[E0201]: `x` is not known\n"
                        "/lib/c.dfl:2:1: warning[E0505]: `two` has no energy [no-energy]\n"
                        "error[E0602]: step limit reached\n"
                        "2 errors, 1 warning\n");
    dfl_arena_free(arena);
}

static void renders_json_lines(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *value, *span;
    dfl_strbuf out;
    size_t lines = 0;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_render_json(&out, mixed_sink(arena));
    for (const char *at = out.text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1, lines++) {
        value = dfl_json_parse(arena, at, (size_t)(end - at), NULL);
        assert_non_null(value);
        assert_int_equal(value->len, 10);
        span = dfl_json_get(value, "span");
        if (lines == 0) {
            assert_string_equal(dfl_json_text(dfl_json_get(value, "code")), "E0201");
            assert_string_equal(dfl_json_text(dfl_json_get(value, "severity")), "error");
            assert_string_equal(dfl_json_text(dfl_json_get(value, "label")), "here");
            assert_string_equal(dfl_json_text(dfl_json_get(span, "file")), "a b.dfl");
            assert_int_equal(dfl_json_get(span, "column")->integer, 6);
            assert_int_equal(dfl_json_get(span, "end_column")->integer, 7);
            assert_int_equal(dfl_json_get(span, "offset")->integer, 5);
            assert_int_equal(dfl_json_get(span, "length")->integer, 1);
            assert_int_equal(dfl_json_get(value, "labels")->len, 1);
            assert_int_equal(dfl_json_get(value, "edits")->len, 2);
            assert_string_equal(dfl_json_text(dfl_json_get(dfl_json_at(dfl_json_get(value, "edits"), 1), "certainty")),
                                "maybe");
        } else if (lines == 1) {
            assert_string_equal(dfl_json_text(dfl_json_get(value, "lint")), "no-energy");
            assert_string_equal(dfl_json_text(dfl_json_at(dfl_json_get(value, "notes"), 0)), "say \"so\"");
            assert_int_equal(dfl_json_get(span, "line")->integer, 2);
        } else {
            assert_int_equal(span->kind, DFL_JSON_NULL);
        }
    }
    assert_int_equal(lines, 3);
    dfl_arena_free(arena);
}

static void renders_json_items(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *value;
    dfl_json_writer w;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_json_start(&w, &out, 2);
    dfl_json_array(&w);
    dfl_render_json_items(&w, mixed_sink(arena));
    dfl_json_end_array(&w);
    value = dfl_json_parse(arena, out.text, out.len, NULL);
    assert_non_null(value);
    assert_int_equal(value->len, 3);
    dfl_arena_free(arena);
}

/* The value at a path of keys and indices, "runs.0.results". */
static const dfl_json *at_path(const dfl_json *value, const char *path)
{
    while (value && *path) {
        char key[64];
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, path);
        value = value->kind == DFL_JSON_ARRAY ? dfl_json_at(value, (size_t)(key[0] - '0')) : dfl_json_get(value, key);
        path += n + (path[n] == '.');
    }
    return value;
}

typedef struct { const char *name; const char *text; int64_t integer; } sarif_case;

static const sarif_case sarif[] = {
    { "version",                                                                          "2.1.0", 0 },
    { "runs.0.columnKind",                                                                "utf16CodeUnits", 0 },
    { "runs.0.tool.driver.name",                                                          "dflc", 0 },
    { "runs.0.tool.driver.rules.0.id",                                                    "E0201", 0 },
    { "runs.0.tool.driver.rules.1.shortDescription.text",                                 "component without energy", 0 },
    { "runs.0.tool.driver.rules.1.defaultConfiguration.level",                            "warning", 0 },
    { "runs.0.results.0.ruleId",                                                          "E0201", 0 },
    { "runs.0.results.0.level",                                                           "error", 0 },
    { "runs.0.results.0.message.text",                                                    "`x` is not known: here", 0 },
    { "runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri",               "a%20b.dfl", 0 },
    /* The smiley is one code point, four bytes, two UTF-16 units. */
    { "runs.0.results.0.locations.0.physicalLocation.region.startColumn",                 NULL, 4 },
    { "runs.0.results.0.locations.0.physicalLocation.region.endColumn",                   NULL, 5 },
    { "runs.0.results.0.relatedLocations.0.physicalLocation.artifactLocation.uri",        "file:///lib/c.dfl", 0 },
    { "runs.0.results.0.relatedLocations.0.message.text",                                 "like this", 0 },
    { "runs.0.results.0.fixes.0.artifactChanges.0.replacements.0.insertedContent.text",   "one", 0 },
    { "runs.0.results.0.fixes.0.artifactChanges.1.artifactLocation.uri",                  "file:///lib/c.dfl", 0 },
    { "runs.0.results.0.fixes.0.artifactChanges.1.replacements.0.deletedRegion.startLine", NULL, 2 },
    { "runs.0.results.1.ruleIndex",                                                       NULL, 1 },
    { "runs.0.results.1.message.text",                              "`two` has no energy\n\nnote: say \"so\"", 0 },
    { "runs.0.results.1.properties.lint",                                                 "no-energy", 0 },
    { "runs.0.results.2.ruleId",                                                          "E0602", 0 },
};

static void renders_sarif(void **state)
{
    const sarif_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *value;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    dfl_render_sarif(&out, (dfl_sink *[]){ mixed_sink(arena) }, 1);
    value = dfl_json_parse(arena, out.text, out.len, NULL);
    assert_non_null(value);
    assert_null(at_path(value, "runs.0.results.2.locations"));
    value = at_path(value, c->name);
    assert_non_null(value);
    if (c->text)
        assert_string_equal(dfl_json_text(value), c->text);
    else
        assert_int_equal(value->integer, c->integer);
    dfl_arena_free(arena);
}

static void an_empty_sink_gives_nothing_or_an_empty_log(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_sink *sink = dfl_sink_new(arena, dfl_source_map_new(arena));
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_render_text(&out, sink, true);
    dfl_render_short(&out, sink);
    dfl_render_json(&out, sink);
    dfl_render_summary(&out, sink);
    assert_int_equal(out.len, 0);
    dfl_render_sarif(&out, &sink, 1);
    assert_int_equal(at_path(dfl_json_parse(arena, out.text, out.len, NULL), "runs.0.results")->len, 0);
    dfl_arena_free(arena);
}

static void a_very_long_line_is_cut_around_the_place(void **state)
{
    enum { LEN = 3000000 };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    char *text = dfl_arena_alloc(arena, LEN, 1, 1);
    dfl_strbuf out;

    (void)state;
    /* Two-byte characters, so that a cut can fall inside one. */
    for (size_t i = 0; i < LEN; i++)
        text[i] = i % 2 ? '\xa9' : '\xc3';
    dfl_source_add(map, "a.dfl", text, LEN);
    for (uint32_t i = 0; i < 100; i++)
        dfl_report(sink, DFL_RANK_UNKNOWN, (dfl_span){ 1 + i * 20001, 3 + i * 20001 }, "message");
    dfl_strbuf_init(&out, arena);
    dfl_render_text(&out, sink, false);
    assert_true(out.len < 100 * 1200);
    assert_non_null(strstr(out.text, "| ...\xc3\xa9"));
    assert_non_null(strstr(out.text, "\xc3\xa9...\n"));
    dfl_arena_free(arena);
}

static void line_numbers_of_any_length_line_up(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    char *text = dfl_arena_alloc(arena, 1000001, 1, 1);
    dfl_diag *d;
    dfl_strbuf out;

    (void)state;
    memset(text, '\n', 1000000);
    text[1000000] = 'x';
    dfl_source_add(map, "a.dfl", text, 1000001);
    d = dfl_report(sink, DFL_RANK_UNKNOWN, (dfl_span){ 1000001, 1000002 }, "message");
    dfl_diag_label(sink, d, (dfl_span){ 1, 1 }, "first");
    dfl_strbuf_init(&out, arena);
    dfl_render_text(&out, sink, false);
    assert_string_equal(out.text,
                        "a.dfl:1000001:1: error[E0301]: message\n"
                        "1000001 | x\n"
                        "        | ^\n"
                        "      1 |\n"
                        "        | ~ first\n");
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders_two_files),
        cmocka_unit_test(renders_short_lines),
        cmocka_unit_test(renders_json_lines),
        cmocka_unit_test(renders_json_items),
        cmocka_unit_test(an_empty_sink_gives_nothing_or_an_empty_log),
        cmocka_unit_test(a_very_long_line_is_cut_around_the_place),
        cmocka_unit_test(line_numbers_of_any_length_line_up),
    };

    return CHECK_TABLE("diag.render text", cases, renders_text) + CHECK_TABLE("diag.render sarif", sarif, renders_sarif)
         + CHECK_GROUP("diag.render", tests);
}
