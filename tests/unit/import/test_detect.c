#include "tests/harness/check.h"

#include <string.h>

#include "import/detect.h"

typedef struct { const char *name, *text, *tool; } detect_case;

static const detect_case cases[] = {
    { "a network of MAESTRO", "Network n {\n}\n", "maestro" },
    { "constants behind comments", "\xef\xbb\xbf// a\r\n/* b */ Constant C 3;\n", "maestro" },
    { "a word that begins like one", "Networks: 1\n", NULL },
    { "a problem", "# a\nversion: 1\nproblem:\n  x: 1\n", "timeloop" },
    { "a table of energies", "ERT_summary:\n  a: 1\n", "timeloop" },
    { "a mark and a quoted key", "\xef\xbb\xbf---\n'problem' : {}\n", "timeloop" },
    { "a key that is not at the margin", "a:\n  problem: 1\n", NULL },
    { "directives", "mapping:\n- {target: L1}\n", "timeloop" },
    { "levels", "arch:\n  storage: []\n", "timeloop" },
    { "einsums", "variables: {a: 1}\nworkload: {}\n", "accelforge" },
    { "nodes", "arch:\n  nodes: []\n", "accelforge" },
    { "nodes of a mapping", "mapping: {nodes: []}\n", "accelforge" },
    { "an application", "{\n  \"hidden\": 8,\n  \"attn_heads\" : 2\n}\n", "calculon" },
    { "an execution", "{\"a\": {\"problem\": 1}, \"tensor_par\": 1}", "calculon" },
    { "braces in a text", "{\"}{\\\"\": \"problem: {\", \"mem1\": 1}", "calculon" },
    { "a run in JSON", " { \"problem\": {}}", "timeloop" },
    { "a key in inner braces", "{\"a\": {\"problem\": 1}}", NULL },
    { "an end within a text", "{\"a\": \"\\", NULL },
    { "nothing", "", NULL },
    { "any text", "hello, world\n", NULL },
};

static void finds_the_tool(void **state)
{
    const detect_case *c = *state;
    const char *tool = dfl_import_detect(c->text);

    if (c->tool == NULL)
        assert_null(tool);
    else
        assert_string_equal(tool != NULL ? tool : "none", c->tool);
}

int main(void)
{
    return CHECK_TABLE("import.detect", cases, finds_the_tool);
}
