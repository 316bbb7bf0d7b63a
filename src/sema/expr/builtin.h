/* The built-in functions of constant expressions: floor, ceil, mod, min, max, log2, sqrt, pow, select. */
#ifndef DFL_SEMA_EXPR_BUILTIN_H
#define DFL_SEMA_EXPR_BUILTIN_H

#include "sema/names/context.h"
#include "sema/names/value.h"

typedef enum {
    DFL_BUILTIN_FLOOR, DFL_BUILTIN_CEIL, DFL_BUILTIN_MOD, DFL_BUILTIN_MIN, DFL_BUILTIN_MAX, DFL_BUILTIN_LOG2,
    DFL_BUILTIN_SQRT, DFL_BUILTIN_POW, DFL_BUILTIN_SELECT,
    DFL_BUILTIN_NONE, /* the name of no built-in function */
} dfl_builtin;

/* The built-in function named `name`, or DFL_BUILTIN_NONE. */
dfl_builtin dfl_builtin_find(const char *name);
/* The built-in function of a call, if the call has the right number of arguments; DFL_BUILTIN_NONE after reporting. */
dfl_builtin dfl_builtin_of_call(dfl_sema *sema, const dfl_expr *call);
/* Whether the argument at a position has a type that the function accepts; UNKNOWN is accepted. False after
   reporting. */
bool dfl_builtin_check_argument(dfl_sema *sema, const dfl_expr *arg, dfl_builtin function, unsigned position,
                                const dfl_value *value);
/* The value of a call with `n` arguments that have passed their checks, none UNKNOWN or BAD; BAD after reporting. */
dfl_value dfl_builtin_apply(dfl_sema *sema, const dfl_expr *call, dfl_builtin function, const dfl_value *args, unsigned n);

#endif
