/* Scopes: the names that are visible inside a workload, system or mapping. */
#ifndef DFL_SEMA_NAMES_SCOPE_H
#define DFL_SEMA_NAMES_SCOPE_H

#include "sema/names/context.h"
#include "sema/names/symmap.h"
#include "sema/names/value.h"

typedef enum { DFL_ENTRY_VALUE, DFL_ENTRY_RANK, DFL_ENTRY_TENSOR, DFL_ENTRY_INSTANCE, DFL_ENTRY_PART } dfl_entry_kind;

struct dfl_scope;

/* The meaning of a name in a scope. */
typedef struct {
    dfl_entry_kind kind;
    dfl_span span;             /* place of the declaration */
    uint32_t id;               /* RANK, TENSOR, PART: index in the draft */
    dfl_value value;           /* VALUE: the value */
    struct dfl_scope *members; /* name of an `apply` or `repeat`: scope of its body, for `conv1.O`, `layer.Y`; else NULL */
    uint32_t instance;         /* name of an `apply` or `repeat`: its index in the instances of the workload */
} dfl_scope_entry;

typedef struct dfl_scope {
    struct dfl_scope *parent; /* enclosing scope; NULL = the declarations of `module` enclose this scope */
    dfl_module *module;
    dfl_symmap names;         /* map from names to dfl_scope_entry */
    DFL_VEC(dfl_sym) order;   /* names in the order of their declaration, for suggestions */
} dfl_scope;

/* Makes an empty scope in the arena of the run. */
dfl_scope *dfl_scope_new(dfl_sema *sema, dfl_scope *parent, dfl_module *module);
/* Adds a name to the scope. Reports E0202 and returns NULL if the scope itself (not a parent) already has the name. */
dfl_scope_entry *dfl_scope_declare(dfl_sema *sema, dfl_scope *scope, dfl_sym name, dfl_span span, dfl_entry_kind kind);
/* Reports E0202: `name` is `how` ("declared", "given") at `first`, and again at `at`. */
dfl_diag *dfl_scope_report_twice(dfl_sema *sema, dfl_span at, dfl_span first, const char *how, const char *name);
/* The entry of `name` in the scope or in the nearest parent that has the name; NULL if no scope has it. */
dfl_scope_entry *dfl_scope_find(const dfl_scope *scope, dfl_sym name);
/* The entry of `name` in the scope itself, or NULL. */
dfl_scope_entry *dfl_scope_find_here(const dfl_scope *scope, dfl_sym name);
/* The visible name of one kind that is most similar to `name`; 0 if no name is similar. */
dfl_sym dfl_scope_suggest(dfl_sema *sema, const dfl_scope *scope, dfl_sym name, dfl_entry_kind kind);
/* The visible name of any kind that is most similar to `name`; 0 if no name is similar. */
dfl_sym dfl_scope_suggest_any(dfl_sema *sema, const dfl_scope *scope, dfl_sym name);

#endif
