/*
 * Any bytes as a specification for AccelForge. The importer must answer with a text or with errors, never both, and
 * stay within its budget; the text must be printable, parse as DFL and be laid out already, and its workload and
 * system must pass the checks: only the mapping may have been wrong in the source.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/import.h"
#include "sema/sema.h"
#include "support/utf8.h"
#include "syntax/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_plain(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '\n' && ((unsigned char)*c < ' ' || *c == 0x7f))
            return false;
    }
    return dfl_utf8_check(text, strlen(text)) == strlen(text);
}

static bool no_imports(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                       const char **why, const char **near)
{
    (void)context, (void)from, (void)target, (void)quoted, (void)out, (void)why, (void)near;
    return false;
}

static bool checks(dfl_arena *arena, const char *text)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    dfl_intern *names = dfl_intern_new(arena);
    const dfl_source *source = dfl_source_add(sources, "import.dfl", text, strlen(text));
    dfl_syntax syntax = dfl_syntax_parse(arena, names, sink, source);
    dfl_sema_input input = { .arena = arena, .names = names, .sink = sink, .load = no_imports };

    dfl_sema_run(&input, (dfl_sema_file){ source, syntax.file });
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);
        bool of_mapping = d->code >= DFL_MAP_RANK_UNFINISHED && d->code <= DFL_MAP_LINE_AFTER_BRANCH;

        if (d->severity >= DFL_ERROR && !of_mapping && d->code != DFL_UNIT_OVERFLOW && d->code != DFL_EVAL_OVERFLOW)
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
    const dfl_source *source = dfl_source_add(sources, "fuzz.yaml", (const char *)data, size);
    const char *text = dfl_import_accelforge(arena, sink, sources, &source, 1);

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
