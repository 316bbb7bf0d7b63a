/* The right side of an einsum: its tree, its distinct inputs, and what one point costs. */
#include "sema/workload/workload.h"

#include <math.h>
#include <string.h>

typedef struct {
    dfl_work *c;
    const dfl_ast_node *n;
    dfl_build_einsum *x;
    DFL_VEC(dfl_access) inputs;
    dfl_i128 flops;           /* operators and ops, per point */
    dfl_i128 per_output;      /* of ops `over` a rank */
    bool overflow, ok;
} right_side;

static bool has_access(const dfl_expr *e)
{
    if (e == NULL)
        return false;
    if (e->kind == DFL_EXPR_ACCESS || e->kind == DFL_EXPR_GATHER || has_access(e->left) || has_access(e->right))
        return true;
    for (const dfl_expr *a = e->args; a != NULL; a = a->next)
        if (has_access(a))
            return true;
    return false;
}

static void count(right_side *r, dfl_i128 *sum, dfl_i128 flops)
{
    r->overflow |= dfl_add(*sum, flops, sum);
}

static dfl_eop *make(right_side *r, dfl_eop_kind kind, uint32_t n_args)
{
    dfl_eop *e = DFL_NEW(r->c->s->arena, dfl_eop);

    e->kind = kind;
    e->n_args = n_args;
    return e;
}

static const dfl_eop *failed(right_side *r)
{
    r->ok = false;
    return make(r, DFL_EOP_CONST, 0);
}

/* ---- accesses ------------------------------------------------------------------------------------------------- */

static bool same_index(const dfl_index *a, const dfl_index *b)
{
    if (a->n_terms != b->n_terms || a->offset != b->offset)
        return false;
    for (uint32_t i = 0; i < a->n_terms; i++)
        if (a->terms[i].rank != b->terms[i].rank || a->terms[i].coef != b->terms[i].coef)
            return false;
    return true;
}

static bool same_access(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor || a->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (!same_index(&a->index[d], &b->index[d]))
            return false;
    return true;
}

/* Stamps the ranks of an access: on the right, or in a gathered table only. */
static void stamp(right_side *r, const dfl_access *a, bool table)
{
    uint32_t mark = (uint32_t)r->c->b->einsums.n + 1;

    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++) {
            dfl_build_rank *rank = &r->c->b->ranks.at[a->index[d].terms[i].rank];

            rank->used = true;
            if (table)
                rank->table = mark;
            else
                rank->right = mark;
        }
}

/* A tensor that is read: known, given from outside, or a new input. */
static uint32_t tensor_read(right_side *r, const dfl_expr *e)
{
    dfl_work *c = r->c;
    uint32_t id = dfl_work_find_tensor(c, e->path);
    const dfl_binding *b = e->path->n == 1 && id == DFL_NONE ? dfl_scope_find(c->scope, e->path->head->sym) : NULL;
    dfl_given *given;
    dfl_work outer;

    if (id != DFL_NONE)
        return id;
    if (e->path->n > 1) {
        dfl_work_report_no_tensor(c, e->path);
        return DFL_NONE;
    }
    if (b != NULL) {
        dfl_diag *d = dfl_report(c->s->sink, DFL_NAME_WRONG_KIND, e->path->span, "`%s` is not a tensor",
                                 dfl_sema_text(c->s, e->path->text));

        dfl_diag_label(c->s->sink, d, b->span, "declared here");
        c->b->broken = true;
        return DFL_NONE;
    }
    given = c->given != NULL ? dfl_symmap_get(c->given, e->path->head->sym) : NULL;
    if (given != NULL) {
        dfl_binding *name = dfl_scope_declare(c->s, c->scope, e->path->head->sym, e->path->span, DFL_NAMES_TENSOR);

        given->used = true;
        return name->id = given->tensor;
    }
    for (const dfl_pending *p = c->pending; p != NULL; p = p->outer)
        if (dfl_symmap_get(&p->names, e->path->text) != NULL) {
            outer = *p->work;
            return dfl_work_new_tensor(&outer, e->path, true, e->n_args, &id) != NULL ? id : DFL_NONE;
        }
    outer = *c;
    outer.scope = c->body_scope;
    outer.prefix = c->body_prefix;
    outer.family = "";
    return dfl_work_new_tensor(&outer, e->path, false, e->n_args, &id) != NULL ? id : DFL_NONE;
}

static const dfl_eop *read_access(right_side *r, const dfl_expr *e, bool table)
{
    uint32_t tensor = tensor_read(r, e);
    dfl_access a;
    dfl_eop *op;

    if (tensor == DFL_NONE ||
        !dfl_work_access(r->c, e->path, e->args, e->n_args, e->span, tensor, &a, &r->x->vague))
        return failed(r);
    stamp(r, &a, table);
    op = make(r, DFL_EOP_ACCESS, 0);
    for (op->operand = 0; op->operand < r->inputs.n; op->operand++) {
        if (same_access(&r->inputs.at[op->operand], &a))
            return op;
        if (!dfl_budget_ok(r->c->s->budget))
            return failed(r);
    }
    DFL_PUSH(r->c->s->arena, &r->inputs, a);
    return op;
}

/* ---- operations ----------------------------------------------------------------------------------------------- */

/* The cost of an operation, in whole FLOP; rounded up where it is computed with logarithms. */
static bool cost_of(right_side *r, const dfl_expr *e, dfl_decl *op, dfl_i128 *flops)
{
    dfl_work *c = r->c;
    const dfl_ast_node *n = op->node;
    dfl_value v;

    if (n->more->over.sym == 0) {
        v = dfl_eval_decl(c->s, op, e->span);
    } else {
        dfl_scope *scope = dfl_scope_new(c->s, NULL, op->unit);
        dfl_binding *rank = dfl_scope_declare(c->s, scope, n->more->over.sym, n->more->over.span, DFL_NAMES_VALUE);
        int64_t extent = r->x->e.over_rank == DFL_NONE ? 0 : c->b->ranks.at[r->x->e.over_rank].extent;

        rank->value = extent > 0 ? dfl_value_of(dfl_quantity_int(extent)) : DFL_UNKNOWN;
        v = dfl_eval(c->s, scope, n->value);
    }
    *flops = 0;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind != DFL_VALUE_QUANTITY || !dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_OPS)) ||
        v.quantity.real < 0) {
        dfl_diag *d = dfl_report(c->s->sink, DFL_UNIT_DIMENSION, n->value != NULL ? n->value->span : n->span,
                                 "the cost of an operation is a number of FLOP");

        dfl_diag_help(c->s->sink, d, "write `op %s(...) = 1FLOP;`", dfl_sema_text(c->s, op->name));
        return false;
    }
    if (dfl_quantity_round(v.quantity, true, &v.quantity) != DFL_ARITH_OK)
        return false;
    *flops = v.quantity.integer;
    return true;
}

static dfl_decl *find_op(right_side *r, const dfl_expr *e)
{
    dfl_work *c = r->c;
    dfl_decl *op = e->path->n == 1 ? dfl_decl_op(c->s, c->scope->unit, e->path->head->sym) : NULL;
    uint32_t n = 0;
    dfl_diag *d;

    if (op == NULL) {
        DFL_VEC(dfl_sym) known = { 0 };
        dfl_sym near;

        d = dfl_report(c->s->sink, DFL_OP_UNKNOWN, e->path->span, "no operation `%s`", dfl_sema_text(c->s, e->path->text));
        for (size_t i = 0; c->s->ops != NULL && i < c->s->ops->decls.n; i++)
            DFL_PUSH(c->s->arena, &known, c->s->ops->decls.at[i]->name);
        near = dfl_suggest(c->s->names, dfl_sema_text(c->s, e->path->text), known.at, known.n);
        if (c->s->ops == NULL)
            dfl_diag_help(c->s->sink, d, "the standard library with std.ops was not found; set DFL_STDLIB");
        else if (near != 0)
            dfl_diag_fix(c->s->sink, d, e->path->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
        else
            dfl_diag_help(c->s->sink, d, "declare it with its cost: `op %s(x) = 1FLOP;`",
                          dfl_sema_text(c->s, e->path->text));
        return NULL;
    }
    n = op->node->more->n_names;
    if (n != e->n_args) {
        d = dfl_report(c->s->sink, e->n_args < n ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_TOO_MANY, e->span,
                       "`%s` takes %u argument%s, %u given", dfl_sema_text(c->s, op->name), n, n == 1 ? "" : "s",
                       e->n_args);
        dfl_diag_label(c->s->sink, d, op->node->name.span, "declared here");
        return NULL;
    }
    if ((op->node->more->over.sym != 0) != (r->n->more->over.sym != 0)) {
        bool wants = op->node->more->over.sym != 0;

        d = dfl_report(c->s->sink, wants ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_UNKNOWN,
                       wants ? e->path->span : r->n->more->over.span,
                       wants ? "`%s` works over a whole rank: which one" : "`%s` does not work over a rank",
                       dfl_sema_text(c->s, op->name));
        if (wants)
            dfl_diag_help(c->s->sink, d, "end the statement with `over r`");
        return NULL;
    }
    return op;
}

static const dfl_eop *build(right_side *r, const dfl_expr *e);

static const dfl_eop *build_call(right_side *r, const dfl_expr *e)
{
    dfl_decl *op = find_op(r, e);
    const dfl_eop **args;
    dfl_eop *call;
    dfl_i128 flops;
    uint32_t n = 0;

    if (op == NULL || !cost_of(r, e, op, &flops))
        return failed(r);
    count(r, op->node->more->over.sym != 0 ? &r->per_output : &r->flops, flops);
    call = make(r, DFL_EOP_CALL, e->n_args);
    call->op = op->name;
    call->flops = op->node->more->over.sym != 0 ? 0 : flops;
    args = DFL_NEW_ARRAY(r->c->s->arena, const dfl_eop *, e->n_args);
    for (const dfl_expr *a = e->args; a != NULL; a = a->next)
        args[n++] = build(r, a);
    call->args = args;
    return call;
}

/* ---- constants ------------------------------------------------------------------------------------------------ */

/* Constants next to tensors may use operations like `rsqrt`; they are computed once and cost nothing. */
static double constant_op(const char *name, double x)
{
    static const struct { const char *name; double (*run)(double); } functions[] = {
        { "exp", exp }, { "log", log }, { "tanh", tanh }, { "erf", erf }, { "sin", sin }, { "cos", cos },
        { "abs", fabs },
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run(x);
    if (strcmp(name, "rsqrt") == 0)
        return 1 / sqrt(x);
    if (strcmp(name, "recip") == 0)
        return 1 / x;
    return strcmp(name, "square") == 0 ? x * x : NAN;
}

static double constant_value(right_side *r, const dfl_expr *e)
{
    dfl_work *c = r->c;
    dfl_value v;

    if (e->kind == DFL_EXPR_CALL && e->path->n == 1 && e->n_args == 1) {
        double x = constant_op(dfl_sema_text(c->s, e->path->text), 1);

        if (!isnan(x))
            return constant_op(dfl_sema_text(c->s, e->path->text), constant_value(r, e->args));
    }
    v = dfl_eval(c->s, c->scope, e);
    if (v.kind == DFL_VALUE_BAD)
        r->ok = false;
    if (v.kind == DFL_VALUE_QUANTITY && !dfl_dim_is_none(v.quantity.dim)) {
        dfl_report(c->s->sink, DFL_UNIT_DIMENSION, e->span, "a constant among tensors has no unit");
        r->ok = false;
    }
    return v.kind == DFL_VALUE_QUANTITY ? v.quantity.real : 0;
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

static const dfl_eop *build_operator(right_side *r, const dfl_expr *e, dfl_eop_kind kind)
{
    bool binary = kind != DFL_EOP_NEG;
    dfl_eop *op = make(r, kind, binary ? 2 : 1);
    const dfl_eop **args = DFL_NEW_ARRAY(r->c->s->arena, const dfl_eop *, 2);

    count(r, &r->flops, 1);
    args[0] = build(r, e->left);
    if (binary)
        args[1] = build(r, e->right);
    op->args = args;
    return op;
}

static const dfl_eop *build_gather(right_side *r, const dfl_expr *e)
{
    dfl_eop *op = make(r, DFL_EOP_CALL, 2);
    const dfl_eop **args = DFL_NEW_ARRAY(r->c->s->arena, const dfl_eop *, 2);

    r->x->e.gathers = true;
    op->op = dfl_intern_z(r->c->s->names, "gather");
    args[0] = read_access(r, e->left, true);
    args[1] = read_access(r, e->right, false);
    op->args = args;
    return op;
}

static const dfl_eop *build(right_side *r, const dfl_expr *e)
{
    dfl_eop *op;

    if (!has_access(e)) {
        op = make(r, DFL_EOP_CONST, 0);
        op->value = constant_value(r, e);
        return op;
    }
    switch ((int)e->kind) {
    case DFL_EXPR_ACCESS: return read_access(r, e, false);
    case DFL_EXPR_GATHER: return build_gather(r, e);
    case DFL_EXPR_CALL:   return build_call(r, e);
    case DFL_EXPR_NEG:    return build_operator(r, e, DFL_EOP_NEG);
    case DFL_EXPR_ADD:    return build_operator(r, e, DFL_EOP_ADD);
    case DFL_EXPR_SUB:    return build_operator(r, e, DFL_EOP_SUB);
    case DFL_EXPR_MUL:    return build_operator(r, e, DFL_EOP_MUL);
    case DFL_EXPR_DIV:    return build_operator(r, e, DFL_EOP_DIV);
    default:              break;
    }
    dfl_report(r->c->s->sink, DFL_EXPR_TYPE, e->span, "expected a value computed from tensors");
    return failed(r);
}

bool dfl_work_right_side(dfl_work *c, const dfl_ast_node *n, dfl_build_einsum *x)
{
    dfl_access room[8], *inputs;
    right_side r = { .c = c, .n = n, .x = x, .ok = true, .inputs = { .at = room, .cap = 8 } };
    dfl_einsum *e = &x->e;

    if (n->value == NULL)
        return false;
    if (!has_access(n->value)) {
        dfl_diag *d = dfl_report(c->s->sink, DFL_EXPR_TYPE, n->value->span, "the right side reads no tensor");

        dfl_diag_help(c->s->sink, d, "an einsum computes its result from tensors; ranks of the left side must occur on "
                      "the right");
        return false;
    }
    e->body = build(&r, n->value);
    inputs = DFL_NEW_ARRAY(c->s->arena, dfl_access, r.inputs.n);
    if (r.inputs.n > 0)
        memcpy(inputs, r.inputs.at, r.inputs.n * sizeof *inputs);
    e->inputs = inputs;
    e->n_inputs = (uint32_t)r.inputs.n;
    e->is_mac = e->reduce == DFL_REDUCE_ADD && e->body->kind == DFL_EOP_MUL && e->over_rank == DFL_NONE &&
                e->body->args[0]->kind == DFL_EOP_ACCESS && e->body->args[1]->kind == DFL_EOP_ACCESS;
    if (e->reduce != DFL_REDUCE_NONE)
        count(&r, &r.flops, 1);
    e->flops_per_point = e->is_mac ? 0 : r.flops;
    e->flops_per_output = r.per_output;
    if (r.overflow) {
        dfl_report(c->s->sink, DFL_EVAL_OVERFLOW, n->value->span, "cost of a point is beyond 128 bits");
        r.ok = false;
    }
    return r.ok;
}
