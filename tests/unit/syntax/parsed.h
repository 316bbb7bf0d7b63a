/* A parsed text with its arena, sink and sources, for the tests of syntax and fmt. */
#ifndef DFL_TESTS_UNIT_SYNTAX_PARSED_H
#define DFL_TESTS_UNIT_SYNTAX_PARSED_H

#include "tests/harness/check.h"

#include <string.h>

#include "diag/render.h"
#include "syntax/dump.h"

typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_source_map *sources;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_syntax syntax;
} parsed;

static inline dfl_syntax parsed_more(parsed *p, const char *name, const char *text, size_t len)
{
    return dfl_syntax_parse(p->arena, p->names, p->sink, dfl_source_add(p->sources, name, text, len));
}

static inline void parsed_open(parsed *p, const char *text, size_t len)
{
    *p = (parsed){ .arena = NULL };
    p->arena = dfl_arena_new(&p->budget);
    p->sources = dfl_source_map_new(p->arena);
    p->names = dfl_intern_new(p->arena);
    p->sink = dfl_sink_new(p->arena, p->sources);
    p->syntax = parsed_more(p, "test.dfl", text, len);
}

static inline void parsed_close(parsed *p)
{
    dfl_arena_free(p->arena);
}

/* The reports, one per line: "1:9: error[E0102]: missing `;`". */
static inline const char *parsed_reports(parsed *p)
{
    dfl_strbuf out, plain;

    dfl_strbuf_init(&out, p->arena);
    dfl_strbuf_init(&plain, p->arena);
    dfl_render_short(&out, p->sink);
    for (const char *at = out.text; *at != '\0';) {
        const char *end = strchr(at, '\n');

        if (strncmp(at, "test.dfl:", 9) == 0)
            at += 9;
        dfl_strbuf_add(&plain, at, (size_t)(end + 1 - at));
        at = end + 1;
    }
    return plain.text;
}

#endif
