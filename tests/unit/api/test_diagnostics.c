/* Every diagnostic of the golden tests as a JSON line, validated by grammar/dfl-diagnostic-1.schema.json. */
#include "tests/harness/check.h"

#include <stdlib.h>
#include <string.h>

#include "dfl/dfl.h"
#include "tests/harness/schema.h"

enum { FEWEST_LINES = 800, FEWEST_CODES = 90, N_CODES = 1000 };

typedef struct {
    dfl_arena *arena;
    const dfl_json *schema;
    bool seen[N_CODES];
    size_t n_lines, n_codes;
} walk;

/* Notes the code of a valid line, such as "E0301". */
static void note_code(walk *w, const char *code)
{
    unsigned long number = code ? strtoul(code + 1, NULL, 10) : 0;

    assert_true(number > 0 && number < N_CODES);
    w->n_codes += !w->seen[number];
    w->seen[number] = true;
}

static void validate_line(walk *w, const char *path, const char *line, size_t len)
{
    dfl_json_error error = { 0 };
    const dfl_json *value = dfl_json_parse(w->arena, line, len, &error);
    dfl_strbuf why;

    dfl_strbuf_init(&why, w->arena);
    if (!value || !check_schema(w->schema, value, &why))
        fail_msg("%s: %s\n%.*s", path, value ? why.text : error.message, (int)len, line);
    note_code(w, dfl_json_text(dfl_json_get(value, "code")));
    w->n_lines++;
}

/* Runs one analysis of a file, with little effort for searches, and validates its diagnostics. */
static void validate_run(walk *w, const char *path, dfl_exit (*run)(dfl_session *s))
{
    const dfl_session_options options = { .size = sizeof options, .stdlib = "stdlib", .step_limit = 50000 };
    const dfl_search_options search = { .size = sizeof search, .evaluations = 100 };
    dfl_session *s = dfl_session_new(&options);
    const char *text;
    size_t len;

    dfl_session_set_search(s, &search);
    if (dfl_session_open(s, path) == DFL_EXIT_OK)
        run(s);
    text = dfl_session_diagnostics(s, DFL_FORMAT_JSON, false, &len);
    for (const char *end; len > 0; len -= (size_t)(end + 1 - text), text = end + 1) {
        end = memchr(text, '\n', len);
        assert_non_null(end);
        validate_line(w, path, text, (size_t)(end - text));
    }
    dfl_session_free(s);
}

static void validate_file(void *context, const char *path)
{
    validate_run(context, path, dfl_session_check);
    validate_run(context, path, dfl_session_test);
}

static const dfl_json *read_schema(dfl_arena *arena, const char *path)
{
    dfl_json_error error;
    size_t len;
    char *text = check_read_file(path, &len);
    const dfl_json *schema;

    assert_non_null(text);
    schema = dfl_json_parse(arena, dfl_arena_copy(arena, text, len), len, &error);
    free(text);
    assert_non_null(schema);
    return schema;
}

static void every_line_conforms(void **state)
{
    walk w = { .arena = dfl_arena_new(NULL) };

    (void)state;
    w.schema = read_schema(w.arena, "grammar/dfl-diagnostic-1.schema.json");
    check_every_file("tests/golden", validate_file, &w);
    print_message("%zu lines with %zu codes\n", w.n_lines, w.n_codes);
    assert_true(w.n_lines >= FEWEST_LINES);
    assert_true(w.n_codes >= FEWEST_CODES);
    dfl_arena_free(w.arena);
}

static void a_broken_line_does_not_conform(void **state)
{
    static const char line[] = "{\"severity\":\"error\",\"code\":\"E0101\",\"lint\":null,\"message\":\"m\"}";
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_json_error error;
    dfl_strbuf why;

    (void)state;
    dfl_strbuf_init(&why, arena);
    assert_false(check_schema(read_schema(arena, "grammar/dfl-diagnostic-1.schema.json"),
                              dfl_json_parse(arena, line, strlen(line), &error), &why));
    assert_string_equal(why.text, "/span: missing");
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_conforms),
        cmocka_unit_test(a_broken_line_does_not_conform),
    };

    return CHECK_GROUP("api.diagnostics", tests);
}
