/* Lowering `require`, `expect` and `assume`: constants folded, paths to results kept for whoever has results. */
#ifndef DFL_SEMA_MAPPING_CHECKS_H
#define DFL_SEMA_MAPPING_CHECKS_H

#include "sema/files/room.h"

typedef struct {
    dfl_sema *s;
    dfl_scope *scope;  /* of constants */
    bool inside;       /* in a workload or mapping, where the first name of a path may be left out */
    bool ok;
} dfl_checking;

/* NULL for NULL. */
const dfl_val *dfl_check_value(dfl_checking *c, const dfl_expr *e);
/* `scope` is the name of the workload or mapping around, or 0. False after reporting. */
bool dfl_check_lower(dfl_checking *c, const dfl_ast_node *n, dfl_sym scope, dfl_check *out);

#endif
