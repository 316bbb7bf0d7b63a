#include "sema/mapping/checks.h"

#include "sema/expr/dimension_errors.h"
#include "sema/expr/builtin.h"
#include "sema/expr/eval.h"
#include "sema/names/module.h"
#include "sema/system/elaborate.h"
#include "sema/workload/elaborate.h"

static const dfl_val *lower_expr(dfl_check_context *ctx, const dfl_expr *expr);

/* Makes a node of an expression. */
static dfl_val *make_node(dfl_check_context *ctx, const dfl_expr *expr, dfl_val_kind kind)
{
    dfl_val *val = DFL_NEW(ctx->sema->arena, dfl_val);

    val->kind = kind;
    val->span = expr->span;
    return val;
}

/* Adds an imported workload to the results, so that its metrics are computed. */
static void add_workload(dfl_sema *sema, dfl_decl *decl)
{
    const dfl_elaborated_workload *workload = dfl_workload_elaborate_default(sema, decl);

    if (workload == NULL || workload->broken || workload->workload == NULL)
        return;
    for (size_t i = 0; i < sema->workloads.n; i++)
        if (sema->workloads.at[i].workload == workload->workload)
            return;
    DFL_PUSH(sema->arena, &sema->workloads, ((dfl_sized_workload){ workload->workload, false }));
}

/* Adds an imported system to the results, so that its metrics are computed. */
static void add_system(dfl_sema *sema, dfl_decl *decl)
{
    const dfl_elaborated_system *system = dfl_system_elaborate_default(sema, decl);

    if (system == NULL || system->system == NULL)
        return;
    for (size_t i = 0; i < sema->systems.n; i++)
        if (sema->systems.at[i] == system->system)
            return;
    DFL_PUSH(sema->arena, &sema->systems, system->system);
}

/* Whether the first name of a path is the name of an import. */
static bool is_through_import(const dfl_check_context *ctx, const dfl_ast_path *path)
{
    return path->n > 1 && dfl_symmap_get(&ctx->scope->module->aliases, path->head->sym) != NULL;
}

/* The declaration that the first `*n` names of a path name: `h100` or, through an import, `nv.h100`. NULL if there is
   no such declaration. */
static dfl_decl *find_head(dfl_check_context *ctx, const dfl_ast_path *path, uint32_t *n, bool *broken)
{
    for (*n = is_through_import(ctx, path) ? 2 : 1; *n > 0; --*n) {
        dfl_ast_path start = { .head = path->head, .n = *n, .text = path->head->sym, .span = path->head->span };
        dfl_decl *decl = dfl_decl_find(ctx->sema, ctx->scope->module, &start, broken);

        if (decl != NULL)
            return decl;
    }
    return NULL;
}

/* Reports a path whose first names are those of no declaration. */
static void report_no_head(dfl_check_context *ctx, const dfl_ast_path *path)
{
    dfl_ast_path start = { .head = path->head, .n = 2, .text = path->head->sym, .span = path->head->span };
    dfl_diag *d;
    dfl_sym near;

    ctx->ok = false;
    if (is_through_import(ctx, path)) {
        dfl_decl_report_unknown(ctx->sema, ctx->scope, &start);
        return;
    }
    d = dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, path->head->span, "nothing is declared as `%s`",
                   dfl_sema_text(ctx->sema, path->head->sym));
    near = dfl_decl_suggest(ctx->sema, ctx->scope->module, path->head->sym);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, path->head->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(ctx->sema->sink, d, path->n == 1 ? "a check names a mapping, workload or system first, as in "
                                                         "`NAME.latency`; a text stands in quotes: `\"%s\"`"
                                                       : "a check names a mapping, workload or system first, not `%s`",
                      dfl_sema_text(ctx->sema, path->head->sym));
}

/* Reports a check on a mapping of another file, which gets no result here; `n`: number of names of the path that name it. */
static void report_imported(dfl_check_context *ctx, const dfl_ast_path *path, uint32_t n, const dfl_decl *mapping)
{
    const dfl_span at = { path->head[0].span.start, path->head[n - 1].span.end };
    const char *name = dfl_sema_slice(ctx->sema, at);
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_EVAL_NO_PATH, at, "`%s` is a mapping of an import, which is not evaluated here",
                             name);

    ctx->ok = false;
    dfl_diag_label(ctx->sema->sink, d, mapping->node->name.span, "declared here");
    dfl_diag_help(ctx->sema->sink, d, "give it a name in this file, `mapping mine = %s;`, and check `mine`", name);
}

/* Lowers the names of a path to a result. The first names are those of a declaration, unless the check stands inside of
   one. An imported workload or system is elaborated at its first use, and keeps its own name. */
static const dfl_sym *lower_path(dfl_check_context *ctx, const dfl_ast_path *path, uint32_t *n)
{
    dfl_sym *out = DFL_NEW_ARRAY(ctx->sema->arena, dfl_sym, path->n);
    uint32_t used = 0;
    bool broken = false;
    dfl_decl *head = ctx->inside ? NULL : find_head(ctx, path, &used, &broken);

    *n = path->n;
    for (uint32_t i = 0; i < path->n; i++)
        out[i] = path->head[i].sym;
    if (head == NULL) {
        if (!ctx->inside && !broken)
            report_no_head(ctx, path);
        return out;
    }
    if (head->module->is_root)
        return out;
    if (head->node->kind == DFL_AST_SYSTEM)
        add_system(ctx->sema, head);
    else if (head->node->kind == DFL_AST_WORKLOAD)
        add_workload(ctx->sema, head);
    else {
        if (head->node->kind == DFL_AST_MAPPING)
            report_imported(ctx, path, used, head);
        return out;
    }
    *n -= used - 1;
    out += used - 1;
    out[0] = head->name;
    return out;
}

/* Whether a path names a constant: an entry of the scope, or a constant of the module or of an import. */
static bool is_constant(dfl_check_context *ctx, const dfl_ast_path *path)
{
    const dfl_scope_entry *entry = path->n == 1 ? dfl_scope_find(ctx->scope, path->head->sym) : NULL;
    bool broken;
    dfl_decl *decl;

    if (entry != NULL)
        return entry->kind == DFL_ENTRY_VALUE;
    decl = dfl_decl_find(ctx->sema, ctx->scope->module, path, &broken);
    return decl != NULL && (decl->node->kind == DFL_AST_LET || decl->node->kind == DFL_AST_PARAM);
}

/* The node of a constant. */
static const dfl_val *lower_constant(dfl_check_context *ctx, const dfl_expr *expr)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, expr);
    dfl_val *out = make_node(ctx, expr, v.kind == DFL_VALUE_STRING ? DFL_VAL_STRING : DFL_VAL_QUANTITY);

    out->quantity = v.quantity;
    out->text = v.text;
    ctx->ok = ctx->ok && (v.kind == DFL_VALUE_QUANTITY || v.kind == DFL_VALUE_STRING);
    if (v.kind == DFL_VALUE_BOOL)
        dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, expr->span, "expected a value, found a condition");
    return out;
}

/* Lowers an argument: a name of the design, as in `flash.peak(sram)` (`names`), or a value for a function. */
static const dfl_val *lower_argument(dfl_check_context *ctx, const dfl_expr *expr, bool names)
{
    dfl_sym *names_of;
    dfl_val *val;

    if (!names || expr->kind != DFL_EXPR_PATH)
        return lower_expr(ctx, expr);
    val = make_node(ctx, expr, DFL_VAL_PATH);
    names_of = DFL_NEW_ARRAY(ctx->sema->arena, dfl_sym, expr->path->n);
    for (uint32_t i = 0; i < expr->path->n; i++)
        names_of[i] = expr->path->head[i].sym;
    val->path = names_of;
    val->n_path = expr->path->n;
    return val;
}

/* Lowers a call: of a built-in function, or of a result with arguments. */
static const dfl_val *lower_call(dfl_check_context *ctx, const dfl_expr *expr)
{
    bool function = expr->path->n == 1 && dfl_builtin_find(dfl_sema_text(ctx->sema, expr->path->text)) != DFL_BUILTIN_NONE;
    const dfl_val **args = DFL_NEW_ARRAY(ctx->sema->arena, const dfl_val *, expr->n_args);
    dfl_val *val = make_node(ctx, expr, DFL_VAL_CALL);
    uint32_t n = 0;

    if (function) {
        val->text = expr->path->text;
    } else {
        val->path = lower_path(ctx, expr->path, &val->n_path);
    }
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next)
        args[n++] = lower_argument(ctx, a, !function);
    val->args = args;
    val->n_args = n;
    return val;
}

/* The node kind of an operator. */
static dfl_val_kind operator_kind(dfl_expr_kind kind)
{
    switch ((int)kind) {
    case DFL_EXPR_ADD: return DFL_VAL_ADD;
    case DFL_EXPR_SUB: return DFL_VAL_SUB;
    case DFL_EXPR_MUL: return DFL_VAL_MUL;
    case DFL_EXPR_DIV: return DFL_VAL_DIV;
    case DFL_EXPR_LT:  return DFL_VAL_LT;
    case DFL_EXPR_GT:  return DFL_VAL_GT;
    case DFL_EXPR_LE:  return DFL_VAL_LE;
    case DFL_EXPR_GE:  return DFL_VAL_GE;
    case DFL_EXPR_EQ:  return DFL_VAL_EQ;
    case DFL_EXPR_NE:  return DFL_VAL_NE;
    case DFL_EXPR_AND: return DFL_VAL_AND;
    case DFL_EXPR_OR:  return DFL_VAL_OR;
    default:           return DFL_VAL_NEG;
    }
}

/* Folds an operator of two constants, if the operator has a value. An inexact quotient becomes a real number. */
static bool fold(dfl_val *val, const dfl_val *a, const dfl_val *b)
{
    dfl_arith status = DFL_ARITH_DOMAIN;
    dfl_quantity q = { 0 };

    if (a->kind != DFL_VAL_QUANTITY || b->kind != DFL_VAL_QUANTITY)
        return false;
    if (val->kind == DFL_VAL_ADD)
        status = dfl_quantity_add(a->quantity, b->quantity, &q);
    else if (val->kind == DFL_VAL_SUB)
        status = dfl_quantity_sub(a->quantity, b->quantity, &q);
    else if (val->kind == DFL_VAL_MUL)
        status = dfl_quantity_mul(a->quantity, b->quantity, &q);
    else if (val->kind == DFL_VAL_DIV) {
        status = dfl_quantity_div(a->quantity, b->quantity, &q);
        if (status == DFL_ARITH_INEXACT) {
            q = dfl_quantity_real(a->quantity.real / b->quantity.real, DFL_DIM_NONE);
            status = DFL_ARITH_OK;
        }
    }
    if (status != DFL_ARITH_OK)
        return false;
    val->kind = DFL_VAL_QUANTITY;
    val->quantity = q;
    return true;
}

/* Reports that an operator cannot combine the dimensions of two constants. */
static void check_dimensions(dfl_check_context *ctx, const dfl_expr *expr, const dfl_val *a, const dfl_val *b)
{
    if (a->kind != DFL_VAL_QUANTITY || b->kind != DFL_VAL_QUANTITY || expr->kind == DFL_EXPR_MUL ||
        expr->kind == DFL_EXPR_DIV || dfl_dim_equal(a->quantity.dim, b->quantity.dim))
        return;
    (void)dfl_arith_report(ctx->sema, DFL_ARITH_DIMENSION, expr, dfl_value_of(a->quantity), dfl_value_of(b->quantity));
    ctx->ok = false;
}

/* Lowers an operator, and folds it if its operands are constants. */
static const dfl_val *lower_operator(dfl_check_context *ctx, const dfl_expr *expr)
{
    const dfl_val **args = DFL_NEW_ARRAY(ctx->sema->arena, const dfl_val *, 2);
    dfl_val *val = make_node(ctx, expr, operator_kind(expr->kind));

    args[0] = lower_expr(ctx, expr->left);
    if (expr->right != NULL) {
        args[1] = lower_expr(ctx, expr->right);
        check_dimensions(ctx, expr, args[0], args[1]);
        if (fold(val, args[0], args[1]))
            return val;
    } else if (args[0]->kind == DFL_VAL_QUANTITY) {
        dfl_val zero = { .kind = DFL_VAL_QUANTITY };

        zero.quantity = dfl_quantity_int(0);
        zero.quantity.dim = args[0]->quantity.dim;
        val->kind = DFL_VAL_SUB;
        if (fold(val, &zero, args[0]))
            return val;
        val->kind = DFL_VAL_NEG;
    }
    val->args = args;
    val->n_args = expr->right != NULL ? 2 : 1;
    return val;
}

/* Lowers any expression. */
static const dfl_val *lower_expr(dfl_check_context *ctx, const dfl_expr *expr)
{
    dfl_val *val;

    switch (expr->kind) {
    case DFL_EXPR_NUMBER:
    case DFL_EXPR_STRING:
        return lower_constant(ctx, expr);
    case DFL_EXPR_PATH:
        if (is_constant(ctx, expr->path))
            return lower_constant(ctx, expr);
        val = make_node(ctx, expr, DFL_VAL_PATH);
        val->path = lower_path(ctx, expr->path, &val->n_path);
        return val;
    case DFL_EXPR_CALL:
        return lower_call(ctx, expr);
    case DFL_EXPR_NEG:
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
        return lower_operator(ctx, expr);
    case DFL_EXPR_ACCESS:
    case DFL_EXPR_GATHER:
    case DFL_EXPR_SET:
    case DFL_EXPR_RANGE:
    case DFL_EXPR_HOLE:
        break;
    }
    dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, expr->span, "expected a result or a constant");
    ctx->ok = false;
    return make_node(ctx, expr, DFL_VAL_QUANTITY);
}

const dfl_val *dfl_check_lower_value(dfl_check_context *ctx, const dfl_expr *expr)
{
    return expr == NULL ? NULL : lower_expr(ctx, expr);
}

/* The text of the check without its `;`. The text has no `;` if the parser inserted it. */
static const char *statement_text(const dfl_sema *sema, dfl_span at)
{
    at.end -= dfl_sema_slice(sema, (dfl_span){ at.end - 1, at.end })[0] == ';';
    return dfl_sema_slice(sema, at);
}

/* Reports a tolerance that is written as a number without a unit and is 1 or more: a share of 1 accepts every value from zero to
   twice the right one, so percents or an amount are meant. */
static void check_tolerance(dfl_check_context *ctx, const dfl_expr *within, const dfl_val *value)
{
    dfl_diag *d;

    if (within == NULL || value == NULL || within->kind != DFL_EXPR_NUMBER || value->kind != DFL_VAL_QUANTITY ||
        within->text[within->len - 1] < '0' || within->text[within->len - 1] > '9' || !(value->quantity.real >= 1))
        return;
    d = dfl_report(ctx->sema->sink, DFL_UNIT_DIMENSION, within->span, "a tolerance of %.*s is %g %%", (int)within->len,
                   within->text, value->quantity.real * 100);
    dfl_diag_help(ctx->sema->sink, d, "write a share as `%.*s%%`, or an amount with its unit", (int)within->len, within->text);
    dfl_diag_fix(ctx->sema->sink, d, within->span, dfl_arena_printf(ctx->sema->arena, "%.*s%%", (int)within->len, within->text),
                 DFL_FIX_MAYBE);
    ctx->ok = false;
}

bool dfl_check_lower(dfl_check_context *ctx, const dfl_ast_node *node, dfl_sym scope, dfl_check *out)
{
    static const dfl_check_kind kinds[] = {
        [DFL_AST_REQUIRES] = DFL_CHECK_REQUIRE, [DFL_AST_EXPECTS] = DFL_CHECK_EXPECT, [DFL_AST_ASSUMES] = DFL_CHECK_ASSUME,
    };
    dfl_value source = { 0 };

    ctx->ok = node->value != NULL;
    if (node->value == NULL)
        return false;
    *out = (dfl_check){ .kind = kinds[node->check], .span = node->span, .scope = scope };
    out->expr = lower_expr(ctx, node->value);
    out->exactly = dfl_check_lower_value(ctx, node->more->exactly);
    out->within = dfl_check_lower_value(ctx, node->more->within);
    out->of = dfl_check_lower_value(ctx, node->more->of);
    check_tolerance(ctx, node->more->within, out->within);
    if (node->more->from != NULL)
        source = dfl_eval(ctx->sema, ctx->scope, node->more->from);
    out->source = source.kind == DFL_VALUE_STRING ? source.text : 0;
    out->text = statement_text(ctx->sema, node->span);
    return ctx->ok;
}
