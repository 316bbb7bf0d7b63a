#include "tests/fuzz/importer.h"

#include <string.h>

#include "import/dfl_writer.h"
#include "ir/path/path.h"
#include "sema/sema.h"
#include "support/utf8.h"
#include "syntax/syntax.h"

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

/* What `load_energies` needs to parse a file. */
typedef struct {
    dfl_arena *arena;
    dfl_source_map *sources;
    dfl_sink *sink;
    dfl_intern *names;
} loader;

/* Loads the energies that every file imported from MAESTRO imports, and no other file. */
static bool load_energies(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                          const char **why, const char **near)
{
    static const char energies[] = "dfl 1;\nlet mac = 1;\nlet l1 = 1.68;\nlet l2 = 18.61;\n";
    const loader *l = context;
    dfl_syntax syntax;

    (void)from, (void)why, (void)near;
    if (quoted || strcmp(target, "std.energy.maestro") != 0)
        return false;
    out->source = dfl_source_add(l->sources, "maestro.dfl", energies, sizeof energies - 1);
    syntax = dfl_syntax_parse(l->arena, l->names, l->sink, out->source);
    out->file = syntax.file;
    return true;
}

/* Whether the checks may ignore a report: sizes beyond 128 bits, which any source can contain, and mistakes of a
   mapping that is not part of the checks. */
static bool is_forgiven(dfl_code code, fuzz_import_checks how)
{
    bool of_mapping = code >= DFL_MAP_RANK_UNFINISHED && code <= DFL_MAP_LINE_AFTER_BRANCH;

    return code == DFL_UNIT_OVERFLOW || code == DFL_EVAL_OVERFLOW || (how == FUZZ_IMPORT_MACHINE && of_mapping);
}

/* Whether all reports about the text are excusable, or follow from a stopped budget. */
static bool checks(dfl_arena *arena, const char *text, fuzz_import_checks how)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    dfl_intern *names = dfl_intern_new(arena);
    const dfl_source *source = dfl_source_add(sources, "import.dfl", text, strlen(text));
    dfl_syntax syntax = dfl_syntax_parse(arena, names, sink, source);
    loader energies = { arena, sources, sink, names };
    dfl_sema_input input = { .arena = arena, .names = names, .sink = sink, .load = load_energies, .context = &energies };
    const dfl_program *program = dfl_sema_run(&input, (dfl_sema_file){ source, syntax.file });

    for (uint32_t i = 0; how == FUZZ_IMPORT_WHOLE && i < program->n_designs && dfl_budget_ok(budget); i++)
        dfl_paths_resolve(arena, sink, names, program->designs[i].mapping);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);

        if (d->severity >= DFL_ERROR && !is_forgiven(d->code, how))
            return budget->why != DFL_STOP_NONE;
    }
    return true;
}

void fuzz_import(const uint8_t *data, size_t size, fuzz_importer *import, fuzz_import_checks how)
{
    dfl_budget budget = { .memory_limit = (size_t)64 << 20, .steps_limit = 10000000 };
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_source_map *sources = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, sources);
    const char *text = import(arena, sink, sources, (const char *)data, size);

    if ((text == NULL) != (dfl_sink_errors(sink) > 0))
        __builtin_trap();
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        if (dfl_sink_at(sink, i)->severity == DFL_INTERNAL)
            __builtin_trap();
    }
    if (text != NULL) {
        const char *again = dfl_writer_layout(arena, sink, text);

        if (!is_plain(text) || !checks(arena, text, how) ||
            (budget.why == DFL_STOP_NONE && (again == NULL || strcmp(text, again) != 0)))
            __builtin_trap();
    }
    dfl_arena_free(arena);
}
