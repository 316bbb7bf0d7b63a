/* Analysis of a DFL text with the standard library of the tree, for the tests of this folder. */
#ifndef DFL_TESTS_UNIT_TRAIN_TRAINED_H
#define DFL_TESTS_UNIT_TRAIN_TRAINED_H

#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/verify.h"
#include "sema/sema.h"
#include "support/vec.h"
#include "syntax/syntax.h"

/* One analysis with all that it owns. */
typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    const dfl_program *program;
    DFL_VEC(const char *) targets; /* modules of the standard library that are loaded, and their files */
    DFL_VEC(dfl_sema_file) files;
} trained;

static inline dfl_sema_file trained_parse(trained *a, const char *name, const char *text, size_t len)
{
    const dfl_source *source = dfl_source_add(a->sources, name, text, len);
    dfl_syntax syntax = dfl_syntax_parse(a->arena, a->names, a->sink, source);

    return (dfl_sema_file){ source, syntax.file };
}

/* A dfl_sema_load that finds `std.a.b` in stdlib/a/b.dfl. */
static inline bool trained_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                                const char **why, const char **near)
{
    trained *a = context;
    char path[200];
    char *text;
    size_t len;

    (void)from;
    (void)near;
    *why = NULL;
    for (size_t i = 0; i < a->targets.n; i++)
        if (strcmp(a->targets.at[i], target) == 0) {
            *out = a->files.at[i];
            return true;
        }
    if (quoted || strncmp(target, "std.", 4) != 0)
        return false;
    snprintf(path, sizeof path, "stdlib/%s.dfl", target + 4);
    for (char *c = path; c < path + strlen(path) - 4; c++)
        if (*c == '.')
            *c = '/';
    text = check_read_file(path, &len);
    assert_non_null(text);
    *out = trained_parse(a, dfl_arena_copy(a->arena, path, strlen(path)), dfl_arena_copy(a->arena, text, len), len);
    free(text);
    DFL_PUSH(a->arena, &a->targets, dfl_arena_copy(a->arena, target, strlen(target)));
    DFL_PUSH(a->arena, &a->files, *out);
    return true;
}

/* Analyses a text. Free with trained_free. */
static inline trained *train_text(const char *text)
{
    trained *a = calloc(1, sizeof *a);
    dfl_sema_input input;
    dfl_sema_file root;

    assert_non_null(a);
    a->budget.memory_limit = (size_t)256 << 20;
    a->budget.steps_limit = 20000000;
    a->arena = dfl_arena_new(&a->budget);
    a->names = dfl_intern_new(a->arena);
    a->sources = dfl_source_map_new(a->arena);
    a->sink = dfl_sink_new(a->arena, a->sources);
    root = trained_parse(a, "test.dfl", text, strlen(text));
    input = (dfl_sema_input){ .arena = a->arena, .names = a->names, .sink = a->sink, .load = trained_load, .context = a };
    a->program = dfl_sema_run(&input, root);
    if (dfl_program_verify(a->program) != NULL)
        fail_msg("%s", dfl_program_verify(a->program));
    return a;
}

static inline void trained_free(trained *a)
{
    dfl_arena_free(a->arena);
    free(a);
}

/* The workload `step`; NULL if there is none. */
static inline const dfl_workload *trained_find_step(const trained *a)
{
    for (uint32_t i = 0; i < a->program->n_workloads; i++)
        if (strcmp(dfl_sym_text(a->names, a->program->workloads[i].workload->name), "step") == 0)
            return a->program->workloads[i].workload;
    return NULL;
}

/* The workload `step` of a text without reports. */
static inline const dfl_workload *trained_step(const trained *a)
{
    const dfl_workload *step = trained_find_step(a);

    for (size_t i = 0; i < dfl_sink_count(a->sink); i++)
        fail_msg("%s", dfl_sink_at(a->sink, i)->message);
    assert_non_null(step);
    return step;
}

#endif
