/*
 * The state of one run of semantic analysis, and name resolution. All sub-rooms of sema share these files:
 *
 *   input        the input from the caller: a parsed root file, a sink, a loader of imports
 *   limits       all limits of sema
 *   context      the state of the run: services of the caller, loaded modules, results so far
 *   value        values of constant expressions
 *   symmap       tables from symbols to pointers
 *   scope        nested scopes inside a declaration, and their entries
 *   module       files: their declarations and imports
 *   declaration  lookup of a declaration by a path, in its module and through imports
 *   lookup       lookup of a part by any unambiguous suffix of its full name
 *
 * A name is resolved in the innermost scope with such a name, else in the declarations of the module, else in the
 * modules that it imports without an alias.
 */
#ifndef DFL_SEMA_NAMES_CONTEXT_H
#define DFL_SEMA_NAMES_CONTEXT_H

#include "ir/program.h"
#include "sema/names/input.h"
#include "support/vec.h"

typedef struct dfl_module dfl_module;

typedef DFL_VEC(dfl_line) dfl_lines;

typedef struct {
    const dfl_sema_input *input;
    dfl_arena *arena;             /* arena of the input */
    dfl_intern *names;            /* symbol table of the input */
    dfl_sink *sink;               /* sink of the input */
    dfl_budget *budget;           /* budget of the arena; NULL = unlimited */
    dfl_module *modules;          /* all opened modules, the last one first */
    dfl_module *root;             /* module of the file under analysis */
    dfl_module *std_ops;          /* module std.ops; NULL = not loaded or not found */
    bool std_ops_sought;          /* the run has tried to load std.ops */
    bool has_syntax_errors;       /* the root file has syntax errors: a missing part may be a consequence */
    struct dfl_insertion *body;   /* innermost body of a workload or system under elaboration, see declaration.h; or NULL */
    bool is_full;                 /* a workload or system exceeds a limit on its size: no further one is elaborated */
    unsigned nesting;             /* depth of declarations inserted into each other, at most DFL_SEMA_MAX_NESTING */
    unsigned eval_depth;          /* depth of expressions, at most DFL_SEMA_MAX_EVAL_DEPTH */
    dfl_lines lines;              /* stack of the lines of all unfinished chains of a mapping; the innermost chain is last */
    DFL_VEC(dfl_design) designs;  /* results, as in dfl_program */
    DFL_VEC(dfl_template) templates;
    DFL_VEC(dfl_check) checks;
    DFL_VEC(dfl_sized_workload) workloads;
    DFL_VEC(const dfl_system *) systems;
    DFL_VEC(dfl_sweep) sweeps;
} dfl_sema;

/* The text of a symbol. */
static inline const char *dfl_sema_text(const dfl_sema *sema, dfl_sym sym) { return dfl_sym_text(sema->names, sym); }
/* The source text of a span as one line, white space reduced to single blanks; "" if no source has the span. */
const char *dfl_sema_slice(const dfl_sema *sema, dfl_span span);
/* False if the budget is used up; the first such call reports this. */
bool dfl_sema_within_budget(dfl_sema *sema);
/* Adds the label `what` at `span` to every report after the first `before` reports, unless the report lies in `span`:
   the label shows the place that led to the report. */
void dfl_sema_blame(dfl_sema *sema, size_t before, dfl_span span, const char *what);

#endif
