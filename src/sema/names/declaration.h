/* Declarations of a module, and the resolution of paths to declarations. */
#ifndef DFL_SEMA_NAMES_DECLARATION_H
#define DFL_SEMA_NAMES_DECLARATION_H

#include "sema/names/context.h"
#include "sema/names/scope.h"

typedef struct dfl_decl {
    const dfl_ast_node *node;
    dfl_module *module;
    dfl_sym name;
    bool busy;              /* the constant is being evaluated, or the mapping elaborated: a use at this time is a cycle */
    bool done;              /* the constant has a value */
    bool checked;           /* the workload or system has been elaborated at its defaults */
    bool broken;            /* an error in the workload, system or mapping has been reported */
    const dfl_expr *given;  /* expression that replaces the value of a `param` (dfl_sema_given); NULL = none */
    bool contains_itself;   /* the workload or system contains itself: this is reported, and no use of it is elaborated */
    dfl_value value;        /* value of the constant, once `done` */
    struct dfl_decl *base;  /* resolved declaration from which the workload, system or mapping is derived */
    dfl_symmap cache;       /* elaborations of the workload or system by hash of the arguments; owned by expr/memo.c */
    void *elaborated;       /* elaboration of the mapping (dfl_elaborated_mapping), or NULL */
} dfl_decl;

/*
 * The declaration that a path names. The path is `name` (declared in the module or in an import without an alias),
 * `alias.name`, or `alias` alone for the declaration with the name of the imported file. NULL if there is no such
 * declaration; reports nothing. `*broken` is then set if a failed import, or a reported ambiguity (E0206), explains the
 * absence.
 */
dfl_decl *dfl_decl_find(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, bool *broken);
/* The declaration of kind `kind` that a path names; NULL after reporting that there is no such declaration or that it
   is of another kind. */
dfl_decl *dfl_decl_need(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, dfl_ast_kind kind);
/* The operation `name`: declared in the module, in an import without an alias, or in std.ops. NULL if there is no such
   operation. */
dfl_decl *dfl_decl_op(dfl_sema *sema, dfl_module *module, dfl_sym name);
/* Reports E0201: a path in an expression names nothing. */
void dfl_decl_report_unknown(dfl_sema *sema, dfl_scope *scope, const dfl_ast_path *path);
/* The body of a workload or system that is being elaborated. */
typedef struct dfl_insertion {
    dfl_decl *decl;
    const dfl_scope *args;  /* values of the parameters */
    dfl_span use;           /* the place that inserts the body into the one around it */
    struct dfl_insertion *around; /* set by dfl_decl_enter; NULL for the outermost body */
} dfl_insertion;

/*
 * Enters a body that is inserted into another: adds a level to `sema->nesting`. The caller leaves by dfl_decl_leave.
 * Returns false after reporting a body that contains itself (E0211) or too many levels (E0606), and silently if this was
 * reported before.
 */
bool dfl_decl_enter(dfl_sema *sema, dfl_insertion *body);
void dfl_decl_leave(dfl_sema *sema);
/* The role of tensors (`weight`) whose name is most similar to `name`; 0 if none is similar. */
dfl_sym dfl_role_suggest(dfl_sema *sema, dfl_sym name);
/* The declaration or alias visible in the module whose name is most similar to `name`; 0 if no name is similar. */
dfl_sym dfl_decl_suggest(dfl_sema *sema, dfl_module *module, dfl_sym name);

#endif
