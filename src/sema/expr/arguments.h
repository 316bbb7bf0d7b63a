/* Parameters of declarations, and the arguments of references to them. */
#ifndef DFL_SEMA_EXPR_ARGUMENTS_H
#define DFL_SEMA_EXPR_ARGUMENTS_H

#include "sema/names/declaration.h"
#include "sema/names/scope.h"

/*
 * Declares the parameters `params` of `owner` in `scope`. Their values come from the arguments of `ref` (NULL = none),
 * evaluated in `from`, else from the defaults, evaluated in `scope`. A parameter with neither is UNKNOWN; `*missing` gets
 * the first such parameter, or NULL. Returns false after reporting.
 */
bool dfl_args_bind(dfl_sema *sema, dfl_scope *scope, const dfl_ast_node *params, const dfl_ast_ref *ref, dfl_scope *from,
                   dfl_decl *owner, const dfl_ast_node **missing);
/* Reports that a reference leaves out `missing`, a parameter without a default. Returns false. */
bool dfl_args_need(dfl_sema *sema, const dfl_ast_ref *ref, const dfl_ast_node *missing);

#endif
