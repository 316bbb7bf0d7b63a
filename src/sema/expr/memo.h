/*
 * Elaboration of a workload or system with values for its parameters, once per combination of values. The first
 * elaboration of a declaration is at its defaults and raises the lints. If it reports an error, no reference to the
 * declaration is elaborated, so that each error is reported once.
 */
#ifndef DFL_SEMA_EXPR_MEMO_H
#define DFL_SEMA_EXPR_MEMO_H

#include "sema/names/declaration.h"
#include "sema/names/scope.h"

/*
 * Elaborates `decl` with the parameters in `args`. `missing`: the first parameter without a value, or NULL. `lints`:
 * the levels of the lints, or NULL for no lints. Sets `*broken` after reporting an error. Never returns NULL.
 */
typedef void *dfl_elaborate(dfl_sema *sema, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                            const dfl_lint_levels *lints, bool *broken);

/* The elaboration of `decl` at its defaults, with or without errors; NULL if a default itself is wrong. */
void *dfl_memo_default(dfl_sema *sema, dfl_decl *decl, dfl_elaborate *elaborate);
/* The elaboration with the arguments of `ref`, evaluated in `from`. NULL after reporting, and if `decl` is NULL. */
void *dfl_memo_reference(dfl_sema *sema, dfl_decl *decl, dfl_scope *from, const dfl_ast_ref *ref,
                         dfl_elaborate *elaborate);

#endif
