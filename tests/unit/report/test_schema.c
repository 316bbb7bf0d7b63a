/*
 * Validates reports and comparisons by their schemas in grammar/, and tests the validator with broken reports.
 * `test_schema FILE...` validates files, each by the schema file with the name of its schema, and lists those that do
 * not conform.
 */
#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/schema.h"

static const struct { const char *name, *path; } schemas[] = {
    { "dfl-report/1", "grammar/dfl-report-1.schema.json" },
    { "dfl-why/1", "grammar/dfl-why-1.schema.json" },
    { "dfl-diff/1", "grammar/dfl-diff-1.schema.json" },
    { "dfl-list/1", "grammar/dfl-list-1.schema.json" },
    { "dfl-certificate/1", "grammar/dfl-certificate-1.schema.json" },
};

static const dfl_json *parse_file(dfl_arena *arena, const char *path, const char *from, const char *to)
{
    size_t len;
    char *text = check_read_file(path, &len), *at;
    dfl_json_error error;
    const dfl_json *json;
    dfl_strbuf edited;

    if (!text) {
        print_error("%s cannot be read\n", path);
        return NULL;
    }
    dfl_strbuf_init(&edited, arena);
    at = from ? strstr(text, from) : NULL;
    if (from && !at)
        fail_msg("%s does not contain %s", path, from);
    if (at) {
        dfl_strbuf_add(&edited, text, (size_t)(at - text));
        dfl_strbuf_z(&edited, to);
        dfl_strbuf_z(&edited, at + strlen(from));
    } else {
        dfl_strbuf_add(&edited, text, len);
    }
    free(text);
    json = dfl_json_parse(arena, edited.text, edited.len, &error);
    if (!json)
        print_error("%s:%u: %s\n", path, error.line, error.message);
    return json;
}

static bool conforms(dfl_arena *arena, const char *path, const char *from, const char *to, dfl_strbuf *why)
{
    const dfl_json *value = parse_file(arena, path, from, to);
    const char *name = dfl_json_text(dfl_json_get(value, "schema"));
    const dfl_json *schema;
    size_t which = 0;

    for (size_t i = 0; i < sizeof schemas / sizeof *schemas && name; i++)
        which = strcmp(name, schemas[i].name) == 0 ? i : which;
    schema = parse_file(arena, schemas[which].path, NULL, NULL);

    dfl_strbuf_init(why, arena);
    return schema && value && check_schema(schema, value, why);
}

typedef struct {
    const char *name;
    const char *from, *to; /* an edit of the golden report */
    const char *why;       /* NULL: conforms */
} schema_case;

static const schema_case cases[] = {
    { "as it is", NULL, NULL, NULL },
    { "another schema", "dfl-report/1", "dfl-report/2", "/schema: not the constant" },
    { "a text for a number", "\"joules\": 1.8008e-06", "\"joules\": \"1\"", "/results/0/energy/joules: wrong type" },
    { "a negative count", "\"mac\": 98304", "\"mac\": -1", "/results/0/operations/mac: below the minimum" },
    { "a broken count", "\"mac\": 98304", "\"mac\": 98304.5", "/results/0/operations/mac: wrong type" },
    { "a missing key", "\"bound_by\": \"sram.read\",\n", "\"bounded_by\": 1,\n", "/results/0/latency/bound_by: missing" },
    { "an unknown key", "\"padding\": 12,", "\"padding\": 12, \"more\": 1,",
      "/results/0/operations/more: not in the schema" },
    { "an unknown status", "\"complete\"", "\"done\"", "/results/0/status: not one of the enumerated values" },
    { "an unknown check", "\"require\"", "\"demand\"", "/checks/0/kind: not one of the enumerated values" },
    { "deep in a map", "\"drain\": 1000000", "\"drain\": null", "/results/0/memories/2/tensors/Z/drain: wrong type" },
    { "a sum may be null", "\"reads\": 1003079", "\"reads\": null", NULL },
};

/* Edits of the golden comparison. */
static const schema_case differences[] = {
    { "as it is", NULL, NULL, NULL },
    { "an unknown kind of change", "\"kind\": \"loop\"", "\"kind\": \"lop\"",
      "/pairs/0/changes/0/kind: not one of the enumerated values" },
    { "no side", "\"to\": {", "\"too\": {", "/pairs/0/to: missing" },
    { "an unknown key of a part", "\"cause\": \"tiles", "\"why\": 1, \"cause\": \"tiles",
      "/pairs/0/joules/parts/0/why: not in the schema" },
    { "a part without a cause", "\"cause\": \"tiles above B in sram\"", "\"because\": \"of\"",
      "/pairs/0/joules/parts/0/cause: missing" },
    { "a broken count of a part", "\"count_to\": 8192", "\"count_to\": 0.5",
      "/pairs/0/joules/parts/0/count_to: wrong type" },
    { "a total that is no number", "\"difference\": -0.00000078643148800000", "\"difference\": null",
      "/pairs/0/joules/difference: wrong type" },
};

static void validate(const schema_case *c, const char *path)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf why;

    assert_int_equal(conforms(arena, path, c->from, c->to, &why), c->why == NULL);
    assert_string_equal(why.text, c->why ? c->why : "");
    dfl_arena_free(arena);
}

static void validates(void **state) { validate(*state, "tests/golden/report/full.json"); }
static void validates_difference(void **state) { validate(*state, "tests/golden/diff/json.stdout"); }

static int validate_files(int n, char **paths)
{
    int failed = 0;

    for (int i = 0; i < n; i++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        dfl_strbuf why;

        if (!conforms(arena, paths[i], NULL, NULL, &why)) {
            printf("%s: %s\n", paths[i], why.text);
            failed = 1;
        }
        dfl_arena_free(arena);
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return validate_files(argc - 1, argv + 1);
    return CHECK_TABLE("report.schema", cases, validates) + CHECK_TABLE("report.schema.diff", differences, validates_difference);
}
