/*
 * Lowering of `require`, `expect`, `assume` and objectives: expressions over results. Constants are folded; a path to a
 * result stays a path, for whoever has the results.
 */
#ifndef DFL_SEMA_MAPPING_CHECKS_H
#define DFL_SEMA_MAPPING_CHECKS_H

#include "sema/names/scope.h"

typedef struct {
    dfl_sema *sema;
    dfl_scope *scope;  /* names of constants */
    bool inside;       /* in a workload or mapping: a path may leave out the name of the declaration */
    bool ok;           /* no error was reported */
} dfl_check_context;

/* The value of an expression; NULL for NULL. Clears `ctx->ok` after reporting. */
const dfl_val *dfl_check_lower_value(dfl_check_context *ctx, const dfl_expr *expr);
/* Lowers a check. `scope` is the name of the workload or mapping around, or 0. Returns false after reporting. */
bool dfl_check_lower(dfl_check_context *ctx, const dfl_ast_node *node, dfl_sym scope, dfl_check *out);

#endif
