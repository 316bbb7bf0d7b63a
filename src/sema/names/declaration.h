/* Declarations of a module, and the resolution of paths to declarations. */
#ifndef DFL_SEMA_NAMES_DECLARATION_H
#define DFL_SEMA_NAMES_DECLARATION_H

#include "sema/names/context.h"
#include "sema/names/scope.h"

typedef struct dfl_decl {
    const dfl_ast_node *node;
    dfl_module *module;
    dfl_sym name;
    bool busy;              /* a constant is being evaluated, or a mapping elaborated: a use of it now is a cycle */
    bool done;              /* a constant is evaluated */
    bool checked;           /* a workload or system was elaborated at its defaults */
    bool broken;            /* an error in a workload, system or mapping was reported */
    dfl_value value;        /* value of a constant, once `done` */
    struct dfl_decl *base;  /* declaration from which a workload, system or mapping is derived, once resolved */
    dfl_symmap cache;       /* elaborations by hash of the arguments; owned by expr/memo.c */
    void *elaborated;       /* elaboration of a mapping (dfl_elaborated_mapping), or NULL */
} dfl_decl;

/*
 * The declaration that a path names: `name` in the module or an import without an alias, `alias.name`, or `alias` alone
 * for the declaration that has the name of the imported file. NULL if there is none (silent); `*broken` is then set if a
 * failed import, or an ambiguity that was reported (E0206), explains the absence.
 */
dfl_decl *dfl_decl_find(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, bool *broken);
/* The same for a declaration of one kind; NULL after reporting that there is none or that it is of another kind. */
dfl_decl *dfl_decl_need(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, dfl_ast_kind kind);
/* The operation `name`: of the module, of an import without an alias, or of std.ops. NULL if there is none. */
dfl_decl *dfl_decl_op(dfl_sema *sema, dfl_module *module, dfl_sym name);
/* Reports E0201 for a path in an expression. */
void dfl_decl_report_unknown(dfl_sema *sema, dfl_scope *scope, const dfl_ast_path *path);
/*
 * Enters a body that is put into another one: adds a level to `sema->nesting`, which the caller takes off again. Returns
 * false after reporting a cycle of derivations (E0211) or too many levels (E0606); `what` is "workloads" or "systems".
 */
bool dfl_decl_enter(dfl_sema *sema, dfl_decl *decl, const char *what);
/* The declaration or alias visible in the module whose name is most similar to `name`; 0 if none is similar. */
dfl_sym dfl_decl_suggest(dfl_sema *sema, dfl_module *module, dfl_sym name);

#endif
