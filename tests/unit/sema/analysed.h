/* Analysis of a DFL text, for the tests of this folder. A small std.ops is built in. */
#ifndef DFL_TESTS_UNIT_SEMA_ANALYSED_H
#define DFL_TESTS_UNIT_SEMA_ANALYSED_H

#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "sema/sema.h"
#include "syntax/syntax.h"

/* One analysis with all that it owns. */
typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    const dfl_program *program;
    dfl_sema_file ops_file;
} analysed;

/* Parses a text as a file. */
static inline dfl_sema_file analysed_parse(analysed *a, const char *name, const char *text)
{
    const dfl_source *source = dfl_source_add(a->sources, name, text, strlen(text));
    dfl_syntax syntax = dfl_syntax_parse(a->arena, a->names, a->sink, source);

    return (dfl_sema_file){ source, syntax.file };
}

/* A dfl_sema_load that finds only std.ops. */
static inline bool analysed_load(void *context, const dfl_source *from, const char *target, bool quoted,
                                 dfl_sema_file *out, const char **why, const char **near)
{
    analysed *a = context;

    (void)from;
    (void)quoted;
    (void)near;
    *why = NULL;
    if (strcmp(target, "std.ops") != 0)
        return false;
    if (a->ops_file.file == NULL)
        a->ops_file = analysed_parse(a, "ops.dfl",
                                     "op exp(x) = 1FLOP; op sigmoid(x) = 4FLOP; op max(x, y) = 1FLOP;"
                                     "op rsqrt(x) = 1FLOP; op fft(x) over r = 5FLOP * log2(r);");
    *out = a->ops_file;
    return true;
}

/* Analyses a text within a number of steps and bytes of memory; 0 = the usual limits. Free with analysed_free. */
static inline analysed *analyse_within(const char *text, uint64_t steps, size_t memory)
{
    analysed *a = calloc(1, sizeof *a);
    dfl_sema_input input;
    dfl_sema_file root;

    assert_non_null(a);
    a->budget.memory_limit = memory > 0 ? memory : (size_t)256 << 20;
    a->budget.steps_limit = steps > 0 ? steps : 20000000;
    a->arena = dfl_arena_new(&a->budget);
    a->names = dfl_intern_new(a->arena);
    a->sources = dfl_source_map_new(a->arena);
    a->sink = dfl_sink_new(a->arena, a->sources);
    root = analysed_parse(a, "test.dfl", text);
    input = (dfl_sema_input){ .arena = a->arena, .names = a->names, .sink = a->sink, .load = analysed_load, .context = a };
    a->program = dfl_sema_run(&input, root);
    assert_null(dfl_program_verify(a->program));
    return a;
}

/* Analyses a text within the usual limits. */
static inline analysed *analyse(const char *text)
{
    return analyse_within(text, 0, 0);
}

static inline void analysed_free(analysed *a)
{
    dfl_arena_free(a->arena);
    free(a);
}

/* The message of the first report, or NULL. */
static inline const char *analysed_message(const analysed *a)
{
    return dfl_sink_count(a->sink) > 0 ? dfl_sink_at(a->sink, 0)->message : NULL;
}

#endif
