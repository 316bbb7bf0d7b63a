/* Constant expressions: exact integers, quantities with dimensions, comparisons. */
#include "sema/files/room.h"

#include <string.h>

dfl_value dfl_value_of(dfl_quantity q)
{
    return (dfl_value){ .kind = DFL_VALUE_QUANTITY, .quantity = q };
}

dfl_value dfl_value_of_bool(bool truth)
{
    return (dfl_value){ .kind = DFL_VALUE_BOOL, .truth = truth };
}

static const char *dim_text(dfl_sema *s, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_dim_print(&out, dim);
    return out.text;
}

static const char *value_text(dfl_sema *s, const dfl_value *v)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_quantity_print(&out, v->quantity);
    return out.text;
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

static void report_dimension(dfl_sema *s, const dfl_expr *e, const dfl_value *a, const dfl_value *b)
{
    const char *left = dim_text(s, a->quantity.dim), *right = dim_text(s, b->quantity.dim);
    dfl_diag *d;

    if (e->left == NULL || e->right == NULL) {
        if (dfl_dim_equal(a->quantity.dim, b->quantity.dim))
            dfl_report(s->sink, DFL_UNIT_DIMENSION, e->span, "expected a plain number, found %s", left);
        else
            dfl_report(s->sink, DFL_UNIT_DIMENSION, e->span, "cannot combine %s with %s", left, right);
        return;
    }
    d = dfl_report(s->sink, DFL_UNIT_DIMENSION, e->op, "cannot combine %s with %s", left, right);
    dfl_diag_label(s->sink, d, e->left->span, "this is %s", left);
    dfl_diag_label(s->sink, d, e->right->span, "this is %s", right);
}

static void report_inexact(dfl_sema *s, const dfl_expr *e, const dfl_value *a, const dfl_value *b)
{
    const char *text = dfl_sema_slice(s, e->span);
    dfl_diag *d = dfl_report(s->sink, DFL_EXPR_INEXACT_DIVISION, e->op, "%s / %s is not an integer", value_text(s, a),
                             value_text(s, b));

    dfl_diag_help(s->sink, d, "round it: `floor(%s)` or `ceil(%s)`", text, text);
    dfl_diag_fix(s->sink, d, e->span, dfl_arena_printf(s->arena, "floor(%s)", text), DFL_FIX_MAYBE);
    dfl_diag_fix(s->sink, d, e->span, dfl_arena_printf(s->arena, "ceil(%s)", text), DFL_FIX_MAYBE);
}

dfl_value dfl_eval_failed(dfl_sema *s, dfl_arith status, const dfl_expr *e, dfl_value a, dfl_value b)
{
    dfl_span at = e->op.start != e->op.end ? e->op : e->span;
    dfl_diag *d;

    switch (status) {
    case DFL_ARITH_OK:
        break;
    case DFL_ARITH_OVERFLOW:
        d = dfl_report(s->sink, DFL_UNIT_OVERFLOW, at, "result is beyond 128 bits");
        dfl_diag_here(s->sink, d, "integers are exact up to 2^127 - 1");
        dfl_diag_help(s->sink, d, "use smaller numbers, or a larger unit");
        break;
    case DFL_ARITH_DIMENSION:
        report_dimension(s, e, &a, &b);
        break;
    case DFL_ARITH_ZERO:
        d = dfl_report(s->sink, DFL_EXPR_DIVISION_BY_ZERO, at, "division by zero");
        if (e->right != NULL)
            dfl_diag_label(s->sink, d, e->right->span, "this is 0");
        break;
    case DFL_ARITH_INEXACT:
        report_inexact(s, e, &a, &b);
        break;
    case DFL_ARITH_DOMAIN:
        d = dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "this has no value for %s", value_text(s, &a));
        if (a.kind == DFL_VALUE_QUANTITY && !dfl_dim_is_none(a.quantity.dim))
            dfl_diag_help(s->sink, d, "divide by a unit first, as in `sqrt(x / 1s)`");
        break;
    }
    return DFL_BAD;
}

static dfl_value not_a_constant(dfl_sema *s, const dfl_expr *e, const char *what)
{
    dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "expected a constant, found %s", what);
    return DFL_BAD;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

dfl_value dfl_eval_decl(dfl_sema *s, dfl_decl *d, dfl_span use)
{
    dfl_scope *scope;

    if (d->done)
        return d->value;
    if (d->busy) {
        dfl_diag *diag = dfl_report(s->sink, DFL_DECLARATION_CYCLE, d->node->name.span, "`%s` depends on itself",
                                    dfl_sema_text(s, d->name));

        if (use.start != 0)
            dfl_diag_label(s->sink, diag, use, "used here while it is being computed");
        d->done = true;
        return d->value = DFL_BAD;
    }
    d->busy = true;
    scope = dfl_scope_new(s, NULL, d->unit);
    d->value = d->node->value != NULL ? dfl_eval(s, scope, d->node->value) : DFL_BAD;
    d->busy = false;
    d->done = true;
    return d->value;
}

static dfl_value eval_path(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    static const char *const kinds[] = { "a value", "a rank", "a tensor", "an instance", "a part of the system" };
    const dfl_binding *b = e->path->n == 1 ? dfl_scope_find(scope, e->path->head->sym) : NULL;
    bool broken;
    dfl_decl *d;

    if (b != NULL && b->kind == DFL_NAMES_VALUE)
        return b->value;
    if (b != NULL) {
        dfl_diag *diag = dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "expected a constant, but `%s` is %s",
                                    dfl_sema_text(s, e->path->text), kinds[b->kind]);

        dfl_diag_label(s->sink, diag, b->span, "declared here");
        return DFL_BAD;
    }
    d = dfl_decl_find(s, scope->unit, e->path, &broken);
    if (d == NULL) {
        if (!broken)
            dfl_decl_report_unknown(s, scope, e->path);
        return DFL_BAD;
    }
    if (d->node->kind != DFL_AST_LET && d->node->kind != DFL_AST_PARAM) {
        dfl_diag *diag = dfl_report(s->sink, DFL_NAME_WRONG_KIND, e->span, "expected a constant, but `%s` is none",
                                    dfl_sema_text(s, e->path->text));

        dfl_diag_label(s->sink, diag, d->node->name.span, "declared here");
        return DFL_BAD;
    }
    return dfl_eval_decl(s, d, e->span);
}

/* ---- operators ------------------------------------------------------------------------------------------------ */

static const char *kind_name(const dfl_value *v)
{
    return v->kind == DFL_VALUE_BOOL ? "a condition" : v->kind == DFL_VALUE_STRING ? "a string" : "a number";
}

static bool want(dfl_sema *s, const dfl_expr *e, const dfl_value *v, dfl_value_kind kind)
{
    if (v->kind == kind)
        return true;
    dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "expected %s, found %s",
               kind == DFL_VALUE_BOOL ? "a condition" : "a number", kind_name(v));
    return false;
}

/* `40Gb`, `624KB`, `10Gbps`: what is probably meant. NULL = no idea. */
static const char *near_unit(dfl_sema *s, const char *unit)
{
    static const struct { const char *from, *to; } slips[] = {
        { "bps", "bit/s" }, { "Bps", "B/s" }, { "b", "bit" }, { "bits", "bit" }, { "bytes", "B" }, { "byte", "B" },
        { "flops", "FLOPS" }, { "flop", "FLOP" }, { "hz", "Hz" }, { "ops", "OPS" }, { "cycles", "cycle" }, { "sec", "s" },
    };
    char head[2] = { unit[0] == 'K' && unit[1] != 'i' ? 'k' : unit[0] == 'g' || unit[0] == 't' ? (char)(unit[0] - 32)
                                                                                              : unit[0], '\0' };
    const char *fixed = dfl_arena_printf(s->arena, "%s%s", head, unit + 1);
    size_t len = strlen(fixed);
    dfl_quantity q;

    if (dfl_unit_parse(fixed, len, &q) == DFL_LITERAL_OK)
        return fixed;
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        const char *at = strstr(fixed, slips[i].from);
        const char *tried;

        if (at == NULL)
            continue;
        tried = dfl_arena_printf(s->arena, "%.*s%s%s", (int)(at - fixed), fixed, slips[i].to, at + strlen(slips[i].from));
        if (dfl_unit_parse(tried, strlen(tried), &q) == DFL_LITERAL_OK)
            return tried;
    }
    return NULL;
}

static void report_unit(dfl_sema *s, const dfl_expr *e, size_t unit_at)
{
    dfl_span span = { e->span.start + (uint32_t)unit_at, e->span.end };
    const char *unit = dfl_arena_copy(s->arena, e->text + unit_at, e->len - unit_at);
    const char *near = near_unit(s, unit);
    dfl_diag *d = dfl_report(s->sink, DFL_SYNTAX_UNKNOWN_UNIT, span, "unknown unit `%s`", unit);

    if (near != NULL && strstr(near, "bit") != NULL && strstr(unit, "bit") == NULL)
        dfl_diag_help(s->sink, d, "`%s` for bits, `B` for bytes", near);
    if (near != NULL)
        dfl_diag_fix(s->sink, d, span, near, DFL_FIX_MAYBE);
}

static dfl_value eval_number(dfl_sema *s, const dfl_expr *e)
{
    dfl_quantity q;
    size_t unit_at;

    switch (dfl_quantity_parse(e->text, e->len, &q, &unit_at)) {
    case DFL_LITERAL_OK:
        return dfl_value_of(q);
    case DFL_LITERAL_RANGE:
        dfl_diag_help(s->sink, dfl_report(s->sink, DFL_UNIT_OVERFLOW, e->span, "number is beyond 128 bits"),
                      "write a smaller number, or a smaller unit: the largest whole number is 2^127 - 1");
        return DFL_BAD;
    case DFL_LITERAL_UNIT:
        report_unit(s, e, unit_at);
        return DFL_BAD;
    case DFL_LITERAL_MALFORMED:
        break;
    }
    dfl_report(s->sink, DFL_SYNTAX_BAD_NUMBER, e->span, "malformed number");
    return DFL_BAD;
}

static dfl_value eval_compare(dfl_sema *s, const dfl_expr *e, dfl_value a, dfl_value b)
{
    int order;
    dfl_arith status;

    if (a.kind == DFL_VALUE_STRING && b.kind == DFL_VALUE_STRING &&
        (e->kind == DFL_EXPR_EQ || e->kind == DFL_EXPR_NE))
        return dfl_value_of_bool((a.text == b.text) == (e->kind == DFL_EXPR_EQ));
    if (!want(s, e->left, &a, DFL_VALUE_QUANTITY) || !want(s, e->right, &b, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    status = dfl_quantity_compare(a.quantity, b.quantity, &order);
    if (status != DFL_ARITH_OK)
        return dfl_eval_failed(s, status, e, a, b);
    switch ((int)e->kind) {
    case DFL_EXPR_LT: return dfl_value_of_bool(order < 0);
    case DFL_EXPR_GT: return dfl_value_of_bool(order > 0);
    case DFL_EXPR_LE: return dfl_value_of_bool(order <= 0);
    case DFL_EXPR_GE: return dfl_value_of_bool(order >= 0);
    case DFL_EXPR_EQ: return dfl_value_of_bool(order == 0);
    default:          return dfl_value_of_bool(order != 0);
    }
}

static dfl_value eval_binary(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    dfl_value a = dfl_eval(s, scope, e->left), b = dfl_eval(s, scope, e->right);
    dfl_arith status;
    dfl_quantity q;

    if (a.kind == DFL_VALUE_BAD || b.kind == DFL_VALUE_BAD)
        return DFL_BAD;
    if (a.kind == DFL_VALUE_UNKNOWN || b.kind == DFL_VALUE_UNKNOWN)
        return DFL_UNKNOWN;
    switch ((int)e->kind) {
    case DFL_EXPR_AND:
    case DFL_EXPR_OR:
        if (!want(s, e->left, &a, DFL_VALUE_BOOL) || !want(s, e->right, &b, DFL_VALUE_BOOL))
            return DFL_BAD;
        return dfl_value_of_bool(e->kind == DFL_EXPR_AND ? a.truth && b.truth : a.truth || b.truth);
    case DFL_EXPR_ADD:
    case DFL_EXPR_SUB:
    case DFL_EXPR_MUL:
    case DFL_EXPR_DIV:
        break;
    default:
        return eval_compare(s, e, a, b);
    }
    if (!want(s, e->left, &a, DFL_VALUE_QUANTITY) || !want(s, e->right, &b, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    if (e->kind == DFL_EXPR_ADD)
        status = dfl_quantity_add(a.quantity, b.quantity, &q);
    else if (e->kind == DFL_EXPR_SUB)
        status = dfl_quantity_sub(a.quantity, b.quantity, &q);
    else if (e->kind == DFL_EXPR_MUL)
        status = dfl_quantity_mul(a.quantity, b.quantity, &q);
    else
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_eval_failed(s, status, e, a, b);
}

static dfl_value eval_negative(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    dfl_value a = dfl_eval(s, scope, e->left);
    dfl_quantity zero = dfl_quantity_int(0), q;
    dfl_arith status;

    if (a.kind == DFL_VALUE_BAD || a.kind == DFL_VALUE_UNKNOWN)
        return a;
    if (!want(s, e->left, &a, DFL_VALUE_QUANTITY))
        return DFL_BAD;
    zero.dim = a.quantity.dim;
    status = dfl_quantity_sub(zero, a.quantity, &q);
    return status == DFL_ARITH_OK ? dfl_value_of(q) : dfl_eval_failed(s, status, e, a, a);
}

static dfl_value eval_any(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    switch (e->kind) {
    case DFL_EXPR_NUMBER:
        return eval_number(s, e);
    case DFL_EXPR_STRING:
        return (dfl_value){ .kind = DFL_VALUE_STRING, .text = e->sym };
    case DFL_EXPR_PATH:
        return eval_path(s, scope, e);
    case DFL_EXPR_CALL:
        return dfl_eval_call(s, scope, e);
    case DFL_EXPR_NEG:
        return eval_negative(s, scope, e);
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
        return eval_binary(s, scope, e);
    case DFL_EXPR_ACCESS:
    case DFL_EXPR_GATHER:
        return not_a_constant(s, e, "an access to a tensor");
    case DFL_EXPR_SET:
        return not_a_constant(s, e, "a set");
    case DFL_EXPR_RANGE:
        return not_a_constant(s, e, "a range");
    case DFL_EXPR_HOLE:
        return not_a_constant(s, e, "a hole");
    }
    return DFL_BAD;
}

/* Constants may depend on each other in long chains, each with a deep expression: what counts is the sum. */
dfl_value dfl_eval(dfl_sema *s, dfl_scope *scope, const dfl_expr *e)
{
    dfl_value v;

    if (e == NULL)
        return DFL_BAD;
    if (s->eval_depth >= DFL_SEMA_MAX_EVAL_DEPTH) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, e->span, "constants depend on each other more than %d levels deep",
                   DFL_SEMA_MAX_EVAL_DEPTH);
        return DFL_BAD;
    }
    s->eval_depth++;
    v = eval_any(s, scope, e);
    s->eval_depth--;
    return v;
}

bool dfl_eval_int(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, const char *what, int64_t low, int64_t high,
                  int64_t *out, bool *unknown)
{
    dfl_value v = dfl_eval(s, scope, e);

    *unknown = v.kind == DFL_VALUE_UNKNOWN;
    *out = low;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return false;
    if (v.kind != DFL_VALUE_QUANTITY) {
        dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "%s must be an integer, found %s", what, kind_name(&v));
        return false;
    }
    if (!dfl_dim_is_none(v.quantity.dim)) {
        dfl_report(s->sink, DFL_UNIT_DIMENSION, e->span, "%s must be a plain integer, found %s", what,
                   dim_text(s, v.quantity.dim));
        return false;
    }
    if (!v.quantity.exact) {
        dfl_report(s->sink, DFL_EXPR_TYPE, e->span, "%s must be an integer, found %s", what, value_text(s, &v));
        return false;
    }
    if (v.quantity.integer < low || v.quantity.integer > high) {
        bool small = v.quantity.integer < low;
        dfl_diag *d = dfl_report(s->sink, small && low > 0 ? DFL_SIZE_NOT_POSITIVE : DFL_UNIT_OVERFLOW, e->span,
                                 "%s is %s", what, value_text(s, &v));

        dfl_diag_here(s->sink, d, small ? "must be at least %lld" : "must be at most %lld",
                      (long long)(small ? low : high));
        dfl_diag_help(s->sink, d, small ? "give a number of at least %lld" : "give a number of at most %lld",
                      (long long)(small ? low : high));
        return false;
    }
    *out = (int64_t)v.quantity.integer;
    return true;
}
