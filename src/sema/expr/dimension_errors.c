#include "sema/expr/dimension_errors.h"

#include "ir/unit_text.h"

const char *dfl_arith_dim_text(dfl_sema *sema, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, sema->arena);
    dfl_dim_print(&out, dim);
    return out.text;
}

const char *dfl_arith_value_text(dfl_sema *sema, const dfl_value *value)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, sema->arena);
    dfl_quantity_print(&out, value->quantity);
    return out.text;
}

/* Reports E0302: the operator or function cannot combine the dimensions of its operands. */
static void report_dimension(dfl_sema *sema, const dfl_expr *expr, const dfl_value *a, const dfl_value *b)
{
    const char *left = dfl_arith_dim_text(sema, a->quantity.dim), *right = dfl_arith_dim_text(sema, b->quantity.dim);
    dfl_diag *d;

    if (expr->left == NULL || expr->right == NULL) {
        if (dfl_dim_equal(a->quantity.dim, b->quantity.dim))
            dfl_report(sema->sink, DFL_UNIT_DIMENSION, expr->span, "expected a plain number, found %s", left);
        else
            dfl_report(sema->sink, DFL_UNIT_DIMENSION, expr->span, "cannot combine %s with %s", left, right);
        return;
    }
    d = dfl_report(sema->sink, DFL_UNIT_DIMENSION, expr->op, "cannot combine %s with %s", left, right);
    dfl_diag_label(sema->sink, d, expr->left->span, "this is %s", left);
    dfl_diag_label(sema->sink, d, expr->right->span, "this is %s", right);
}

/* Reports a quotient of integers that is no integer, with both ways to round it. */
static void report_inexact(dfl_sema *sema, const dfl_expr *expr, const dfl_value *a, const dfl_value *b)
{
    const char *text = dfl_sema_slice(sema, expr->span);
    dfl_diag *d = dfl_report(sema->sink, DFL_EXPR_INEXACT_DIVISION, expr->op, "%s / %s is not an integer",
                             dfl_arith_value_text(sema, a), dfl_arith_value_text(sema, b));

    dfl_diag_help(sema->sink, d, "round it: `floor(%s)` or `ceil(%s)`", text, text);
    dfl_diag_fix(sema->sink, d, expr->span, dfl_arena_printf(sema->arena, "floor(%s)", text), DFL_FIX_MAYBE);
    dfl_diag_fix(sema->sink, d, expr->span, dfl_arena_printf(sema->arena, "ceil(%s)", text), DFL_FIX_MAYBE);
}

dfl_value dfl_arith_report(dfl_sema *sema, dfl_arith status, const dfl_expr *expr, dfl_value a, dfl_value b)
{
    dfl_span at = expr->op.start != expr->op.end ? expr->op : expr->span;
    dfl_diag *d;

    switch (status) {
    case DFL_ARITH_OK:
        break;
    case DFL_ARITH_OVERFLOW:
        d = dfl_report(sema->sink, DFL_UNIT_OVERFLOW, at, "result is beyond 128 bits");
        dfl_diag_here(sema->sink, d, "integers are exact up to 2^127 - 1");
        dfl_diag_help(sema->sink, d, "use smaller numbers, or a larger unit");
        break;
    case DFL_ARITH_DIMENSION:
        report_dimension(sema, expr, &a, &b);
        break;
    case DFL_ARITH_ZERO:
        d = dfl_report(sema->sink, DFL_EXPR_DIVISION_BY_ZERO, at, "division by zero");
        if (expr->right != NULL)
            dfl_diag_label(sema->sink, d, expr->right->span, "this is 0");
        break;
    case DFL_ARITH_INEXACT:
        report_inexact(sema, expr, &a, &b);
        break;
    case DFL_ARITH_DOMAIN:
        d = dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "this has no value for %s", dfl_arith_value_text(sema, &a));
        if (a.kind == DFL_VALUE_QUANTITY && !dfl_dim_is_none(a.quantity.dim))
            dfl_diag_help(sema->sink, d, "divide by a unit first, as in `sqrt(x / 1s)`");
        break;
    }
    return DFL_BAD;
}
