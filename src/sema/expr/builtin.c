/* The built-in functions of constant expressions, and the values of sets and ranges. */
#include "sema/files/room.h"

#include <string.h>

typedef enum { FLOOR, CEIL, MOD, MIN, MAX, LOG2, SQRT, POW, SELECT } function;

static const struct { const char *name; unsigned least, most; } functions[] = {
    [FLOOR] = { "floor", 1, 1 }, [CEIL] = { "ceil", 1, 1 }, [MOD] = { "mod", 2, 2 },
    [MIN] = { "min", 1, 64 },    [MAX] = { "max", 1, 64 },  [LOG2] = { "log2", 1, 1 },
    [SQRT] = { "sqrt", 1, 1 },   [POW] = { "pow", 2, 2 },   [SELECT] = { "select", 3, 3 },
};

enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

static dfl_value unknown_function(dfl_sema *s, const dfl_expr *e)
{
    dfl_sym known[N_FUNCTIONS], near;
    dfl_diag *d = dfl_report(s->sink, DFL_NAME_UNKNOWN, e->path->span, "no function `%s`",
                             dfl_sema_text(s, e->path->text));

    for (size_t i = 0; i < N_FUNCTIONS; i++)
        known[i] = dfl_intern_z(s->names, functions[i].name);
    near = dfl_suggest(s->names, dfl_sema_text(s, e->path->text), known, N_FUNCTIONS);
    if (near != 0)
        dfl_diag_fix(s->sink, d, e->path->span, dfl_sema_text(s, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(s->sink, d, "the functions are floor, ceil, mod, min, max, log2, sqrt, pow and select");
    return DFL_BAD;
}

/* floor(a / b) of integers is exact: the quotient is not formed first. */
static bool rounds_division(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, bool up, dfl_value *out)
{
    const dfl_expr *arg = e->args;
    dfl_value a, b;
    dfl_quantity q;
    dfl_arith status;

    if (arg->kind != DFL_EXPR_DIV)
        return false;
    a = dfl_eval(s, scope, arg->left);
    b = dfl_eval(s, scope, arg->right);
    if (a.kind == DFL_VALUE_BAD || b.kind == DFL_VALUE_BAD)
        *out = DFL_BAD;
    else if (a.kind == DFL_VALUE_UNKNOWN || b.kind == DFL_VALUE_UNKNOWN)
        *out = DFL_UNKNOWN;
    else if (a.kind != DFL_VALUE_QUANTITY || b.kind != DFL_VALUE_QUANTITY) {
        dfl_report(s->sink, DFL_EXPR_TYPE, arg->span, "expected a number");
        *out = DFL_BAD;
    } else {
        status = dfl_quantity_div_round(a.quantity, b.quantity, up, &q);
        *out = status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_eval_failed(s, status, arg, a, b);
    }
    return true;
}

static dfl_value extreme(dfl_sema *s, const dfl_expr *e, const dfl_value *args, unsigned n, bool largest)
{
    unsigned best = 0;
    int order;

    for (unsigned i = 1; i < n; i++) {
        dfl_arith status = dfl_quantity_compare(args[i].quantity, args[best].quantity, &order);

        if (status != DFL_ARITH_OK)
            return dfl_eval_failed(s, status, e, args[best], args[i]);
        if (largest ? order > 0 : order < 0)
            best = i;
    }
    return args[best];
}

static dfl_value apply(dfl_sema *s, const dfl_expr *e, function f, const dfl_value *args, unsigned n)
{
    dfl_quantity q = args[0].quantity;
    dfl_arith status = DFL_ARITH_OK;

    switch (f) {
    case FLOOR:
    case CEIL:
        status = dfl_quantity_round(args[0].quantity, f == CEIL, &q);
        break;
    case MOD:
        status = dfl_quantity_mod(args[0].quantity, args[1].quantity, &q);
        break;
    case MIN:
    case MAX:
        return extreme(s, e, args, n, f == MAX);
    case LOG2:
        status = dfl_quantity_log2(args[0].quantity, &q);
        break;
    case SQRT:
        status = dfl_quantity_sqrt(args[0].quantity, &q);
        break;
    case POW:
        status = dfl_quantity_pow(args[0].quantity, args[1].quantity, &q);
        break;
    case SELECT:
        return args[0].truth ? args[1] : args[2];
    }
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_eval_failed(s, status, e, args[0], args[n - 1]);
}

dfl_value dfl_eval_call(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    dfl_value args[64];
    unsigned f = 0, n = 0;
    bool bad = false, unknown = false;

    while (f < N_FUNCTIONS && strcmp(functions[f].name, dfl_sema_text(s, e->path->text)) != 0)
        f++;
    if (f == N_FUNCTIONS)
        return unknown_function(s, e);
    if (e->n_args < functions[f].least || e->n_args > functions[f].most) {
        dfl_report(s->sink, e->n_args < functions[f].least ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_TOO_MANY, e->span,
                   "`%s` takes %u argument%s, %u given", functions[f].name, functions[f].least,
                   functions[f].least == 1 ? "" : "s", e->n_args);
        return DFL_BAD;
    }
    args[0] = DFL_BAD;
    if ((f == FLOOR || f == CEIL) && rounds_division(s, scope, e, f == CEIL, &args[0]))
        return args[0];
    for (const dfl_expr *a = e->args; a != NULL && n < 64; a = a->next, n++) {
        bool condition = f == SELECT && n == 0;

        args[n] = dfl_eval(s, scope, a);
        if (args[n].kind == DFL_VALUE_UNKNOWN) {
            unknown = true;
        } else if (args[n].kind == DFL_VALUE_BAD) {
            bad = true;
        } else if (args[n].kind != (condition ? DFL_VALUE_BOOL : DFL_VALUE_QUANTITY)) {
            dfl_report(s->sink, DFL_EXPR_TYPE, a->span, condition ? "expected a condition" : "expected a number");
            bad = true;
        }
    }
    if (bad)
        return DFL_BAD;
    return unknown ? DFL_UNKNOWN : apply(s, e, (function)f, args, n);
}

/* ---- sets and ranges ------------------------------------------------------------------------------------------ */

/* One step of a range; false after reporting. */
static bool advance(dfl_sema *s, const dfl_expr *e, dfl_value *at, const dfl_value *by)
{
    dfl_quantity q;
    dfl_arith status = e->times ? dfl_quantity_mul(at->quantity, by->quantity, &q)
                                : dfl_quantity_add(at->quantity, by->quantity, &q);
    int order = 0;

    if (status != DFL_ARITH_OK) {
        dfl_eval_failed(s, status, e, *at, *by);
        return false;
    }
    if (dfl_quantity_compare(q, at->quantity, &order) != DFL_ARITH_OK || order <= 0) {
        dfl_report(s->sink, DFL_EXPR_TYPE, e->third != NULL ? e->third->span : e->span, "range does not grow");
        return false;
    }
    at->quantity = q;
    return true;
}

/* `a .. b` ends before b, as counts do; `a .. b step s` and `a .. b times f` end with b, as lists of sizes do. */
static bool eval_range(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, dfl_values *out, bool *unknown)
{
    dfl_value at = dfl_eval(s, scope, e->left), end = dfl_eval(s, scope, e->right);
    dfl_value by = e->third != NULL ? dfl_eval(s, scope, e->third) : dfl_value_of(dfl_quantity_int(1));
    const dfl_value *parts[] = { &at, &end, &by };

    for (int i = 0; i < 3; i++) {
        *unknown = *unknown || parts[i]->kind == DFL_VALUE_UNKNOWN;
        if (parts[i]->kind == DFL_VALUE_BAD)
            return false;
        if (parts[i]->kind != DFL_VALUE_QUANTITY && parts[i]->kind != DFL_VALUE_UNKNOWN) {
            dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "a range goes from number to number");
            return false;
        }
    }
    if (*unknown)
        return false;
    while (dfl_sema_ok(s)) {
        int order;
        dfl_arith status = dfl_quantity_compare(at.quantity, end.quantity, &order);

        if (status != DFL_ARITH_OK) {
            dfl_eval_failed(s, status, e, at, end);
            return false;
        }
        if (order > 0 || (order == 0 && e->third == NULL))
            return true;
        if (out->n >= DFL_SEMA_MAX_PARTS) {
            dfl_report(s->sink, DFL_LIMIT_COUNT, e->span, "range of more than %d values", DFL_SEMA_MAX_PARTS);
            return false;
        }
        DFL_PUSH(s->arena, out, at);
        if (!advance(s, e, &at, &by))
            return false;
    }
    return false;
}

bool dfl_eval_domain(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, dfl_values *out, bool *unknown)
{
    bool ok = true;

    *unknown = false;
    if (e == NULL)
        return false;
    if (e->kind == DFL_EXPR_RANGE)
        return eval_range(s, scope, e, out, unknown);
    if (e->kind != DFL_EXPR_SET) {
        dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "expected a set or a range");
        return false;
    }
    for (const dfl_expr *a = e->args; a != NULL; a = a->next) {
        dfl_value v = dfl_eval(s, scope, a);

        *unknown = *unknown || v.kind == DFL_VALUE_UNKNOWN;
        ok = ok && v.kind != DFL_VALUE_BAD && v.kind != DFL_VALUE_UNKNOWN;
        DFL_PUSH(s->arena, out, v);
    }
    return ok;
}
