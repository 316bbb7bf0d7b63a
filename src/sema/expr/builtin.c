#include "sema/expr/builtin.h"

#include <string.h>

#include "sema/expr/dimension_errors.h"
#include "support/limits.h"

static const struct { const char *name; unsigned least, most; /* smallest and largest number of arguments */ } functions[] = {
    [DFL_BUILTIN_FLOOR] = { "floor", 1, 1 },
    [DFL_BUILTIN_CEIL] = { "ceil", 1, 1 },
    [DFL_BUILTIN_MOD] = { "mod", 2, 2 },
    [DFL_BUILTIN_MIN] = { "min", 1, DFL_SEMA_MAX_ARGUMENTS },
    [DFL_BUILTIN_MAX] = { "max", 1, DFL_SEMA_MAX_ARGUMENTS },
    [DFL_BUILTIN_LOG2] = { "log2", 1, 1 },
    [DFL_BUILTIN_SQRT] = { "sqrt", 1, 1 },
    [DFL_BUILTIN_POW] = { "pow", 2, 2 },
    [DFL_BUILTIN_SELECT] = { "select", 3, 3 },
};

enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

dfl_builtin dfl_builtin_find(const char *name)
{
    unsigned function = 0;

    while (function < N_FUNCTIONS && strcmp(functions[function].name, name) != 0)
        function++;
    return (dfl_builtin)function;
}

/* Reports E0201: a function name that has no meaning. */
static void report_unknown(dfl_sema *sema, const dfl_expr *call)
{
    dfl_sym known[N_FUNCTIONS], near;
    dfl_diag *d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, call->path->span, "no function `%s`",
                             dfl_sema_text(sema, call->path->text));

    for (size_t i = 0; i < N_FUNCTIONS; i++)
        known[i] = dfl_intern_z(sema->names, functions[i].name);
    near = dfl_suggest(sema->names, dfl_sema_text(sema, call->path->text), known, N_FUNCTIONS);
    if (near != 0)
        dfl_diag_fix(sema->sink, d, call->path->span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(sema->sink, d, "the functions are floor, ceil, mod, min, max, log2, sqrt, pow and select");
}

dfl_builtin dfl_builtin_of_call(dfl_sema *sema, const dfl_expr *call)
{
    dfl_builtin function = dfl_builtin_find(dfl_sema_text(sema, call->path->text));

    if (function == DFL_BUILTIN_NONE) {
        report_unknown(sema, call);
        return DFL_BUILTIN_NONE;
    }
    if (call->n_args < functions[function].least || call->n_args > functions[function].most) {
        dfl_report(sema->sink, call->n_args < functions[function].least ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_TOO_MANY,
                   call->span, "`%s` takes %u argument%s, %u given", functions[function].name, functions[function].least,
                   functions[function].least == 1 ? "" : "s", call->n_args);
        return DFL_BUILTIN_NONE;
    }
    return function;
}

bool dfl_builtin_check_argument(dfl_sema *sema, const dfl_expr *arg, dfl_builtin function, unsigned position,
                                const dfl_value *value)
{
    bool condition = function == DFL_BUILTIN_SELECT && position == 0;

    if (value->kind == DFL_VALUE_UNKNOWN || value->kind == (condition ? DFL_VALUE_BOOL : DFL_VALUE_QUANTITY))
        return true;
    if (value->kind != DFL_VALUE_BAD)
        dfl_report(sema->sink, DFL_EXPR_TYPE, arg->span, condition ? "expected a condition" : "expected a number");
    return false;
}

/* The value of `min` or `max`: the smallest or the largest argument. */
static dfl_value extreme(dfl_sema *sema, const dfl_expr *call, const dfl_value *args, unsigned n, bool largest)
{
    unsigned best = 0;
    int order;

    for (unsigned i = 1; i < n; i++) {
        dfl_arith status = dfl_quantity_compare(args[i].quantity, args[best].quantity, &order);

        if (status != DFL_ARITH_OK)
            return dfl_arith_report(sema, status, call, args[best], args[i]);
        if (largest ? order > 0 : order < 0)
            best = i;
    }
    return args[best];
}

dfl_value dfl_builtin_apply(dfl_sema *sema, const dfl_expr *call, dfl_builtin function, const dfl_value *args, unsigned n)
{
    dfl_quantity q = args[0].quantity;
    dfl_arith status = DFL_ARITH_OK;

    switch (function) {
    case DFL_BUILTIN_FLOOR:
    case DFL_BUILTIN_CEIL:
        status = dfl_quantity_round(args[0].quantity, function == DFL_BUILTIN_CEIL, &q);
        break;
    case DFL_BUILTIN_MOD:
        status = dfl_quantity_mod(args[0].quantity, args[1].quantity, &q);
        break;
    case DFL_BUILTIN_MIN:
    case DFL_BUILTIN_MAX:
        return extreme(sema, call, args, n, function == DFL_BUILTIN_MAX);
    case DFL_BUILTIN_LOG2:
        status = dfl_quantity_log2(args[0].quantity, &q);
        break;
    case DFL_BUILTIN_SQRT:
        status = dfl_quantity_sqrt(args[0].quantity, &q);
        break;
    case DFL_BUILTIN_POW:
        status = dfl_quantity_pow(args[0].quantity, args[1].quantity, &q);
        break;
    case DFL_BUILTIN_SELECT:
        return args[0].truth ? args[1] : args[2];
    case DFL_BUILTIN_NONE:
        return DFL_BAD;
    }
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_arith_report(sema, status, call, args[0], args[n - 1]);
}
