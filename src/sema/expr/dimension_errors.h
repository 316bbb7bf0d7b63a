/* Diagnostics of failed arithmetic. Reports for an operator or function whose operands have dimensions that it cannot
   combine. */
#ifndef DFL_SEMA_EXPR_DIMENSION_ERRORS_H
#define DFL_SEMA_EXPR_DIMENSION_ERRORS_H

#include "sema/names/context.h"
#include "sema/names/value.h"

/* Reports why the operator or function `expr` has no value for `a` and `b`. Returns BAD, for the caller to return. */
dfl_value dfl_arith_report(dfl_sema *sema, dfl_arith status, const dfl_expr *expr, dfl_value a, dfl_value b);
/* The dimension in the form of a report: "data/time". */
const char *dfl_arith_dim_text(dfl_sema *sema, dfl_dim dim);
/* The quantity in the form of a report: "4 GB/s". */
const char *dfl_arith_value_text(dfl_sema *sema, const dfl_value *value);

#endif
