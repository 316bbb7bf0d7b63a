/* Sets `{8, 16}` and ranges `0..4`, `1..64 times 2`: the possible values of a `for`, a hole or a sweep. */
#ifndef DFL_SEMA_EXPR_SETS_H
#define DFL_SEMA_EXPR_SETS_H

#include "sema/names/scope.h"

/* Appends the values of a set or range, in order. Returns false after reporting, or if a value is UNKNOWN (`*unknown`). */
bool dfl_eval_set(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, dfl_values *out, bool *unknown);

#endif
