/* Parameters of declarations, and the arguments of references to them. */
#ifndef DFL_SEMA_EXPR_ARGUMENTS_H
#define DFL_SEMA_EXPR_ARGUMENTS_H

#include "sema/names/declaration.h"
#include "sema/names/scope.h"

/*
 * Declares the parameters `params` of `owner` in `scope`. The value of a parameter is the argument of `ref` (NULL = no
 * arguments), evaluated in `from`, else the default, evaluated in `scope`. A parameter without argument and default is
 * UNKNOWN; `*missing` is set to the first such parameter, or NULL. Returns false after reporting.
 */
bool dfl_args_bind(dfl_sema *sema, dfl_scope *scope, const dfl_ast_node *params, const dfl_ast_ref *ref, dfl_scope *from,
                   dfl_decl *owner, const dfl_ast_node **missing);
/* Reports that a reference has no argument for `missing`, a parameter without a default. Returns false. */
bool dfl_args_need(dfl_sema *sema, const dfl_ast_ref *ref, const dfl_ast_node *missing);

#endif
