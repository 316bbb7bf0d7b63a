/*
 * Constant expressions. Values are exact integers, quantities with a dimension, conditions and strings. The arithmetic
 * and its check of dimensions are those of ir/quantity. The files of this folder:
 *
 *   eval              the value of an expression or of a declared constant
 *   builtin           the functions floor, min, select, ...
 *   given             values of parameters from the command line
 *   sets              the values of a set or range
 *   dimension_errors  diagnostics of failed arithmetic: unequal dimensions, overflow, division by zero
 *   arguments         values of the parameters of a declaration, from arguments and defaults
 *   memo              elaboration of a declaration once per combination of arguments
 *   data_type         sizes of the data types of tensors
 */
#ifndef DFL_SEMA_EXPR_EVAL_H
#define DFL_SEMA_EXPR_EVAL_H

#include "sema/names/declaration.h"
#include "sema/names/scope.h"

/* The value of an expression with the names of `scope`; BAD after reporting and for NULL. */
dfl_value dfl_eval(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr);
/* The value of a `let` or `param` of a module, evaluated at most once. `use`: the place that names the constant; the
   function reports E0211. */
dfl_value dfl_eval_decl(dfl_sema *sema, dfl_decl *decl, dfl_span use);
/*
 * Evaluates a plain integer in [low, high]. Returns false, with `*out` = low, for a value that is BAD or UNKNOWN
 * (`*unknown`), and after reporting any other value. `what`: name of the integer in reports, for example "the size of a
 * rank".
 */
bool dfl_eval_int(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, const char *what, int64_t low, int64_t high,
                  int64_t *out, bool *unknown);

#endif
