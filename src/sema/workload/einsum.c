/* One einsum: its result, its ranks, its reduction, and the agreement of its two sides. */
#include "sema/workload/workload_internal.h"

#include <stdlib.h>
#include <string.h>

#include "support/limits.h"

/* The reduction that the assignment states: `=`, `+=`, `max=`, `min=`. False after reporting. */
static bool find_reduction(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_reduce *out)
{
    const char *name = dfl_sema_text(ctx->sema, node->more->assign_name.sym);
    dfl_diag *d;

    *out = node->assign == DFL_ASSIGN_ADD ? DFL_REDUCE_ADD : DFL_REDUCE_NONE;
    if (node->assign != DFL_ASSIGN_NAMED)
        return true;
    if (strcmp(name, "max") == 0)
        *out = DFL_REDUCE_MAX;
    else if (strcmp(name, "min") == 0)
        *out = DFL_REDUCE_MIN;
    else {
        d = dfl_report(ctx->sema->sink, DFL_OP_UNKNOWN, node->more->assign_name.span, "no reduction `%s=`", name);
        dfl_diag_help(ctx->sema->sink, d, "reductions are `+=`, `max=` and `min=`");
        return false;
    }
    return true;
}

/* Whether an `=` inside of `for` or `repeat` writes an existing tensor: an output or a state. */
static bool is_written_in_place(const dfl_draft_tensor *tensor)
{
    return tensor->has_role && (tensor->role == DFL_ROLE_OUTPUT || tensor->role == DFL_ROLE_STATE);
}

/* The tensor on the left side: an existing one, an argument of the enclosing `apply`, or a new one. DFL_NONE after
   reporting. */
static uint32_t find_result(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_reduce reduce)
{
    const dfl_ast_node *t = node->more->target;
    const dfl_scope_entry *here = t->path->n == 1 ? dfl_scope_find_here(ctx->scope, t->path->head->sym) : NULL;
    const dfl_scope_entry *entry = t->path->n == 1 ? dfl_scope_find(ctx->scope, t->path->head->sym) : NULL;
    uint32_t id = dfl_workload_find_tensor(ctx, t->path);
    dfl_tensor_argument *given =
        ctx->arguments != NULL && t->path->n == 1 ? dfl_symmap_get(ctx->arguments, t->path->head->sym) : NULL;

    if (t->path->n > 1 && id == DFL_NONE) {
        dfl_workload_report_no_tensor(ctx, t->path);
        return DFL_NONE;
    }
    /* In a `for` or `repeat`, `=` makes a new tensor, even if a tensor outside has the name. */
    if (id != DFL_NONE && here == NULL && ctx->local && t->path->n == 1 && reduce == DFL_REDUCE_NONE &&
        !is_written_in_place(&ctx->draft->tensors.at[id]))
        id = DFL_NONE;
    else if (id == DFL_NONE && entry != NULL && entry == here) {
        dfl_diag *d = dfl_report(ctx->sema->sink, DFL_NAME_WRONG_KIND, t->path->span, "`%s` is not a tensor",
                                 dfl_sema_text(ctx->sema, t->path->text));

        dfl_diag_label(ctx->sema->sink, d, entry->span, "declared here");
        return DFL_NONE;
    }
    if (id == DFL_NONE && given != NULL) {
        dfl_scope_entry *name = dfl_scope_declare(ctx->sema, ctx->scope, t->path->head->sym, t->path->span, DFL_ENTRY_TENSOR);

        given->used = true;
        return name->id = given->tensor;
    }
    if (id == DFL_NONE && dfl_workload_add_tensor(ctx, t->path, true, t->n_args, &id) == NULL)
        return DFL_NONE;
    return id;
}

/* Copies the role and data type that the left side states to the tensor. False after reporting a contradiction. */
static bool describe_result(dfl_workload_context *ctx, const dfl_ast_node *node, uint32_t id)
{
    static const dfl_role roles[] = {
        [DFL_AST_NO_ROLE] = DFL_ROLE_INTERMEDIATE, [DFL_AST_INPUT] = DFL_ROLE_INPUT, [DFL_AST_WEIGHT] = DFL_ROLE_WEIGHT,
        [DFL_AST_OUTPUT] = DFL_ROLE_OUTPUT,        [DFL_AST_STATE] = DFL_ROLE_STATE,
    };
    dfl_draft_tensor *tensor = &ctx->draft->tensors.at[id];
    dfl_dtype type;
    dfl_diag *d;

    if (node->role != DFL_AST_NO_ROLE && tensor->has_role && tensor->role != roles[node->role]) {
        dfl_scope_report_twice(ctx->sema, node->more->target->path->span, tensor->span, "declared",
                               dfl_sema_text(ctx->sema, tensor->name));
        return false;
    }
    if (node->role != DFL_AST_NO_ROLE) {
        tensor->has_role = true;
        tensor->role = roles[node->role];
    }
    if (!dfl_workload_resolve_type(ctx, node->more->target->more->type, &type))
        return false;
    if (type.name == 0)
        return true;
    if (tensor->type_span.start != 0 && tensor->type.name != type.name) {
        d = dfl_report(ctx->sema->sink, DFL_TENSOR_TYPE_CONFLICT, node->more->target->more->type->span, "`%s` is %s elsewhere",
                       dfl_sema_text(ctx->sema, tensor->name), dfl_sema_text(ctx->sema, tensor->type.name));
        dfl_diag_label(ctx->sema->sink, d, tensor->type_span, "stated here");
        return false;
    }
    tensor->type = type;
    tensor->type_span = node->more->target->more->type->span;
    return true;
}

/* ---- ranks ---------------------------------------------------------------------------------------------------- */

/* Order of numbers, for qsort. */
static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Whether a rank is that of an enclosing `repeat`. */
static bool is_repeat(const dfl_workload_context *ctx, uint32_t rank)
{
    for (uint32_t i = 0; i < ctx->n_repeats; i++)
        if (ctx->repeats[i] == rank)
            return true;
    return false;
}

/* Reports a rank over which an `=` would reduce. */
static void report_reduced(dfl_workload_context *ctx, const dfl_ast_node *node, const dfl_access *access, uint32_t dim,
                           uint32_t rank)
{
    const char *name = dfl_sema_text(ctx->sema, ctx->draft->ranks.at[rank].name);
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_RANK_REDUCED_UNDER_DEFINE, node->more->assign_span,
                             "`=` defines each element once, but `%s` is only on the right", name);

    dfl_diag_label(ctx->sema->sink, d, access->index[dim].span, "`%s` would be reduced over", name);
    dfl_diag_fix(ctx->sema->sink, d, node->more->assign_span, "+=", DFL_FIX_MAYBE);
    ctx->draft->broken = true;
}

/* Reports a rank of the result that no input has. */
static void report_left_only(dfl_workload_context *ctx, const dfl_access *left, uint32_t dim, uint32_t rank)
{
    const char *name = dfl_sema_text(ctx->sema, ctx->draft->ranks.at[rank].name);
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_RANK_ONLY_ON_LEFT, left->index[dim].span,
                             "rank `%s` is only on the left", name);

    dfl_diag_help(ctx->sema->sink, d, "every element along `%s` would be the same; leave the rank out, or use it on the right",
                  name);
    ctx->draft->broken = true;
}

/* Callback for each rank in the indices of an access. */
typedef void each_rank(dfl_workload_context *ctx, const dfl_access *access, uint32_t dim, uint32_t rank, void *context);

/* The ranks of an einsum, collected from both sides. */
typedef struct {
    const dfl_ast_node *node;  /* node of the einsum */
    dfl_draft_einsum *einsum;
    uint32_t mark;             /* stamp of the einsum: 1 + the index of the einsum */
    DFL_VEC(uint32_t) ranks;   /* distinct ranks that the einsum iterates */
    bool reported;             /* a disagreement of the two sides has been reported; only one report per einsum */
} rank_sides;

/* Calls `visit` for every term of every index. */
static void visit_ranks(dfl_workload_context *ctx, const dfl_access *access, each_rank *visit, rank_sides *sides)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t i = 0; i < access->index[d].n_terms; i++)
            visit(ctx, access, d, access->index[d].terms[i].rank, sides);
}

/* Whether a condition of `where` has the rank. A condition counts as a use: it may select one element along the rank. */
static bool is_limited(const dfl_draft_einsum *einsum, uint32_t rank)
{
    for (uint32_t c = 0; c < einsum->ir.n_where; c++)
        for (uint32_t t = 0; t < einsum->ir.where[c].sum.n_terms; t++)
            if (einsum->ir.where[c].sum.terms[t].rank == rank)
                return true;
    return false;
}

/* Callback for a rank of the result. */
static void visit_left(dfl_workload_context *ctx, const dfl_access *access, uint32_t dim, uint32_t rank, void *context)
{
    rank_sides *sides = context;
    dfl_draft_rank *r = &ctx->draft->ranks.at[rank];

    r->used = true;
    if (r->left == sides->mark)
        return;
    r->left = sides->mark;
    DFL_PUSH(ctx->sema->arena, &sides->ranks, rank);
    if (r->right != sides->mark && r->table != sides->mark && !is_repeat(ctx, rank) && !is_limited(sides->einsum, rank) &&
        !sides->reported) {
        report_left_only(ctx, access, dim, rank);
        sides->reported = true;
    }
}

/* Callback for a rank of an input. */
static void visit_right(dfl_workload_context *ctx, const dfl_access *access, uint32_t dim, uint32_t rank, void *context)
{
    rank_sides *sides = context;
    dfl_draft_rank *r = &ctx->draft->ranks.at[rank];

    /* Here, a rank whose stamp `left` is set is already listed. A rank that occurs only in a gathered table is not
       iterated: the data select its position. */
    if (r->left == sides->mark || r->right != sides->mark)
        return;
    r->left = sides->mark;
    DFL_PUSH(ctx->sema->arena, &sides->ranks, rank);
    if (sides->einsum->ir.reduce == DFL_REDUCE_NONE && rank != sides->einsum->ir.over_rank && !sides->reported) {
        report_reduced(ctx, sides->node, access, dim, rank);
        sides->reported = true;
    }
}

/* Lists the ranks that the einsum iterates, ascending, and checks that the two sides agree. */
static void collect_ranks(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum)
{
    uint32_t first[DFL_SEMA_STACK_RANKS], *ranks;
    rank_sides sides = { .node = node, .einsum = einsum, .mark = (uint32_t)ctx->draft->einsums.n + 1,
                         .ranks = { .at = first, .cap = DFL_SEMA_STACK_RANKS } };

    visit_ranks(ctx, &einsum->ir.output, visit_left, &sides);
    for (uint32_t i = 0; i < einsum->ir.n_inputs; i++)
        visit_ranks(ctx, &einsum->ir.inputs[i], visit_right, &sides);
    if (sides.ranks.n > 1)
        qsort(sides.ranks.at, sides.ranks.n, sizeof *sides.ranks.at, compare_ids);
    ranks = DFL_NEW_ARRAY(ctx->sema->arena, uint32_t, sides.ranks.n);
    if (sides.ranks.n > 0)
        memcpy(ranks, sides.ranks.at, sides.ranks.n * sizeof *ranks);
    einsum->ir.ranks = ranks;
    einsum->ir.n_ranks = (uint32_t)sides.ranks.n;
}

/* Reports a condition on a rank that the einsum does not iterate. */
static void check_where(dfl_workload_context *ctx, const dfl_draft_einsum *einsum)
{
    for (uint32_t i = 0; i < einsum->ir.n_where; i++)
        for (uint32_t k = 0; k < einsum->ir.where[i].sum.n_terms; k++) {
            uint32_t rank = einsum->ir.where[i].sum.terms[k].rank;

            if (ctx->draft->ranks.at[rank].left == (uint32_t)ctx->draft->einsums.n + 1)
                continue;
            dfl_report(ctx->sema->sink, DFL_RANK_UNKNOWN, einsum->ir.where[i].sum.span,
                       "the condition is about `%s`, which the einsum does not iterate",
                       dfl_sema_text(ctx->sema, ctx->draft->ranks.at[rank].name));
            ctx->draft->broken = true;
            return;
        }
}

/* The rank after `over`, or DFL_NONE. False after reporting. */
static bool find_over(dfl_workload_context *ctx, const dfl_ast_node *node, uint32_t *rank)
{
    const dfl_scope_entry *entry;

    *rank = DFL_NONE;
    if (node->more->over.sym == 0)
        return true;
    entry = dfl_scope_find(ctx->scope, node->more->over.sym);
    if (entry != NULL && entry->kind == DFL_ENTRY_RANK) {
        *rank = entry->id;
        return true;
    }
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_RANK_UNKNOWN, node->more->over.span, "no rank `%s` in workload `%s`",
                             dfl_sema_text(ctx->sema, node->more->over.sym), dfl_sema_text(ctx->sema, ctx->draft->name));
    dfl_sym near = dfl_scope_suggest(ctx->sema, ctx->scope, node->more->over.sym, DFL_ENTRY_RANK);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, node->more->over.span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
    return false;
}

void dfl_workload_elaborate_einsum(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_draft_einsum einsum = { .ir = { .span = node->more->target->path->span, .of = DFL_NONE }, .instance = ctx->instance };
    uint32_t tensor;
    bool ok;

    /* The right side is lowered first: a new name on both sides is read before it is produced. */
    ok = find_reduction(ctx, node, &einsum.ir.reduce) && find_over(ctx, node, &einsum.ir.over_rank);
    ok = ok && dfl_workload_lower_right_side(ctx, node, &einsum);
    tensor = find_result(ctx, node, einsum.ir.reduce);
    ok = ok && tensor != DFL_NONE;
    if (tensor != DFL_NONE) {
        const dfl_ast_node *target = node->more->target;

        ok = describe_result(ctx, node, tensor) && ok;
        ok = dfl_workload_lower_access(ctx, target->args, target->n_args, target->span, tensor, &einsum.ir.output,
                                       &einsum.vague) && ok;
    }
    if (!ok) {
        ctx->draft->broken = true;
        if (tensor != DFL_NONE)
            ctx->draft->tensors.at[tensor].broken = true;
        return;
    }
    dfl_workload_lower_rows(ctx, node, &einsum);
    dfl_workload_lower_where(ctx, node, &einsum);
    collect_ranks(ctx, node, &einsum);
    check_where(ctx, &einsum);
    DFL_PUSH(ctx->sema->arena, &ctx->draft->einsums, einsum);
}
