/* Declarations of tensors: role, shape, data type. Names of tensors. */
#include "sema/workload/workload_internal.h"

#include <string.h>

#include "sema/expr/data_type.h"
#include "sema/expr/eval.h"
#include "sema/expr/members.h"
#include "support/limits.h"

dfl_sym dfl_workload_full_name(dfl_workload_context *ctx, dfl_sym name)
{
    if (ctx->prefix == 0 && ctx->family[0] == '\0')
        return name;
    return dfl_intern_z(ctx->sema->names,
                        dfl_arena_printf(ctx->sema->arena, "%s%s%s%s", dfl_sema_text(ctx->sema, ctx->prefix),
                                         ctx->prefix != 0 ? "." : "", dfl_sema_text(ctx->sema, name), ctx->family));
}

/* Reports a data type that does not exist. */
static void report_unknown_type(dfl_workload_context *ctx, const dfl_ast_ref *ref)
{
    const char *near = dfl_data_type_suggest(ctx->sema->names, dfl_sema_text(ctx->sema, ref->path->text));
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_TYPE_UNKNOWN, ref->span, "no data type `%s`",
                             dfl_sema_text(ctx->sema, ref->path->text));

    if (near != NULL)
        dfl_diag_fix(ctx->sema->sink, d, ref->path->span, near, DFL_FIX_MAYBE);
    else
        dfl_diag_help(ctx->sema->sink, d, "data types are i4 i8 i16 i32 u8 fp8 fp16 bf16 tf32 fp32 fp64 c64 c128 bits(n)");
}

bool dfl_workload_resolve_type(dfl_workload_context *ctx, const dfl_ast_ref *ref, dfl_dtype *out)
{
    const char *name = dfl_sema_text(ctx->sema, ref->path->text);
    int64_t bits;
    bool unknown;

    *out = (dfl_dtype){ 0 };
    if (ref->path->n == 0)
        return true;
    if (strcmp(name, "bits") == 0 && ref->n_args == 1) {
        if (!dfl_eval_int(ctx->sema, ctx->scope, ref->args, "a number of bits", 1, DFL_SEMA_MAX_TYPE_BITS, &bits, &unknown)) {
            ctx->draft->broken |= !unknown;
            ctx->draft->unsized |= unknown;
            return unknown;
        }
        out->bits = (uint32_t)bits;
        out->name = dfl_intern_z(ctx->sema->names, dfl_arena_printf(ctx->sema->arena, "bits(%u)", out->bits));
        return true;
    }
    out->bits = ref->has_args ? 0 : dfl_data_type_bits(name);
    out->name = ref->path->text;
    if (out->bits > 0)
        return true;
    report_unknown_type(ctx, ref);
    *out = (dfl_dtype){ 0 };
    ctx->draft->broken = true;
    return false;
}

dfl_draft_tensor *dfl_workload_add_tensor(dfl_workload_context *ctx, const dfl_ast_path *path, bool lead, uint32_t n_dims,
                                          uint32_t *id)
{
    dfl_draft_tensor tensor = { .span = path->span, .type = ctx->type, .n_dims = n_dims };
    dfl_scope_entry *entry;

    if (path->n > 1) {
        dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, path->span, "no tensor `%s`", dfl_sema_text(ctx->sema, path->text));
        ctx->draft->broken = true;
        return NULL;
    }
    entry = dfl_scope_declare(ctx->sema, ctx->scope, path->head->sym, path->span, DFL_ENTRY_TENSOR);
    if (entry == NULL) {
        ctx->draft->broken = true;
        return NULL;
    }
    tensor.name = dfl_workload_full_name(ctx, path->head->sym);
    if (lead) {
        tensor.lead = ctx->repeats;
        tensor.n_lead = ctx->n_repeats;
        tensor.n_dims += ctx->n_repeats;
    }
    tensor.extents = DFL_NEW_ARRAY(ctx->sema->arena, int64_t, tensor.n_dims);
    for (uint32_t i = 0; i < tensor.n_lead; i++)
        tensor.extents[i] = ctx->draft->ranks.at[tensor.lead[i]].extent;
    *id = entry->id = (uint32_t)ctx->draft->tensors.n;
    DFL_PUSH(ctx->sema->arena, &ctx->draft->tensors, tensor);
    return &ctx->draft->tensors.at[*id];
}

uint32_t dfl_workload_find_tensor(dfl_workload_context *ctx, const dfl_ast_path *path)
{
    const dfl_scope_entry *entry;
    const dfl_scope *scope = ctx->scope;

    path = dfl_path_resolve(ctx->sema, ctx->scope, path);
    if (path == NULL)
        return DFL_NONE;
    for (const dfl_ast_name *n = path->head; n <= dfl_path_last(path); n++) {
        entry = n == path->head ? dfl_scope_find(scope, n->sym) : dfl_scope_find_here(scope, n->sym);
        if (entry == NULL)
            return DFL_NONE;
        if (n == dfl_path_last(path))
            return entry->kind == DFL_ENTRY_TENSOR ? entry->id : DFL_NONE;
        if (entry->members == NULL)
            return DFL_NONE;
        scope = entry->members;
    }
    return DFL_NONE;
}

void dfl_workload_report_no_tensor(dfl_workload_context *ctx, const dfl_ast_path *path)
{
    const dfl_scope_entry *entry;
    dfl_scope *scope = ctx->scope;
    const dfl_ast_name *n;
    dfl_sym near;
    dfl_diag *d;

    ctx->draft->broken = true;
    path = dfl_path_resolve(ctx->sema, ctx->scope, path);
    if (ctx->draft->partial || path == NULL)
        return;
    n = path->head;
    for (; n < dfl_path_last(path); n++) {
        entry = dfl_scope_find(scope, n->sym);
        if (entry == NULL || entry->members == NULL)
            break;
        scope = entry->members;
    }
    d = dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, n->span, n == dfl_path_last(path) ? "no tensor `%s`" : "no instance `%s`",
                   dfl_sema_text(ctx->sema, n->sym));
    near = dfl_scope_suggest(ctx->sema, scope, n->sym, n == dfl_path_last(path) ? DFL_ENTRY_TENSOR : DFL_ENTRY_INSTANCE);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, n->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
}

/* The extent of one declared dimension, written as `y: H`, a rank, or a number. 0 = unknown, -1 after reporting. */
static int64_t eval_extent(dfl_workload_context *ctx, const dfl_expr *expr)
{
    const dfl_scope_entry *entry = expr->label.sym == 0 && expr->kind == DFL_EXPR_PATH && expr->path->n == 1
                               ? dfl_scope_find(ctx->scope, expr->path->head->sym) : NULL;
    int64_t extent;
    bool unknown;

    if (entry != NULL && entry->kind == DFL_ENTRY_RANK)
        ctx->draft->ranks.at[entry->id].used = true;
    if (entry != NULL && entry->kind == DFL_ENTRY_RANK)
        return ctx->draft->ranks.at[entry->id].silent ? -1 : ctx->draft->ranks.at[entry->id].extent;
    if (entry == NULL && expr->label.sym == 0 && expr->kind == DFL_EXPR_PATH && expr->path->n == 1) {
        bool broken;

        if (dfl_decl_find(ctx->sema, ctx->scope->module, expr->path, &broken) == NULL && !broken) {
            dfl_affine unused = { 0 };

            dfl_affine_add(ctx, expr, 1, &unused); /* called for its report of the unknown rank */
            return -1;
        }
    }
    if (dfl_eval_int(ctx->sema, ctx->scope, expr, "an extent", 1, DFL_SEMA_MAX_EXTENT, &extent, &unknown))
        return extent;
    return unknown ? 0 : -1;
}

/* If `apply` has set the declared tensor: records the declaration as a claim about the tensor that `apply` passes. */
static bool add_claim(dfl_workload_context *ctx, const dfl_ast_node *node, const int64_t *extents, uint32_t n, dfl_dtype type)
{
    dfl_sym name = node->path->head->sym;
    dfl_tensor_argument *given = ctx->arguments != NULL ? dfl_symmap_get(ctx->arguments, name) : NULL;
    dfl_scope_entry *entry;

    if (given == NULL)
        return false;
    entry = dfl_scope_declare(ctx->sema, ctx->scope, name, node->path->span, DFL_ENTRY_TENSOR);
    ctx->draft->broken |= entry == NULL;
    if (entry == NULL)
        return true;
    entry->id = given->tensor;
    given->used = true;
    DFL_PUSH(ctx->sema->arena, &ctx->draft->claims,
             ((dfl_shape_claim){ .tensor = given->tensor, .like = DFL_NONE, .formal = name, .span = given->span,
                                 .n_dims = n, .extents = extents, .type = type }));
    return true;
}

static const dfl_role roles[] = {
    [DFL_AST_NO_ROLE] = DFL_ROLE_INTERMEDIATE, [DFL_AST_INPUT] = DFL_ROLE_INPUT, [DFL_AST_WEIGHT] = DFL_ROLE_WEIGHT,
    [DFL_AST_OUTPUT] = DFL_ROLE_OUTPUT,        [DFL_AST_STATE] = DFL_ROLE_STATE,
};

/* Declares one tensor. */
static void declare_tensor(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_ast_role role)
{
    int64_t *extents = DFL_NEW_ARRAY(ctx->sema->arena, int64_t, node->n_args + 1);
    bool given, lead = role != DFL_AST_INPUT, bad = false;
    dfl_draft_tensor *made;
    dfl_dtype type;
    uint32_t n = 0, id;

    for (const dfl_expr *expr = node->args; expr != NULL; expr = expr->next, n++) {
        extents[n] = eval_extent(ctx, expr);
        bad |= extents[n] < 0;
        ctx->draft->unsized |= extents[n] == 0;
    }
    ctx->draft->broken |= bad;
    (void)dfl_workload_resolve_type(ctx, node->more->type, &type);
    if (type.name == 0)
        type = ctx->type;
    given = node->path->n == 1 && add_claim(ctx, node, extents, n, type);
    if (given)
        return;
    made = dfl_workload_add_tensor(ctx, node->path, lead, n, &id);
    if (made == NULL)
        return;
    made->declared = true;
    made->has_role = true;
    made->role = roles[role];
    made->type = type;
    made->type_span = node->more->type->span;
    made->broken = bad;
    for (uint32_t i = 0; i < n; i++)
        made->extents[made->n_lead + i] = bad && extents[i] < 0 ? 0 : extents[i];
}

void dfl_workload_elaborate_tensors(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    for (const dfl_ast_node *t = node->items; t != NULL && dfl_sema_within_budget(ctx->sema); t = t->next)
        declare_tensor(ctx, t, node->role);
}
