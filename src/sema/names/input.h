/* The input of semantic analysis: a parsed file, the services of the caller, and the interface for loading imports. */
#ifndef DFL_SEMA_NAMES_INPUT_H
#define DFL_SEMA_NAMES_INPUT_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "syntax/ast.h"

typedef struct {
    const dfl_source *source; /* text of the file; one object per file, even if several paths name the file */
    const dfl_ast_file *file; /* syntax tree of the text */
} dfl_sema_file;

/*
 * Finds and parses the file that an import names. `target`: a dotted path ("std.chips.h100") or, if `quoted`, the text
 * of a string, relative to the file `from`. Syntax errors go to the sink of the session. Returns false only if no such
 * file exists. If no such file exists, `*why` is set to the reason and `*near` to the most similar target (either may
 * remain NULL). Sema calls the function at most once per import.
 */
typedef bool dfl_sema_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                           const char **why, const char **near);

/*
 * Reads the file with the path `target`, relative to the file `from`. The text stays valid for the run, and its place lies
 * in the space of all sources. Returns false after setting `*why` to the reason, or to NULL if the reason was reported.
 */
typedef bool dfl_sema_read(void *context, const dfl_source *from, const char *target, const dfl_source **out, const char **why);

/* A value for a `param`, in place of the value in its declaration. */
typedef struct {
    dfl_sym alias, name;          /* the `param` NAME of the file under analysis, or ALIAS.NAME of an import; alias 0 = none */
    dfl_span span;                /* place of the name, for reports */
    const dfl_expr *value;        /* expression over the constants of the file under analysis */
    bool is_optional;             /* a file without such a declaration has no error */
    bool *is_found;               /* set if the `param` exists; NULL = nobody asks */
} dfl_sema_given;

typedef struct {
    dfl_arena *arena;             /* owner of all results */
    dfl_intern *names;            /* symbol table of the syntax trees */
    dfl_sink *sink;               /* receiver of all diagnostics */
    const dfl_lint_levels *lints; /* levels of the lints; NULL = default levels */
    dfl_sema_load *load;          /* loader of imports; NULL = no import can be loaded */
    dfl_sema_read *read;          /* reader of tables; NULL = no file can be read */
    void *context;                /* first argument of `load` and `read` */
    const dfl_sema_given *given;  /* values of parameters, `n_given` items */
    size_t n_given;
} dfl_sema_input;

#endif
