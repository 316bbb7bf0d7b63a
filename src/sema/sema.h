/*
 * From trees to designs: names, constants, units, sizes, and the lowering of workloads, systems and mappings to the
 * intermediate representation. Sema opens no files: what an import names is handed to it parsed, by a function of the
 * caller. Everything wrong is reported to the sink, once per cause.
 */
#ifndef DFL_SEMA_SEMA_H
#define DFL_SEMA_SEMA_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/program.h"
#include "syntax/ast.h"

typedef struct {
    const dfl_source *source; /* the same file gives the same source, however it was named */
    const dfl_ast_file *file;
} dfl_sema_file;

/*
 * Finds and parses what `target` names: "std.chips.h100", or the text of a string when `quoted`, relative to the
 * file `from`. Syntax errors go to the sink of the session; false only when there is no such file, with the reason
 * in `*why` and the target nearest to it in `*near` (both may stay NULL). Asked at most once for each import.
 */
typedef bool dfl_sema_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                           const char **why, const char **near);

typedef struct {
    dfl_arena *arena;              /* owns everything that is made */
    dfl_intern *names;             /* the table that the trees were made with */
    dfl_sink *sink;
    const dfl_lint_levels *lints;  /* NULL = defaults */
    dfl_sema_load *load;
    void *context;
} dfl_sema_input;

/* Deepest nesting of `apply`, `use` and derived declarations, and of expressions through the constants they name; most
   einsums of a workload; most iterations of its `for` loops together. */
enum {
    DFL_SEMA_MAX_NESTING = 64, DFL_SEMA_MAX_EVAL_DEPTH = 4000, DFL_SEMA_MAX_PARTS = 100000,
    DFL_SEMA_MAX_ITERATIONS = 1000000,
};

/* Never NULL; holds what could be made of the file. Whether all is well says the sink. */
const dfl_program *dfl_sema_run(const dfl_sema_input *input, dfl_sema_file root);

#endif
