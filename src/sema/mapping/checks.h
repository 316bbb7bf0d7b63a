/*
 * Lowering of `require`, `expect`, `assume` and objectives: expressions over results. Constants are folded. A path to a
 * result remains a path, which later passes evaluate.
 */
#ifndef DFL_SEMA_MAPPING_CHECKS_H
#define DFL_SEMA_MAPPING_CHECKS_H

#include "sema/names/scope.h"

typedef struct {
    dfl_sema *sema;
    dfl_scope *scope;  /* scope with the names of constants */
    bool inside;       /* the check is in a workload or mapping: a path may omit the name of this declaration */
    bool ok;           /* no error has been reported */
} dfl_check_context;

/* Lowers an expression; NULL if `expr` is NULL. Clears `ctx->ok` after a report. */
const dfl_val *dfl_check_lower_value(dfl_check_context *ctx, const dfl_expr *expr);
/* Lowers a check. `scope`: name of the enclosing workload or mapping, or 0. Returns false after reporting. */
bool dfl_check_lower(dfl_check_context *ctx, const dfl_ast_node *node, dfl_sym scope, dfl_check *out);

#endif
