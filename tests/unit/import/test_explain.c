/* The examples of the pages E0701 to E0715: the first example of a page gives exactly its code, the second no report. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/accelforge/accelforge.h"
#include "import/maestro/maestro.h"

typedef struct {
    const char *name;
    dfl_code code;
} page_case;

static const page_case cases[] = {
    { "E0701", DFL_FOREIGN_SYNTAX },     { "E0702", DFL_FOREIGN_DOUBLE_MAP },
    { "E0703", DFL_FOREIGN_DIMENSION },  { "E0704", DFL_FOREIGN_LAYER_TYPE },
    { "E0705", DFL_FOREIGN_RANGE },      { "E0706", DFL_FOREIGN_TOO_FEW_ELEMENTS },
    { "E0707", DFL_FOREIGN_OVERLAP },    { "E0708", DFL_FOREIGN_GAP },
    { "E0709", DFL_FOREIGN_UNTOUCHED },  { "E0710", DFL_FOREIGN_IGNORED },
    { "E0711", DFL_FOREIGN_REARRANGED }, { "E0712", DFL_FOREIGN_NO_PADDING },
    { "E0713", DFL_FOREIGN_UNSUPPORTED }, { "E0714", DFL_FOREIGN_UNKNOWN_NAME },
    { "E0715", DFL_FOREIGN_LOST },
};

/* Imports the text between the fence and the next one; the code of its only diagnostic. */
static dfl_code import_example(const char *page, const char *kind)
{
    const char *fence = strstr(page, "```accelforge") != NULL ? "```accelforge " : "```maestro ";
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    const char *start, *end;
    const dfl_source *source;
    dfl_code code = DFL_CODE_NONE;

    fence = dfl_arena_printf(arena, "%s%s\n", fence, kind);
    start = strstr(page, fence);
    assert_non_null(start);
    start += strlen(fence);
    end = strstr(start, "```");
    assert_non_null(end);
    source = dfl_source_add(sources, "example.m", start, (size_t)(end - start));
    if (strncmp(fence, "```accelforge", 13) == 0)
        dfl_import_accelforge(arena, sink, sources, &source, 1);
    else
        dfl_import_maestro(arena, sink, sources, source, NULL);
    assert_true(dfl_sink_count(sink) <= 1);
    if (dfl_sink_count(sink) == 1)
        code = dfl_sink_at(sink, 0)->code;
    dfl_arena_free(arena);
    return code;
}

static void example_gives_its_code(void **state)
{
    const page_case *c = *state;
    char path[64];
    char *page;
    size_t len;

    snprintf(path, sizeof path, "src/diag/explain/%s.md", c->name);
    page = check_read_file(path, &len);
    assert_non_null(page);
    assert_int_equal(import_example(page, "fails"), c->code);
    assert_int_equal(import_example(page, "works"), DFL_CODE_NONE);
    free(page);
}

int main(void)
{
    return CHECK_TABLE("import.explain", cases, example_gives_its_code);
}
