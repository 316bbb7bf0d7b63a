/* The result of importing one text: its first diagnostic, and parts of the DFL text in their order. */
#ifndef DFL_TESTS_UNIT_IMPORT_IMPORTED_H
#define DFL_TESTS_UNIT_IMPORT_IMPORTED_H

#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "diag/diag.h"

typedef struct {
    dfl_code code;            /* code of the first diagnostic; 0 = none */
    unsigned line, column;    /* place of the first diagnostic; column 0 = anywhere on the line */
    const char *message;      /* NULL = any */
    const char *const *parts; /* parts that the DFL text must hold in this order, up to NULL or n_parts */
    size_t n_parts;
} imported;

typedef char *importer(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source);

static void check_imported(const char *text, importer *import, const imported *want)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    const char *made = import(arena, sink, sources, dfl_source_add(sources, "case.yaml", text, strlen(text))), *at = made;

    if (dfl_sink_count(sink) > 0) {
        const dfl_diag *d = dfl_sink_at(sink, 0);
        dfl_place place = dfl_place_of(sources, d->span.start);

        if (d->code != want->code || place.line != want->line || (want->column != 0 && place.column != want->column) ||
            (want->message != NULL && strcmp(d->message, want->message) != 0))
            print_message("%u:%u: %s\n", (unsigned)place.line, (unsigned)place.column, d->message);
        assert_int_equal(d->code, want->code);
        assert_int_equal(place.line, want->line);
        if (want->column != 0)
            assert_int_equal(place.column, want->column);
        if (want->message != NULL)
            assert_string_equal(d->message, want->message);
    }
    assert_int_equal(dfl_sink_count(sink) > 0, want->code != 0);
    assert_int_equal(made == NULL, dfl_sink_errors(sink) > 0);
    for (size_t i = 0; i < want->n_parts && want->parts[i] != NULL; i++) {
        assert_non_null(at);
        if (strstr(at, want->parts[i]) == NULL)
            printf("%s\nhas no\n%s\n", at, want->parts[i]);
        at = strstr(at, want->parts[i]);
        assert_non_null(at);
    }
    dfl_arena_free(arena);
}

#endif
