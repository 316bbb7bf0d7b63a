#include "sema/expr/sets.h"

#include "sema/expr/dimension_errors.h"
#include "sema/expr/eval.h"
#include "support/limits.h"

/* The next value of a range. False after reporting an error or a step that does not increase the value. */
static bool advance(dfl_sema *sema, const dfl_expr *expr, dfl_value *at, const dfl_value *by)
{
    dfl_quantity q;
    dfl_arith status = expr->times ? dfl_quantity_mul(at->quantity, by->quantity, &q)
                                : dfl_quantity_add(at->quantity, by->quantity, &q);
    int order = 0;

    if (status != DFL_ARITH_OK) {
        dfl_arith_report(sema, status, expr, *at, *by);
        return false;
    }
    if (dfl_quantity_compare(q, at->quantity, &order) != DFL_ARITH_OK || order <= 0) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, expr->third != NULL ? expr->third->span : expr->span,
                "this range does not grow");
        return false;
    }
    at->quantity = q;
    return true;
}

/* The range `a .. b` excludes b, like a count; `a .. b step s` and `a .. b times f` include b, like a list of sizes. */
static bool eval_range(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, dfl_values *out, bool *unknown)
{
    dfl_value at = dfl_eval(sema, scope, expr->left), end = dfl_eval(sema, scope, expr->right);
    dfl_value by = expr->third != NULL ? dfl_eval(sema, scope, expr->third) : dfl_value_of(dfl_quantity_int(1));
    const dfl_value *parts[] = { &at, &end, &by };

    for (int i = 0; i < 3; i++) {
        *unknown = *unknown || parts[i]->kind == DFL_VALUE_UNKNOWN;
        if (parts[i]->kind == DFL_VALUE_BAD)
            return false;
        if (parts[i]->kind != DFL_VALUE_QUANTITY && parts[i]->kind != DFL_VALUE_UNKNOWN) {
            dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "a range goes from number to number");
            return false;
        }
    }
    if (*unknown)
        return false;
    while (dfl_sema_within_budget(sema)) {
        int order;
        dfl_arith status = dfl_quantity_compare(at.quantity, end.quantity, &order);

        if (status != DFL_ARITH_OK) {
            dfl_arith_report(sema, status, expr, at, end);
            return false;
        }
        if (order > 0 || (order == 0 && expr->third == NULL))
            return true;
        if (out->n >= DFL_SEMA_MAX_PARTS) {
            dfl_report(sema->sink, DFL_LIMIT_COUNT, expr->span,
                    "this range has more than %d values", DFL_SEMA_MAX_PARTS);
            return false;
        }
        DFL_PUSH(sema->arena, out, at);
        if (!advance(sema, expr, &at, &by))
            return false;
    }
    return false;
}

bool dfl_eval_set(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, dfl_values *out, bool *unknown)
{
    bool ok = true;

    *unknown = false;
    if (expr == NULL)
        return false;
    if (expr->kind == DFL_EXPR_RANGE)
        return eval_range(sema, scope, expr, out, unknown);
    if (expr->kind != DFL_EXPR_SET) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected a set or a range");
        return false;
    }
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next) {
        dfl_value v = dfl_eval(sema, scope, a);

        *unknown = *unknown || v.kind == DFL_VALUE_UNKNOWN;
        ok = ok && v.kind != DFL_VALUE_BAD && v.kind != DFL_VALUE_UNKNOWN;
        DFL_PUSH(sema->arena, out, v);
    }
    return ok;
}
