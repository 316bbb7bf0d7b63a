#include "sema/expr/eval.h"

#include <stdlib.h>
#include <string.h>

#include "ir/unit_text.h"
#include "sema/expr/dimension_errors.h"
#include "sema/expr/builtin.h"
#include "support/limits.h"

/* Reports an expression that cannot be part of a constant. */
static dfl_value report_not_constant(dfl_sema *sema, const dfl_expr *expr, const char *what)
{
    dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected a constant, found %s", what);
    return DFL_BAD;
}

dfl_value dfl_eval_decl(dfl_sema *sema, dfl_decl *decl, dfl_span use)
{
    dfl_scope *scope;

    if (decl->done)
        return decl->value;
    if (decl->busy) {
        dfl_diag *diag = dfl_report(sema->sink, DFL_DECLARATION_CYCLE, decl->node->name.span, "`%s` depends on itself",
                                    dfl_sema_text(sema, decl->name));

        if (use.start != 0)
            dfl_diag_label(sema->sink, diag, use, "used here while it is being computed");
        decl->done = true;
        return decl->value = DFL_BAD;
    }
    decl->busy = true;
    scope = dfl_scope_new(sema, NULL, decl->given != NULL ? sema->root : decl->module);
    decl->value = dfl_eval(sema, scope, decl->given != NULL ? decl->given : decl->node->value);
    decl->busy = false;
    decl->done = true;
    return decl->value;
}

/* The value of a name: an entry of the scope, or a constant that a module declares. */
static dfl_value eval_path(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr)
{
    static const char *const kinds[] = { "a value", "a rank", "a tensor", "an instance", "a part of the system" };
    const dfl_scope_entry *entry = expr->path->n == 1 ? dfl_scope_find(scope, expr->path->head->sym) : NULL;
    bool broken;
    dfl_decl *decl;

    if (entry != NULL && entry->kind == DFL_ENTRY_VALUE)
        return entry->value;
    if (entry != NULL) {
        dfl_diag *diag = dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected a constant, but `%s` is %s",
                                    dfl_sema_text(sema, expr->path->text), kinds[entry->kind]);

        dfl_diag_label(sema->sink, diag, entry->span, "declared here");
        if (entry->kind == DFL_ENTRY_TENSOR)
            dfl_diag_help(sema->sink, diag, "to read an element, write indices in brackets: `%s[]` if it is a scalar",
                          dfl_sema_text(sema, expr->path->text));
        if (entry->kind == DFL_ENTRY_RANK)
            dfl_diag_help(sema->sink, diag,
                          "write a size here, such as the extent of `%s`; a declared shape has sizes, no indices",
                          dfl_sema_text(sema, expr->path->text));
        return DFL_BAD;
    }
    decl = dfl_decl_find(sema, scope->module, expr->path, &broken);
    if (decl == NULL) {
        if (!broken)
            dfl_decl_report_unknown(sema, scope, expr->path);
        return DFL_BAD;
    }
    if (decl->node->kind != DFL_AST_LET && decl->node->kind != DFL_AST_PARAM) {
        dfl_diag *diag = dfl_report(sema->sink, DFL_NAME_WRONG_KIND, expr->span, "expected a constant, but `%s` is none",
                                    dfl_sema_text(sema, expr->path->text));

        dfl_diag_label(sema->sink, diag, decl->node->name.span, "declared here");
        return DFL_BAD;
    }
    return dfl_eval_decl(sema, decl, expr->span);
}

/* The kind of a value with its article, for reports. */
static const char *kind_text(const dfl_value *value)
{
    return value->kind == DFL_VALUE_BOOL ? "a condition" : value->kind == DFL_VALUE_STRING ? "a string" : "a number";
}

/* Whether the value of `expr` is of `kind` (BOOL or QUANTITY); false after reporting. */
static bool check_kind(dfl_sema *sema, const dfl_expr *expr, const dfl_value *value, dfl_value_kind kind)
{
    if (value->kind == kind)
        return true;
    dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected %s, found %s",
               kind == DFL_VALUE_BOOL ? "a condition" : "a number", kind_text(value));
    return false;
}

/* A number in another base, `0x40`: help with the decimal number. False if `unit`, the text behind the 0, is none. */
static bool help_base(dfl_sema *sema, dfl_diag *d, dfl_span span, const char *unit)
{
    const int base = *unit == 'x' || *unit == 'X' ? 16 : *unit == 'b' ? 2 : *unit == 'o' ? 8 : 0;
    unsigned long long number;
    char *end;

    if (base == 0 || unit[1] == '\0' || strlen(unit) > 16)
        return false;
    number = strtoull(unit + 1, &end, base);
    if (*end != '\0')
        return false;
    dfl_diag_help(sema->sink, d, "numbers are decimal");
    dfl_diag_fix(sema->sink, d, span, dfl_arena_printf(sema->arena, "%llu", number), DFL_FIX_SURE);
    return true;
}

/* Reports the unknown unit of measurement of a literal; `unit_at` is its offset in the literal. */
static void report_unit(dfl_sema *sema, const dfl_expr *expr, size_t unit_at)
{
    dfl_span span = { expr->span.start + (uint32_t)unit_at, expr->span.end };
    const char *unit = dfl_arena_copy(sema->arena, expr->text + unit_at, expr->len - unit_at);
    bool sure;
    const char *near = dfl_unit_suggest(sema->arena, unit, &sure);
    dfl_diag *d = dfl_report(sema->sink, DFL_SYNTAX_UNKNOWN_UNIT, span, "unknown unit `%s`", unit);

    if (unit_at == 1 && *expr->text == '0' && help_base(sema, d, expr->span, unit))
        return;
    if (near != NULL && strstr(near, "bit") != NULL && strstr(unit, "bit") == NULL && !sure)
        dfl_diag_help(sema->sink, d, "`%s` for bits, `B` for bytes", near);
    if (near != NULL)
        dfl_diag_fix(sema->sink, d, span, near, sure ? DFL_FIX_SURE : DFL_FIX_MAYBE);
    else
        dfl_diag_help(sema->sink, d, "units are B, bit, s, J, W, Hz, FLOP, MAC, cycle and their quotients, with prefixes as in "
                      "`ns`, `pJ`, `kB`, `GiB`");
}

/* The value of a literal. */
static dfl_value eval_number(dfl_sema *sema, const dfl_expr *expr)
{
    dfl_quantity q;
    size_t unit_at;

    switch (dfl_quantity_parse(expr->text, expr->len, &q, &unit_at)) {
    case DFL_LITERAL_OK:
        return dfl_value_of(q);
    case DFL_LITERAL_RANGE:
        dfl_diag_help(sema->sink, dfl_report(sema->sink, DFL_UNIT_OVERFLOW, expr->span, "number is beyond 128 bits"),
                      "write a smaller number, or a smaller unit: the largest whole number is 2^127 - 1");
        return DFL_BAD;
    case DFL_LITERAL_UNIT:
        report_unit(sema, expr, unit_at);
        return DFL_BAD;
    case DFL_LITERAL_MALFORMED:
        break;
    }
    dfl_report(sema->sink, DFL_SYNTAX_BAD_NUMBER, expr->span, "malformed number");
    return DFL_BAD;
}

/* The value of a comparison: of quantities of one dimension, or of strings for equality. */
static dfl_value eval_compare(dfl_sema *sema, const dfl_expr *expr, dfl_value a, dfl_value b)
{
    int order;
    dfl_arith status;

    if (a.kind == DFL_VALUE_STRING && b.kind == DFL_VALUE_STRING &&
        (expr->kind == DFL_EXPR_EQ || expr->kind == DFL_EXPR_NE))
        return dfl_value_of_bool((a.text == b.text) == (expr->kind == DFL_EXPR_EQ));
    if (!check_kind(sema, expr->left, &a, DFL_VALUE_QUANTITY) || !check_kind(sema, expr->right, &b, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    status = dfl_quantity_compare(a.quantity, b.quantity, &order);
    if (status != DFL_ARITH_OK)
        return dfl_arith_report(sema, status, expr, a, b);
    switch ((int)expr->kind) {
    case DFL_EXPR_LT: return dfl_value_of_bool(order < 0);
    case DFL_EXPR_GT: return dfl_value_of_bool(order > 0);
    case DFL_EXPR_LE: return dfl_value_of_bool(order <= 0);
    case DFL_EXPR_GE: return dfl_value_of_bool(order >= 0);
    case DFL_EXPR_EQ: return dfl_value_of_bool(order == 0);
    default:          return dfl_value_of_bool(order != 0);
    }
}

/* The value of an operator of two operands. */
static dfl_value eval_binary(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr)
{
    dfl_value a = dfl_eval(sema, scope, expr->left), b = dfl_eval(sema, scope, expr->right);
    dfl_arith status;
    dfl_quantity q;

    if (a.kind == DFL_VALUE_BAD || b.kind == DFL_VALUE_BAD)
        return DFL_BAD;
    if (a.kind == DFL_VALUE_UNKNOWN || b.kind == DFL_VALUE_UNKNOWN)
        return DFL_UNKNOWN;
    switch ((int)expr->kind) {
    case DFL_EXPR_AND:
    case DFL_EXPR_OR:
        if (!check_kind(sema, expr->left, &a, DFL_VALUE_BOOL) || !check_kind(sema, expr->right, &b, DFL_VALUE_BOOL))
            return DFL_BAD;
        return dfl_value_of_bool(expr->kind == DFL_EXPR_AND ? a.truth && b.truth : a.truth || b.truth);
    case DFL_EXPR_ADD:
    case DFL_EXPR_SUB:
    case DFL_EXPR_MUL:
    case DFL_EXPR_DIV:
        break;
    default:
        return eval_compare(sema, expr, a, b);
    }
    if (!check_kind(sema, expr->left, &a, DFL_VALUE_QUANTITY) || !check_kind(sema, expr->right, &b, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    if (expr->kind == DFL_EXPR_ADD)
        status = dfl_quantity_add(a.quantity, b.quantity, &q);
    else if (expr->kind == DFL_EXPR_SUB)
        status = dfl_quantity_sub(a.quantity, b.quantity, &q);
    else if (expr->kind == DFL_EXPR_MUL)
        status = dfl_quantity_mul(a.quantity, b.quantity, &q);
    else
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_arith_report(sema, status, expr, a, b);
}

/* The value of a negation. */
static dfl_value eval_negative(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr)
{
    dfl_value a = dfl_eval(sema, scope, expr->left);
    dfl_quantity zero = dfl_quantity_int(0), q;
    dfl_arith status;

    if (a.kind == DFL_VALUE_BAD || a.kind == DFL_VALUE_UNKNOWN)
        return a;
    if (!check_kind(sema, expr->left, &a, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    zero.dim = a.quantity.dim;
    status = dfl_quantity_sub(zero, a.quantity, &q);
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_arith_report(sema, status, expr, a, a);
}

/* The value of `floor(a / b)` or `ceil(a / b)`, exact for integers because the quotient is not computed first. False
   for other calls. */
static bool eval_rounded_quotient(dfl_sema *sema, dfl_scope *scope, const dfl_expr *call, bool up, dfl_value *out)
{
    const dfl_expr *arg = call->args;
    dfl_value a, b;
    dfl_quantity q;
    dfl_arith status;

    if (arg->kind != DFL_EXPR_DIV)
        return false;
    a = dfl_eval(sema, scope, arg->left);
    b = dfl_eval(sema, scope, arg->right);
    if (a.kind == DFL_VALUE_BAD || b.kind == DFL_VALUE_BAD)
        *out = DFL_BAD;
    else if (a.kind == DFL_VALUE_UNKNOWN || b.kind == DFL_VALUE_UNKNOWN)
        *out = DFL_UNKNOWN;
    else if (a.kind != DFL_VALUE_QUANTITY || b.kind != DFL_VALUE_QUANTITY) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, arg->span, "expected a number");
        *out = DFL_BAD;
    } else {
        status = dfl_quantity_div_round(a.quantity, b.quantity, up, &q);
        *out = status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_arith_report(sema, status, arg, a, b);
    }
    return true;
}

/* Not inlined: the array would enlarge the stack frame of every recursion level, even of levels without a call. */
__attribute__((noinline)) static dfl_value eval_call(dfl_sema *sema, dfl_scope *scope, const dfl_expr *call)
{
    dfl_value args[DFL_SEMA_MAX_ARGUMENTS];
    dfl_builtin function = dfl_builtin_of_call(sema, call);
    bool bad = false, unknown = false;
    unsigned n = 0;

    args[0] = DFL_BAD;
    if (function == DFL_BUILTIN_NONE)
        return DFL_BAD;
    if ((function == DFL_BUILTIN_FLOOR || function == DFL_BUILTIN_CEIL) &&
        eval_rounded_quotient(sema, scope, call, function == DFL_BUILTIN_CEIL, &args[0]))
        return args[0];
    for (const dfl_expr *arg = call->args; arg != NULL && n < DFL_SEMA_MAX_ARGUMENTS; arg = arg->next, n++) {
        args[n] = dfl_eval(sema, scope, arg);
        unknown |= args[n].kind == DFL_VALUE_UNKNOWN;
        bad |= !dfl_builtin_check_argument(sema, arg, function, n, &args[n]);
    }
    if (bad)
        return DFL_BAD;
    return unknown ? DFL_UNKNOWN : dfl_builtin_apply(sema, call, function, args, n);
}

/* The value of any expression. */
static dfl_value eval_kind(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr)
{
    switch (expr->kind) {
    case DFL_EXPR_NUMBER:
        return eval_number(sema, expr);
    case DFL_EXPR_STRING:
        return (dfl_value){ .kind = DFL_VALUE_STRING, .text = expr->sym };
    case DFL_EXPR_PATH:
        return eval_path(sema, scope, expr);
    case DFL_EXPR_CALL:
        return eval_call(sema, scope, expr);
    case DFL_EXPR_NEG:
        return eval_negative(sema, scope, expr);
    case DFL_EXPR_ADD:
    case DFL_EXPR_SUB:
    case DFL_EXPR_MUL:
    case DFL_EXPR_DIV:
    case DFL_EXPR_LT:
    case DFL_EXPR_GT:
    case DFL_EXPR_LE:
    case DFL_EXPR_GE:
    case DFL_EXPR_EQ:
    case DFL_EXPR_NE:
    case DFL_EXPR_AND:
    case DFL_EXPR_OR:
        return eval_binary(sema, scope, expr);
    case DFL_EXPR_ACCESS:
    case DFL_EXPR_GATHER:
        return report_not_constant(sema, expr, "an access to a tensor");
    case DFL_EXPR_SET:
        return report_not_constant(sema, expr, "a set");
    case DFL_EXPR_RANGE:
        return report_not_constant(sema, expr, "a range");
    case DFL_EXPR_HOLE:
        return report_not_constant(sema, expr, "a hole");
    }
    return DFL_BAD;
}

/* Limits the recursion depth, summed over all constants that depend on each other. */
dfl_value dfl_eval(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr)
{
    dfl_value v;

    if (expr == NULL)
        return DFL_BAD;
    if (sema->eval_depth >= DFL_SEMA_MAX_EVAL_DEPTH) {
        dfl_report(sema->sink, DFL_LIMIT_COUNT, expr->span, "constants depend on each other more than %d levels deep",
                   DFL_SEMA_MAX_EVAL_DEPTH);
        return DFL_BAD;
    }
    sema->eval_depth++;
    v = eval_kind(sema, scope, expr);
    sema->eval_depth--;
    return v;
}

/* Labels the parameter or constant that an expression consists of: its value is where the mistake is. */
static void label_origin(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, dfl_diag *d)
{
    const dfl_scope_entry *entry;

    if (expr->kind != DFL_EXPR_PATH || expr->path->n != 1)
        return;
    entry = dfl_scope_find(scope, expr->path->head->sym);
    if (entry != NULL && entry->kind == DFL_ENTRY_VALUE && entry->span.end > entry->span.start)
        dfl_diag_label(sema->sink, d, entry->span, "`%s` is declared here", dfl_sema_text(sema, expr->path->text));
}

bool dfl_eval_int(dfl_sema *sema, dfl_scope *scope, const dfl_expr *expr, const char *what, int64_t low, int64_t high,
                  int64_t *out, bool *unknown)
{
    dfl_value v = dfl_eval(sema, scope, expr);

    *unknown = v.kind == DFL_VALUE_UNKNOWN;
    *out = low;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return false;
    if (v.kind != DFL_VALUE_QUANTITY) {
        dfl_diag_help(sema->sink, dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "%s must be an integer, found %s", what,
                                             kind_text(&v)), "write an integer, as in `64`");
        return false;
    }
    if (!dfl_dim_is_none(v.quantity.dim)) {
        dfl_report(sema->sink, DFL_UNIT_DIMENSION, expr->span, "%s must be a plain integer, found %s", what,
                   dfl_arith_dim_text(sema, v.quantity.dim));
        return false;
    }
    if (!v.quantity.exact) {
        dfl_diag *d = dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "%s must be an integer, found %s", what,
                                 dfl_arith_value_text(sema, &v));

        label_origin(sema, scope, expr, d);
        dfl_diag_help(sema->sink, d, "write an integer, or round with `floor` or `ceil`");
        return false;
    }
    if (v.quantity.integer < low || v.quantity.integer > high) {
        bool small = v.quantity.integer < low;
        dfl_diag *d = dfl_report(sema->sink, small && low > 0 ? DFL_SIZE_NOT_POSITIVE : DFL_UNIT_OVERFLOW, expr->span,
                                 "%s is %s", what, dfl_arith_value_text(sema, &v));

        dfl_diag_here(sema->sink, d, small ? "must be at least %lld" : "must be at most %lld",
                      (long long)(small ? low : high));
        dfl_diag_help(sema->sink, d, small ? "give a number of at least %lld" : "give a number of at most %lld",
                      (long long)(small ? low : high));
        label_origin(sema, scope, expr, d);
        return false;
    }
    *out = (int64_t)v.quantity.integer;
    return true;
}
