/*
 * Analyses any bytes as a DFL file, with imported files behind lines `%%` (the first is "a.dfl", then "b.dfl", ...).
 * Sema must stay within its budget and yield a program with the invariants that later passes rely on; path resolution
 * must accept every complete mapping of the program without crashing; an erroneous mapping is never among the designs
 * without a report.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/path/path.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "sema/sema.h"
#include "syntax/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FILES = 8 };

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_source_map *sources;
    const char *text[MAX_FILES];
    size_t len[MAX_FILES];
    dfl_sema_file files[MAX_FILES];
    size_t n;
} session;

static const char ops[] = "op exp(x) = 1FLOP; op max(x, y) = 1FLOP; op sqrt(x) = 1FLOP; op sigmoid(x) = 4FLOP;"
                          "op rsqrt(x) = 1FLOP; op relu(x) = 1FLOP; op fft(x) over r = 5FLOP * log2(r);";

static void split(session *s, const char *text, size_t size)
{
    size_t start = 0;

    for (size_t i = 0; i <= size && s->n < MAX_FILES - 1; i++) {
        if (i < size && (size - i < 3 || memcmp(text + i, "%%\n", 3) != 0))
            continue;
        s->text[s->n] = text + start;
        s->len[s->n++] = i - start;
        start = i + 3;
        i += 2;
    }
    s->text[s->n] = ops;
    s->len[s->n++] = sizeof ops - 1;
}

static dfl_sema_file file_at(session *s, size_t i)
{
    static const char *const names[MAX_FILES] = { "fuzz.dfl", "a.dfl", "b.dfl", "c.dfl", "d.dfl", "e.dfl", "f.dfl", "g.dfl" };

    if (s->files[i].source == NULL) {
        s->files[i].source = dfl_source_add(s->sources, names[i], s->text[i], s->len[i]);
        s->files[i].file = dfl_syntax_parse(s->arena, s->names, s->sink, s->files[i].source).file;
    }
    return s->files[i];
}

static bool load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                 const char **why, const char **near)
{
    session *s = context;
    size_t i = quoted && target[0] >= 'a' && target[0] <= 'g' ? (size_t)(target[0] - 'a' + 1) : 0;

    (void)from;
    (void)near;
    *why = "not among the files of this input";
    if (strcmp(target, "std.ops") == 0)
        i = s->n - 1;
    else if (!quoted || i >= s->n - 1)
        return false;
    *out = file_at(s, i);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_budget budget = { .memory_limit = (size_t)128 << 20, .steps_limit = 2000000 };
    session s = { .arena = dfl_arena_new(&budget) };
    dfl_sema_input input;
    const dfl_program *program;
    dfl_strbuf out;

    s.names = dfl_intern_new(s.arena);
    s.sources = dfl_source_map_new(s.arena);
    s.sink = dfl_sink_new(s.arena, s.sources);
    split(&s, (const char *)data, size);
    input = (dfl_sema_input){ .arena = s.arena, .names = s.names, .sink = s.sink, .load = load, .context = &s };
    program = dfl_sema_run(&input, file_at(&s, 0));
    if (dfl_program_verify(program) != NULL)
        __builtin_trap();
    dfl_strbuf_init(&out, s.arena);
    dfl_ir_print(&out, s.names, program);
    for (uint32_t i = 0; i < program->n_designs && dfl_budget_ok(&budget); i++) {
        size_t errors = dfl_sink_errors(s.sink);
        const dfl_mapping *m = program->designs[i].mapping;

        if (m->has_holes || m->workload->n_einsums > 200)
            continue;
        if (dfl_paths_resolve(s.arena, s.sink, s.names, m) == NULL && dfl_sink_errors(s.sink) == errors &&
            budget.why == DFL_STOP_NONE)
            __builtin_trap();
    }
    dfl_arena_free(s.arena);
    return 0;
}
