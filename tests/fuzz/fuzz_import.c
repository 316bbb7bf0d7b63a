/*
 * Any bytes as a MAESTRO mapping, with a hardware file behind a line `%%`. The importer must answer with a
 * text or with errors, never both, and stay within its budget; the text must be printable, parse as
 * DFL, and be laid out already.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/import.h"
#include "ir/path.h"
#include "sema/sema.h"
#include "support/utf8.h"
#include "syntax/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t mapping_length(const char *text, size_t size)
{
    for (size_t i = 0; i + 3 <= size; i++) {
        if (memcmp(text + i, "%%\n", 3) == 0)
            return i;
    }
    return size;
}

static bool is_plain(const char *text)
{
    size_t len = strlen(text), step;

    for (size_t at = 0; at < len; at += step) {
        uint32_t point;

        step = dfl_utf8_decode(text + at, len - at, &point);
        if (text[at] != '\n' && (!dfl_utf8_printable(point) || (step == 1 && (unsigned char)text[at] >= 0x80)))
            return false;
    }
    return true;
}

static bool no_imports(void *context, const dfl_source *from, const char *target, bool quoted,
                       dfl_sema_file *out, const char **why, const char **near)
{
    (void)context, (void)from, (void)target, (void)quoted, (void)out, (void)why, (void)near;
    return false;
}

/* Whether nothing is wrong with the text but sizes beyond 128 bits. */
static bool checks(dfl_arena *arena, const char *text)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    dfl_intern *names = dfl_intern_new(arena);
    const dfl_source *source = dfl_source_add(sources, "import.dfl", text, strlen(text));
    dfl_syntax syntax = dfl_syntax_parse(arena, names, sink, source);
    dfl_sema_input input = { .arena = arena, .names = names, .sink = sink, .load = no_imports };
    const dfl_program *program = dfl_sema_run(&input, (dfl_sema_file){ source, syntax.file });

    for (uint32_t i = 0; i < program->n_designs && dfl_budget_ok(budget); i++)
        dfl_paths_resolve(arena, sink, names, program->designs[i].mapping);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);

        if (d->severity >= DFL_ERROR && d->code != DFL_UNIT_OVERFLOW && d->code != DFL_EVAL_OVERFLOW)
            return budget->why != DFL_STOP_NONE;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_budget budget = { .memory_limit = (size_t)64 << 20, .steps_limit = 10000000 };
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    const char *bytes = (const char *)data;
    size_t n = mapping_length(bytes, size);
    const dfl_source *hw = NULL;
    const dfl_source *mapping = dfl_source_add(sources, "fuzz.m", bytes, n);
    const char *text;

    if (n < size)
        hw = dfl_source_add(sources, "hw.m", bytes + n + 3, size - n - 3);
    text = dfl_import_maestro(arena, sink, sources, mapping, hw);
    if ((text == NULL) != (dfl_sink_errors(sink) > 0))
        __builtin_trap();
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        if (dfl_sink_at(sink, i)->severity == DFL_INTERNAL)
            __builtin_trap();
    }
    if (text != NULL) {
        const char *again = dfl_import_layout(arena, sink, text);

        if (!is_plain(text) || !checks(arena, text) ||
            (budget.why == DFL_STOP_NONE && (again == NULL || strcmp(text, again) != 0)))
            __builtin_trap();
    }
    dfl_arena_free(arena);
    return 0;
}
