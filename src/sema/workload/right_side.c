/* The right side of an einsum: its expression tree, its distinct inputs, and the operations per point. */
#include "sema/workload/workload_internal.h"

#include <math.h>
#include <string.h>

#include "sema/expr/eval.h"
#include "support/limits.h"
#include "sema/names/module.h"

/* The right side under construction. */
typedef struct {
    dfl_workload_context *ctx;
    const dfl_ast_node *node;    /* node of the einsum */
    dfl_draft_einsum *einsum;
    DFL_VEC(dfl_access) inputs;  /* distinct accesses of the right side; every `gather` has its own access to the table */
    DFL_VEC(dfl_draft_gather) gathers;
    dfl_i128 flops;              /* FLOP per point, without operations `over` a rank */
    dfl_i128 per_output;         /* FLOP per element of the result, of operations `over` a rank */
    bool overflow;               /* a number of FLOP exceeds 128 bits */
    bool ok;                     /* no error has been reported */
} rhs_builder;

bool dfl_workload_reads(const dfl_expr *expr)
{
    if (expr == NULL)
        return false;
    if (expr->kind == DFL_EXPR_ACCESS || expr->kind == DFL_EXPR_GATHER || dfl_workload_reads(expr->left) ||
        dfl_workload_reads(expr->right))
        return true;
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next)
        if (dfl_workload_reads(a))
            return true;
    return false;
}

/* Adds to a number of FLOP; records an overflow. */
static void count_flops(rhs_builder *rhs, dfl_i128 *sum, dfl_i128 flops)
{
    rhs->overflow |= dfl_add(*sum, flops, sum);
}

/* Makes a node of the tree. */
static dfl_eop *make_node(rhs_builder *rhs, dfl_eop_kind kind, uint32_t n_args)
{
    dfl_eop *e = DFL_NEW(rhs->ctx->sema->arena, dfl_eop);

    e->kind = kind;
    e->n_args = n_args;
    return e;
}

/* Records that an error was reported. Returns a node that replaces the wrong one. */
static const dfl_eop *fail(rhs_builder *rhs)
{
    rhs->ok = false;
    return make_node(rhs, DFL_EOP_CONST, 0);
}

/* Whether two indices are equal. */
static bool equal_indices(const dfl_index *a, const dfl_index *b)
{
    if (a->n_terms != b->n_terms || a->offset != b->offset)
        return false;
    for (uint32_t i = 0; i < a->n_terms; i++)
        if (a->terms[i].rank != b->terms[i].rank || a->terms[i].coef != b->terms[i].coef)
            return false;
    return true;
}

/* Whether two accesses read the same element at every point. */
static bool equal_accesses(const dfl_access *access, const dfl_access *b)
{
    if (access->tensor != b->tensor || access->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (!equal_indices(&access->index[d], &b->index[d]))
            return false;
    return true;
}

/* Stamps the ranks of an access as ranks of an input or, if `table`, of a gathered table. */
static void stamp_ranks(rhs_builder *rhs, const dfl_access *access, bool table)
{
    uint32_t mark = (uint32_t)rhs->ctx->draft->einsums.n + 1;

    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t i = 0; i < access->index[d].n_terms; i++) {
            dfl_draft_rank *rank = &rhs->ctx->draft->ranks.at[access->index[d].terms[i].rank];

            rank->used = true;
            if (table)
                rank->table = mark;
            else
                rank->right = mark;
        }
}

/*
 * The tensor that an access reads: an existing one, an argument of the enclosing `apply`, a result of a later einsum in
 * the enclosing braces, or else a new input of the body. DFL_NONE after reporting an error.
 */
static uint32_t resolve_read(rhs_builder *rhs, const dfl_expr *expr)
{
    dfl_workload_context *ctx = rhs->ctx;
    uint32_t id = dfl_workload_find_tensor(ctx, expr->path);
    const dfl_scope_entry *entry =
        expr->path->n == 1 && id == DFL_NONE ? dfl_scope_find(ctx->scope, expr->path->head->sym) : NULL;
    dfl_tensor_argument *given;
    dfl_workload_context outer;

    if (id != DFL_NONE)
        return id;
    if (expr->path->n > 1) {
        dfl_workload_report_no_tensor(ctx, expr->path);
        return DFL_NONE;
    }
    if (entry != NULL) {
        dfl_diag *d = dfl_report(ctx->sema->sink, DFL_NAME_WRONG_KIND, expr->path->span, "`%s` is not a tensor",
                                 dfl_sema_text(ctx->sema, expr->path->text));

        dfl_diag_label(ctx->sema->sink, d, entry->span, "declared here");
        ctx->draft->broken = true;
        return DFL_NONE;
    }
    given = ctx->arguments != NULL ? dfl_symmap_get(ctx->arguments, expr->path->head->sym) : NULL;
    if (given != NULL) {
        dfl_scope_entry *name =
            dfl_scope_declare(ctx->sema, ctx->scope, expr->path->head->sym, expr->path->span, DFL_ENTRY_TENSOR);

        given->used = true;
        return name->id = given->tensor;
    }
    for (const dfl_forward_names *p = ctx->forward; p != NULL; p = p->outer)
        if (dfl_symmap_get(&p->names, expr->path->text) != NULL) {
            outer = *p->context;
            return dfl_workload_add_tensor(&outer, expr->path, true, expr->n_args, &id) != NULL ? id : DFL_NONE;
        }
    outer = *ctx;
    outer.scope = ctx->body_scope;
    outer.prefix = ctx->body_prefix;
    outer.family = "";
    return dfl_workload_add_tensor(&outer, expr->path, false, expr->n_args, &id) != NULL ? id : DFL_NONE;
}

/* Whether input `i` reads a table. */
static bool is_table(const rhs_builder *rhs, uint32_t i)
{
    for (size_t g = 0; g < rhs->gathers.n; g++)
        if (rhs->gathers.at[g].row == i)
            return true;
    return false;
}

/* Makes the node of an access; the access becomes an input unless an equal access is an input already. */
static const dfl_eop *build_access(rhs_builder *rhs, const dfl_expr *expr, bool table)
{
    uint32_t tensor = resolve_read(rhs, expr);
    dfl_access access;
    dfl_eop *op;

    if (tensor == DFL_NONE ||
        !dfl_workload_lower_access(rhs->ctx, expr->args, expr->n_args, expr->span, tensor, &access, &rhs->einsum->vague))
        return fail(rhs);
    stamp_ranks(rhs, &access, table);
    op = make_node(rhs, DFL_EOP_ACCESS, 0);
    for (op->operand = 0; op->operand < rhs->inputs.n; op->operand++) {
        if (!table && !is_table(rhs, op->operand) && equal_accesses(&rhs->inputs.at[op->operand], &access))
            return op;
        if (!dfl_budget_ok(rhs->ctx->sema->budget))
            return fail(rhs);
    }
    DFL_PUSH(rhs->ctx->sema->arena, &rhs->inputs, access);
    return op;
}

/* The FLOP of an operation, rounded up to a whole number (a cost may use log2); 0 if the cost is unknown. False after
   reporting. */
static bool eval_cost(rhs_builder *rhs, const dfl_expr *expr, dfl_decl *op, dfl_i128 *flops)
{
    dfl_workload_context *ctx = rhs->ctx;
    const dfl_ast_node *node = op->node;
    dfl_value v;

    if (node->more->over.sym == 0) {
        v = dfl_eval_decl(ctx->sema, op, expr->span);
    } else {
        dfl_scope *scope = dfl_scope_new(ctx->sema, NULL, op->module);
        dfl_scope_entry *rank =
            dfl_scope_declare(ctx->sema, scope, node->more->over.sym, node->more->over.span, DFL_ENTRY_VALUE);
        int64_t extent = rhs->einsum->ir.over_rank == DFL_NONE ? 0 : ctx->draft->ranks.at[rhs->einsum->ir.over_rank].extent;

        rank->value = extent > 0 ? dfl_value_of(dfl_quantity_int(extent)) : DFL_UNKNOWN;
        v = dfl_eval(ctx->sema, scope, node->value);
    }
    *flops = 0;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind != DFL_VALUE_QUANTITY || !dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_OPS)) ||
        v.quantity.real < 0) {
        dfl_diag *d = dfl_report(ctx->sema->sink, DFL_UNIT_DIMENSION, node->value != NULL ? node->value->span : node->span,
                                 "the cost of an operation is a number of FLOP");

        dfl_diag_help(ctx->sema->sink, d, "write `op %s(...) = 1FLOP;`", dfl_sema_text(ctx->sema, op->name));
        return false;
    }
    if (dfl_quantity_round(v.quantity, true, &v.quantity) != DFL_ARITH_OK)
        return false;
    *flops = v.quantity.integer;
    return true;
}

/* The operation that a call names, with matching arguments and `over`; NULL after reporting. */
static dfl_decl *find_op(rhs_builder *rhs, const dfl_expr *expr)
{
    static const char reductions[] = " sum reduce reduce_sum einsum matmul dot mm gemm conv prod ";
    dfl_workload_context *ctx = rhs->ctx;
    dfl_decl *op = expr->path->n == 1 ? dfl_decl_op(ctx->sema, ctx->scope->module, expr->path->head->sym) : NULL;
    uint32_t n = 0;
    dfl_diag *d;

    if (op == NULL) {
        DFL_VEC(dfl_sym) known = { 0 };
        dfl_sym near;

        d = dfl_report(ctx->sema->sink, DFL_OP_UNKNOWN, expr->path->span, "no operation `%s`",
                       dfl_sema_text(ctx->sema, expr->path->text));
        for (size_t i = 0; ctx->sema->std_ops != NULL && i < ctx->sema->std_ops->decls.n; i++)
            DFL_PUSH(ctx->sema->arena, &known, ctx->sema->std_ops->decls.at[i]->name);
        near = dfl_suggest(ctx->sema->names, dfl_sema_text(ctx->sema, expr->path->text), known.at, known.n);
        if (ctx->sema->std_ops == NULL)
            dfl_diag_help(ctx->sema->sink, d, "the standard library with std.ops was not found; set DFL_STDLIB");
        else if (near != 0)
            dfl_diag_fix(ctx->sema->sink, d, expr->path->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
        else if (strstr(reductions, dfl_arena_printf(ctx->sema->arena, " %s ",
                                                     dfl_sema_text(ctx->sema, expr->path->text))) != NULL)
            dfl_diag_help(ctx->sema->sink, d, "sums need no operation: `Z[m] += A[m, k] * B[k];` adds over the ranks that only "
                          "the right side has");
        else
            dfl_diag_help(ctx->sema->sink, d, "declare it with its cost: `op %s(x)%s = 1FLOP;`",
                          dfl_sema_text(ctx->sema, expr->path->text), rhs->node->more->over.sym != 0 ? " over r" : "");
        return NULL;
    }
    n = op->node->more->n_names;
    if (n != expr->n_args) {
        d = dfl_report(ctx->sema->sink, expr->n_args < n ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_TOO_MANY, expr->span,
                       "`%s` takes %u argument%s, %u given", dfl_sema_text(ctx->sema, op->name), n, n == 1 ? "" : "s",
                       expr->n_args);
        dfl_diag_label(ctx->sema->sink, d, op->node->name.span, "declared here");
        return NULL;
    }
    if ((op->node->more->over.sym != 0) != (rhs->node->more->over.sym != 0)) {
        bool wants = op->node->more->over.sym != 0;

        d = dfl_report(ctx->sema->sink, wants ? DFL_ARGUMENT_MISSING : DFL_ARGUMENT_UNKNOWN,
                       wants ? expr->path->span : rhs->node->more->over.span,
                       wants ? "`%s` works over a whole rank, which is not named" : "`%s` does not work over a rank",
                       dfl_sema_text(ctx->sema, op->name));
        dfl_diag_help(ctx->sema->sink, d, wants ? "end the statement with `over r`" : "remove `over`");
        return NULL;
    }
    return op;
}

static const dfl_eop *build_tree(rhs_builder *rhs, const dfl_expr *expr);

/* Makes the node of a call of an operation. */
static const dfl_eop *build_call(rhs_builder *rhs, const dfl_expr *expr)
{
    dfl_decl *op = find_op(rhs, expr);
    const dfl_eop **args;
    dfl_eop *call;
    dfl_i128 flops;
    uint32_t n = 0;

    if (op == NULL || !eval_cost(rhs, expr, op, &flops))
        return fail(rhs);
    count_flops(rhs, op->node->more->over.sym != 0 ? &rhs->per_output : &rhs->flops, flops);
    call = make_node(rhs, DFL_EOP_CALL, expr->n_args);
    call->op = op->name;
    call->flops = op->node->more->over.sym != 0 ? 0 : flops;
    args = DFL_NEW_ARRAY(rhs->ctx->sema->arena, const dfl_eop *, expr->n_args);
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next)
        args[n++] = build_tree(rhs, a);
    call->args = args;
    return call;
}

/* The result of the operation `name` for a constant operand; NAN if the operation has no constant form. A constant
   operation costs no FLOP. */
static double eval_constant_op(const char *name, double x)
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

/* The constant value of a subtree without accesses; 0 if the value is unknown or bad. */
static double eval_constant(rhs_builder *rhs, const dfl_expr *expr)
{
    dfl_workload_context *ctx = rhs->ctx;
    dfl_value v;

    if (expr->kind == DFL_EXPR_CALL && expr->path->n == 1 && expr->n_args == 1) {
        double x = eval_constant_op(dfl_sema_text(ctx->sema, expr->path->text), 1);

        if (!isnan(x))
            return eval_constant_op(dfl_sema_text(ctx->sema, expr->path->text), eval_constant(rhs, expr->args));
    }
    v = dfl_eval(ctx->sema, ctx->scope, expr);
    if (v.kind == DFL_VALUE_BAD)
        rhs->ok = false;
    if (v.kind == DFL_VALUE_QUANTITY && !dfl_dim_is_none(v.quantity.dim)) {
        dfl_report(ctx->sema->sink, DFL_UNIT_DIMENSION, expr->span,
                   "a constant in a computation on tensors must not have a unit");
        rhs->ok = false;
    }
    return v.kind == DFL_VALUE_QUANTITY ? v.quantity.real : 0;
}

/* Makes the node of an operator. */
static const dfl_eop *build_operator(rhs_builder *rhs, const dfl_expr *expr, dfl_eop_kind kind)
{
    bool binary = kind != DFL_EOP_NEG;
    dfl_eop *op = make_node(rhs, kind, binary ? 2 : 1);
    const dfl_eop **args = DFL_NEW_ARRAY(rhs->ctx->sema->arena, const dfl_eop *, 2);

    count_flops(rhs, &rhs->flops, 1);
    args[0] = build_tree(rhs, expr->left);
    if (binary)
        args[1] = build_tree(rhs, expr->right);
    op->args = args;
    return op;
}

/* Makes the node of a gather: a table read at positions that another tensor holds. */
static const dfl_eop *build_gather(rhs_builder *rhs, const dfl_expr *expr)
{
    dfl_eop *op = make_node(rhs, DFL_EOP_GATHER, 2);
    const dfl_eop **args = DFL_NEW_ARRAY(rhs->ctx->sema->arena, const dfl_eop *, 2);

    args[1] = build_access(rhs, expr->right, false);
    args[0] = build_access(rhs, expr->left, true);
    op->args = args;
    if (rhs->ok)
        DFL_PUSH(rhs->ctx->sema->arena, &rhs->gathers, ((dfl_draft_gather){ args[0]->operand, args[1]->operand }));
    return op;
}

/* Makes the node of any expression. */
static const dfl_eop *build_tree(rhs_builder *rhs, const dfl_expr *expr)
{
    dfl_eop *op;

    if (!dfl_workload_reads(expr)) {
        op = make_node(rhs, DFL_EOP_CONST, 0);
        op->value = eval_constant(rhs, expr);
        return op;
    }
    switch ((int)expr->kind) {
    case DFL_EXPR_ACCESS: return build_access(rhs, expr, false);
    case DFL_EXPR_GATHER: return build_gather(rhs, expr);
    case DFL_EXPR_CALL:   return build_call(rhs, expr);
    case DFL_EXPR_NEG:    return build_operator(rhs, expr, DFL_EOP_NEG);
    case DFL_EXPR_ADD:    return build_operator(rhs, expr, DFL_EOP_ADD);
    case DFL_EXPR_SUB:    return build_operator(rhs, expr, DFL_EOP_SUB);
    case DFL_EXPR_MUL:    return build_operator(rhs, expr, DFL_EOP_MUL);
    case DFL_EXPR_DIV:    return build_operator(rhs, expr, DFL_EOP_DIV);
    default:              break;
    }
    dfl_report(rhs->ctx->sema->sink, DFL_EXPR_TYPE, expr->span, "expected a value computed from tensors");
    return fail(rhs);
}

/* Reports each call of a tensor, as in `A(m, k) * W[k, n]`. False after reporting. */
static bool check_calls(dfl_workload_context *ctx, const dfl_expr *expr)
{
    bool ok = true;
    dfl_diag *d;

    if (expr == NULL)
        return true;
    ok = check_calls(ctx, expr->left) && ok;
    ok = check_calls(ctx, expr->right) && ok;
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next)
        ok = check_calls(ctx, a) && ok;
    if (expr->kind != DFL_EXPR_CALL || dfl_workload_find_tensor(ctx, expr->path) == DFL_NONE ||
        (expr->path->n == 1 && dfl_decl_op(ctx->sema, ctx->scope->module, expr->path->head->sym) != NULL))
        return ok;
    d = dfl_report(ctx->sema->sink, DFL_NAME_WRONG_KIND, expr->path->span, "`%s` is a tensor, not an operation",
                   dfl_sema_text(ctx->sema, expr->path->text));
    dfl_diag_help(ctx->sema->sink, d, "the indices of a tensor stand in square brackets, as in `A[m, k]`");
    for (uint32_t at = expr->path->span.end; at < expr->span.end; at++)
        if (dfl_sema_slice(ctx->sema, (dfl_span){ at, at + 1 })[0] == '(') {
            dfl_diag_fix(ctx->sema->sink, d, (dfl_span){ at, at + 1 }, "[", DFL_FIX_SURE);
            break;
        }
    dfl_diag_fix(ctx->sema->sink, d, (dfl_span){ expr->span.end - 1, expr->span.end }, "]", DFL_FIX_SURE);
    return false;
}

/* The first name of a tensor without brackets in an expression; NULL if there is none. */
static const dfl_expr *find_bare_tensor(const dfl_workload_context *ctx, const dfl_expr *expr)
{
    const dfl_expr *found = NULL;
    const dfl_scope_entry *entry;

    if (expr == NULL)
        return NULL;
    if (expr->kind == DFL_EXPR_PATH && expr->path->n == 1) {
        entry = dfl_scope_find(ctx->scope, expr->path->head->sym);
        return entry != NULL && entry->kind == DFL_ENTRY_TENSOR ? expr : NULL;
    }
    if ((found = find_bare_tensor(ctx, expr->left)) != NULL || (found = find_bare_tensor(ctx, expr->right)) != NULL)
        return found;
    for (const dfl_expr *a = expr->args; a != NULL && found == NULL; a = a->next)
        found = find_bare_tensor(ctx, a);
    return found;
}

/* Whether a node reads one element, at a given or at a data-dependent position. */
static bool is_read(const dfl_eop *e) { return e->kind == DFL_EOP_ACCESS || e->kind == DFL_EOP_GATHER; }

bool dfl_workload_lower_right_side(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum)
{
    dfl_access first[DFL_SEMA_STACK_INPUTS], *inputs;
    rhs_builder rhs = { .ctx = ctx, .node = node, .einsum = einsum, .ok = true,
                        .inputs = { .at = first, .cap = DFL_SEMA_STACK_INPUTS } };
    dfl_einsum *ir = &einsum->ir;

    if (node->value == NULL || !check_calls(ctx, node->value))
        return false;
    if (!dfl_workload_reads(node->value)) {
        const dfl_expr *bare = find_bare_tensor(ctx, node->value);
        dfl_diag *d = dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, bare != NULL ? bare->span : node->value->span,
                                 "the right side reads no tensor");

        if (bare != NULL)
            dfl_diag_here(ctx->sema->sink, d, "a tensor without its indices");
        if (bare != NULL)
            dfl_diag_help(ctx->sema->sink, d, "an einsum reads elements: write the indices of each tensor, as in `%s[m, k]`",
                          dfl_sema_text(ctx->sema, bare->path->text));
        else
            dfl_diag_help(ctx->sema->sink, d, "an einsum computes its result from tensors; ranks of the left side must occur "
                          "on the right");
        return false;
    }
    ir->body = build_tree(&rhs, node->value);
    inputs = DFL_NEW_ARRAY(ctx->sema->arena, dfl_access, rhs.inputs.n);
    if (rhs.inputs.n > 0)
        memcpy(inputs, rhs.inputs.at, rhs.inputs.n * sizeof *inputs);
    ir->inputs = inputs;
    ir->n_inputs = (uint32_t)rhs.inputs.n;
    einsum->gathers = rhs.gathers.at;
    einsum->n_gathers = (uint32_t)rhs.gathers.n;
    ir->is_mac = ir->reduce == DFL_REDUCE_ADD && ir->body->kind == DFL_EOP_MUL && ir->over_rank == DFL_NONE &&
                is_read(ir->body->args[0]) && is_read(ir->body->args[1]);
    if (ir->reduce != DFL_REDUCE_NONE)
        count_flops(&rhs, &rhs.flops, 1);
    if (ir->over_rank != DFL_NONE && ir->reduce == DFL_REDUCE_NONE) {
        /* one point computes all elements along the rank */
        count_flops(&rhs, &rhs.per_output, rhs.flops);
        rhs.flops = 0;
    }
    ir->flops_per_point = ir->is_mac ? 0 : rhs.flops;
    ir->flops_per_output = rhs.per_output;
    if (rhs.overflow) {
        dfl_report(ctx->sema->sink, DFL_EVAL_OVERFLOW, node->value->span, "cost of a point is beyond 128 bits");
        rhs.ok = false;
    }
    return rhs.ok;
}
