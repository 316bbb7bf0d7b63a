/* Checks: expressions over results, with constants folded. */
#include "sema/mapping/checks.h"

#include <string.h>

#include "sema/mapping/mapping.h"

static const dfl_val *lower(dfl_checking *c, const dfl_expr *e);

static dfl_val *make(dfl_checking *c, const dfl_expr *e, dfl_val_kind kind)
{
    dfl_val *v = DFL_NEW(c->s->arena, dfl_val);

    v->kind = kind;
    v->span = e->span;
    return v;
}

static void add_workload(dfl_sema *s, dfl_decl *d)
{
    const dfl_sized *w = dfl_workload_default(s, d);

    if (w == NULL || w->broken || w->workload == NULL)
        return;
    for (size_t i = 0; i < s->workloads.n; i++)
        if (s->workloads.at[i].workload == w->workload)
            return;
    DFL_PUSH(s->arena, &s->workloads, ((dfl_sized_workload){ w->workload, false }));
}

static void add_system(dfl_sema *s, dfl_decl *d)
{
    const dfl_machine *m = dfl_machine_default(s, d);

    if (m == NULL || m->system == NULL)
        return;
    for (size_t i = 0; i < s->systems.n; i++)
        if (s->systems.at[i] == m->system)
            return;
    DFL_PUSH(s->arena, &s->systems, m->system);
}

static bool through_import(const dfl_checking *c, const dfl_ast_path *path)
{
    return path->n > 1 && dfl_symmap_get(&c->scope->unit->aliases, path->head->sym) != NULL;
}

/* The declaration that a path starts with, and by how many of its names: `h100` or, through an import, `nv.h100`. */
static dfl_decl *head_of(dfl_checking *c, const dfl_ast_path *path, uint32_t *n, bool *broken)
{
    for (*n = through_import(c, path) ? 2 : 1; *n > 0; --*n) {
        dfl_ast_path start = { .head = path->head, .n = *n, .text = path->head->sym, .span = path->head->span };
        dfl_decl *d = dfl_decl_find(c->s, c->scope->unit, &start, broken);

        if (d != NULL)
            return d;
    }
    return NULL;
}

static void report_head(dfl_checking *c, const dfl_ast_path *path)
{
    dfl_ast_path start = { .head = path->head, .n = 2, .text = path->head->sym, .span = path->head->span };
    dfl_diag *d;
    dfl_sym near;

    c->ok = false;
    if (through_import(c, path)) {
        dfl_decl_report_unknown(c->s, c->scope, &start);
        return;
    }
    d = dfl_report(c->s->sink, DFL_NAME_UNKNOWN, path->head->span, "nothing is declared as `%s`",
                   dfl_sema_text(c->s, path->head->sym));
    near = dfl_decl_suggest(c->s, c->scope->unit, path->head->sym);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, path->head->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(c->s->sink, d, "a check names a mapping, workload or system first, as in `%s.latency`",
                      dfl_sema_text(c->s, path->head->sym));
}

/* The names of a path to a result. The first must be something declared, unless the check stands inside a declaration;
 * what an import declares is sized when it is first named, and stands by its own name. */
static const dfl_sym *symbols(dfl_checking *c, const dfl_ast_path *path, uint32_t *n)
{
    dfl_sym *out = DFL_NEW_ARRAY(c->s->arena, dfl_sym, path->n);
    uint32_t used = 0;
    bool broken = false;
    dfl_decl *head = c->inside ? NULL : head_of(c, path, &used, &broken);

    *n = path->n;
    for (uint32_t i = 0; i < path->n; i++)
        out[i] = path->head[i].sym;
    if (head == NULL) {
        if (!c->inside && !broken)
            report_head(c, path);
        return out;
    }
    if (head->unit->root)
        return out;
    if (head->node->kind == DFL_AST_SYSTEM)
        add_system(c->s, head);
    else if (head->node->kind == DFL_AST_WORKLOAD)
        add_workload(c->s, head);
    else
        return out;
    *n -= used - 1;
    out += used - 1;
    out[0] = head->name;
    return out;
}

/* Whether a path is a constant: a name of the scope, or a `let` of this file or an import. */
static bool is_constant(dfl_checking *c, const dfl_ast_path *path)
{
    const dfl_binding *b = path->n == 1 ? dfl_scope_find(c->scope, path->head->sym) : NULL;
    bool broken;
    dfl_decl *d;

    if (b != NULL)
        return b->kind == DFL_NAMES_VALUE;
    d = dfl_decl_find(c->s, c->scope->unit, path, &broken);
    return d != NULL && (d->node->kind == DFL_AST_LET || d->node->kind == DFL_AST_PARAM);
}

static const dfl_val *constant(dfl_checking *c, const dfl_expr *e)
{
    dfl_value v = dfl_eval(c->s, c->scope, e);
    dfl_val *out = make(c, e, v.kind == DFL_VALUE_STRING ? DFL_VAL_STRING : DFL_VAL_QUANTITY);

    out->quantity = v.quantity;
    out->text = v.text;
    c->ok = c->ok && (v.kind == DFL_VALUE_QUANTITY || v.kind == DFL_VALUE_STRING);
    if (v.kind == DFL_VALUE_BOOL)
        dfl_report(c->s->sink, DFL_EXPR_TYPE, e->span, "expected a value, found a condition");
    return out;
}

static bool is_builtin(const char *name)
{
    static const char *const names[] = { "floor", "ceil", "mod", "min", "max", "log2", "sqrt", "pow", "select" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Arguments of `flash.peak(sram)` are names of the design; those of functions are values. */
static const dfl_val *lower_argument(dfl_checking *c, const dfl_expr *e, bool names)
{
    dfl_sym *names_of;
    dfl_val *v;

    if (!names || e->kind != DFL_EXPR_PATH)
        return lower(c, e);
    v = make(c, e, DFL_VAL_PATH);
    names_of = DFL_NEW_ARRAY(c->s->arena, dfl_sym, e->path->n);
    for (uint32_t i = 0; i < e->path->n; i++)
        names_of[i] = e->path->head[i].sym;
    v->path = names_of;
    v->n_path = e->path->n;
    return v;
}

static const dfl_val *lower_call(dfl_checking *c, const dfl_expr *e)
{
    bool function = e->path->n == 1 && is_builtin(dfl_sema_text(c->s, e->path->text));
    const dfl_val **args = DFL_NEW_ARRAY(c->s->arena, const dfl_val *, e->n_args);
    dfl_val *v = make(c, e, DFL_VAL_CALL);
    uint32_t n = 0;

    if (function) {
        v->text = e->path->text;
    } else {
        v->path = symbols(c, e->path, &v->n_path);
    }
    for (const dfl_expr *a = e->args; a != NULL; a = a->next)
        args[n++] = lower_argument(c, a, !function);
    v->args = args;
    v->n_args = n;
    return v;
}

static dfl_val_kind kind_of(dfl_expr_kind kind)
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

/* Folds an operator over two constants, if that is exact and has a value. */
static bool fold(dfl_val *v, const dfl_val *a, const dfl_val *b)
{
    dfl_arith status = DFL_ARITH_DOMAIN;
    dfl_quantity q = { 0 };

    if (a->kind != DFL_VAL_QUANTITY || b->kind != DFL_VAL_QUANTITY)
        return false;
    if (v->kind == DFL_VAL_ADD)
        status = dfl_quantity_add(a->quantity, b->quantity, &q);
    else if (v->kind == DFL_VAL_SUB)
        status = dfl_quantity_sub(a->quantity, b->quantity, &q);
    else if (v->kind == DFL_VAL_MUL)
        status = dfl_quantity_mul(a->quantity, b->quantity, &q);
    else if (v->kind == DFL_VAL_DIV) {
        status = dfl_quantity_div(a->quantity, b->quantity, &q);
        if (status == DFL_ARITH_INEXACT) {
            q = dfl_quantity_real(a->quantity.real / b->quantity.real, DFL_DIM_NONE);
            status = DFL_ARITH_OK;
        }
    }
    if (status != DFL_ARITH_OK)
        return false;
    v->kind = DFL_VAL_QUANTITY;
    v->quantity = q;
    return true;
}

/* Two constants of different dimensions never compare or add. */
static void check_dimensions(dfl_checking *c, const dfl_expr *e, const dfl_val *a, const dfl_val *b)
{
    if (a->kind != DFL_VAL_QUANTITY || b->kind != DFL_VAL_QUANTITY || e->kind == DFL_EXPR_MUL ||
        e->kind == DFL_EXPR_DIV || dfl_dim_equal(a->quantity.dim, b->quantity.dim))
        return;
    (void)dfl_eval_failed(c->s, DFL_ARITH_DIMENSION, e, dfl_value_of(a->quantity), dfl_value_of(b->quantity));
    c->ok = false;
}

static const dfl_val *lower_operator(dfl_checking *c, const dfl_expr *e)
{
    const dfl_val **args = DFL_NEW_ARRAY(c->s->arena, const dfl_val *, 2);
    dfl_val *v = make(c, e, kind_of(e->kind));

    args[0] = lower(c, e->left);
    if (e->right != NULL) {
        args[1] = lower(c, e->right);
        check_dimensions(c, e, args[0], args[1]);
        if (fold(v, args[0], args[1]))
            return v;
    } else if (args[0]->kind == DFL_VAL_QUANTITY) {
        dfl_val zero = { .kind = DFL_VAL_QUANTITY };

        zero.quantity = dfl_quantity_int(0);
        zero.quantity.dim = args[0]->quantity.dim;
        v->kind = DFL_VAL_SUB;
        if (fold(v, &zero, args[0]))
            return v;
        v->kind = DFL_VAL_NEG;
    }
    v->args = args;
    v->n_args = e->right != NULL ? 2 : 1;
    return v;
}

static const dfl_val *lower(dfl_checking *c, const dfl_expr *e)
{
    dfl_val *v;

    switch (e->kind) {
    case DFL_EXPR_NUMBER:
    case DFL_EXPR_STRING:
        return constant(c, e);
    case DFL_EXPR_PATH:
        if (is_constant(c, e->path))
            return constant(c, e);
        v = make(c, e, DFL_VAL_PATH);
        v->path = symbols(c, e->path, &v->n_path);
        return v;
    case DFL_EXPR_CALL:
        return lower_call(c, e);
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
        return lower_operator(c, e);
    case DFL_EXPR_ACCESS:
    case DFL_EXPR_GATHER:
    case DFL_EXPR_SET:
    case DFL_EXPR_RANGE:
    case DFL_EXPR_HOLE:
        break;
    }
    dfl_report(c->s->sink, DFL_EXPR_TYPE, e->span, "expected a result or a constant");
    c->ok = false;
    return make(c, e, DFL_VAL_QUANTITY);
}

const dfl_val *dfl_check_value(dfl_checking *c, const dfl_expr *e)
{
    return e == NULL ? NULL : lower(c, e);
}

/* The check as it was written, without its `;`, which is not there when it was put in. */
static const char *statement(const dfl_sema *s, dfl_span at)
{
    at.end -= dfl_sema_slice(s, (dfl_span){ at.end - 1, at.end })[0] == ';';
    return dfl_sema_slice(s, at);
}

bool dfl_check_lower(dfl_checking *c, const dfl_ast_node *n, dfl_sym scope, dfl_check *out)
{
    static const dfl_check_kind kinds[] = {
        [DFL_AST_REQUIRES] = DFL_CHECK_REQUIRE, [DFL_AST_EXPECTS] = DFL_CHECK_EXPECT, [DFL_AST_ASSUMES] = DFL_CHECK_ASSUME,
    };
    dfl_value source = { 0 };

    c->ok = n->value != NULL;
    if (n->value == NULL)
        return false;
    *out = (dfl_check){ .kind = kinds[n->check], .span = n->span, .scope = scope };
    out->expr = lower(c, n->value);
    out->exactly = dfl_check_value(c, n->more->exactly);
    out->within = dfl_check_value(c, n->more->within);
    out->of = dfl_check_value(c, n->more->of);
    if (n->more->from != NULL)
        source = dfl_eval(c->s, c->scope, n->more->from);
    out->source = source.kind == DFL_VALUE_STRING ? source.text : 0;
    out->text = statement(c->s, n->span);
    return c->ok;
}
