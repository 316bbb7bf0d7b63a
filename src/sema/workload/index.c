/* Indices and conditions, which are affine forms of ranks with constant coefficients; and accesses, which consist of
   indices. */
#include "sema/workload/workload_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/expr/eval.h"
#include "support/limits.h"

/* Whether an expression is the name of a rank. */
static bool is_rank(const dfl_workload_context *ctx, const dfl_expr *expr)
{
    const dfl_scope_entry *entry =
        expr->kind == DFL_EXPR_PATH && expr->path->n == 1 ? dfl_scope_find(ctx->scope, expr->path->head->sym) : NULL;

    return entry != NULL && entry->kind == DFL_ENTRY_RANK;
}

/* Whether a rank occurs in an expression. */
static bool has_rank(const dfl_workload_context *ctx, const dfl_expr *expr)
{
    if (expr == NULL)
        return false;
    if (is_rank(ctx, expr) || has_rank(ctx, expr->left) || has_rank(ctx, expr->right))
        return true;
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next)
        if (has_rank(ctx, a))
            return true;
    return false;
}

/* Reports an expression that is not affine. `why`: a description of the expression. */
static void report_not_affine(dfl_workload_context *ctx, const dfl_expr *expr, dfl_affine *out, const char *why)
{
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_INDEX_NOT_AFFINE, expr->span, "index is not affine");

    dfl_diag_here(ctx->sema->sink, d, "%s", why);
    dfl_diag_help(ctx->sema->sink, d, "an index is a sum of ranks with constant factors, like `2*p + r - 1`");
    out->bad = true;
}

/* Evaluates an integer constant. Returns false, with `*value` 0, if the value is bad or unknown, and records this in
   `out`. */
static bool eval_constant(dfl_workload_context *ctx, const dfl_expr *expr, dfl_affine *out, dfl_i128 *value)
{
    int64_t v;
    bool unknown;

    *value = 0;
    if (!dfl_eval_int(ctx->sema, ctx->scope, expr, "an index", INT64_MIN, INT64_MAX, &v, &unknown)) {
        out->vague |= unknown;
        out->bad |= !unknown;
        return false;
    }
    *value = v;
    return true;
}

/* Adds `scale` times a constant to the offset. */
static void add_constant(dfl_workload_context *ctx, const dfl_expr *expr, dfl_i128 scale, dfl_affine *out)
{
    dfl_i128 value, product;

    if (!eval_constant(ctx, expr, out, &value))
        return;
    if (dfl_mul(value, scale, &product) || dfl_add(out->offset, product, &out->offset)) {
        dfl_report(ctx->sema->sink, DFL_UNIT_OVERFLOW, expr->span, "index is out of range");
        out->bad = true;
    }
}

/* Adds `scale` times a rank to the terms. */
static void add_term(dfl_workload_context *ctx, const dfl_expr *expr, uint32_t rank, dfl_i128 scale, dfl_affine *out)
{
    if (scale > DFL_SEMA_MAX_COEFFICIENT || scale < -DFL_SEMA_MAX_COEFFICIENT) {
        dfl_report(ctx->sema->sink, DFL_UNIT_OVERFLOW, expr->span, "factor of an index is out of range");
        out->bad = true;
        return;
    }
    DFL_PUSH(ctx->sema->arena, &out->terms, ((dfl_term){ rank, (int64_t)scale }));
}

/* Reports a name that is neither a rank nor a constant. */
static void report_unknown_rank(dfl_workload_context *ctx, const dfl_expr *expr, dfl_affine *out)
{
    dfl_sym name = expr->path->head->sym, near;
    dfl_diag *d;

    out->bad = true;
    if (ctx->draft->partial)
        return;
    d = dfl_report(ctx->sema->sink, DFL_RANK_UNKNOWN, expr->span, "no rank `%s` in workload `%s`",
                   dfl_sema_text(ctx->sema, name), dfl_sema_text(ctx->sema, ctx->draft->name));
    near = dfl_scope_suggest(ctx->sema, ctx->scope, name, DFL_ENTRY_RANK);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, expr->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(ctx->sema->sink, d, "declare it: `rank %s = ...;`", dfl_sema_text(ctx->sema, name));
}

/* Adds `scale` times a rank or a named constant to an affine form. */
static void add_path(dfl_workload_context *ctx, const dfl_expr *expr, dfl_i128 scale, dfl_affine *out)
{
    const dfl_scope_entry *entry = expr->path->n == 1 ? dfl_scope_find(ctx->scope, expr->path->head->sym) : NULL;
    bool broken;

    if (entry != NULL && entry->kind == DFL_ENTRY_RANK) {
        add_term(ctx, expr, entry->id, scale, out);
        return;
    }
    if (entry == NULL && expr->path->n == 1 && dfl_decl_find(ctx->sema, ctx->scope->module, expr->path, &broken) == NULL &&
        !broken) {
        report_unknown_rank(ctx, expr, out);
        return;
    }
    add_constant(ctx, expr, scale, out);
}

/* Adds `scale` times a product to an affine form; one factor must be constant. */
static void add_product(dfl_workload_context *ctx, const dfl_expr *expr, dfl_i128 scale, dfl_affine *out)
{
    bool left = has_rank(ctx, expr->left), right = has_rank(ctx, expr->right);
    dfl_i128 factor;

    if (left && right) {
        report_not_affine(ctx, expr, out, "a product of ranks");
        return;
    }
    if (!eval_constant(ctx, left ? expr->right : expr->left, out, &factor)) {
        /* The terms of the index are kept, since they show which ranks the einsum iterates. */
        if (out->vague && !out->bad)
            dfl_affine_add(ctx, left ? expr->left : expr->right, scale, out);
        return;
    }
    if (dfl_mul(factor, scale, &factor)) {
        dfl_report(ctx->sema->sink, DFL_UNIT_OVERFLOW, expr->span, "factor of an index is out of range");
        out->bad = true;
        return;
    }
    dfl_affine_add(ctx, left ? expr->left : expr->right, factor, out);
}

void dfl_affine_add(dfl_workload_context *ctx, const dfl_expr *expr, dfl_i128 scale, dfl_affine *out)
{
    if (out->bad)
        return;
    switch ((int)expr->kind) {
    case DFL_EXPR_PATH:
        add_path(ctx, expr, scale, out);
        return;
    case DFL_EXPR_ADD:
        dfl_affine_add(ctx, expr->left, scale, out);
        dfl_affine_add(ctx, expr->right, scale, out);
        return;
    case DFL_EXPR_SUB:
        dfl_affine_add(ctx, expr->left, scale, out);
        dfl_affine_add(ctx, expr->right, -scale, out);
        return;
    case DFL_EXPR_NEG:
        dfl_affine_add(ctx, expr->left, -scale, out);
        return;
    case DFL_EXPR_MUL:
        add_product(ctx, expr, scale, out);
        return;
    default:
        break;
    }
    if (has_rank(ctx, expr)) {
        report_not_affine(ctx, expr, out, expr->kind == DFL_EXPR_DIV ? "a quotient of a rank" : "not a sum or a product");
        return;
    }
    add_constant(ctx, expr, scale, out);
}

/* Order of terms by rank, for qsort. */
static int compare_ranks(const void *a, const void *b)
{
    const dfl_term *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

bool dfl_affine_finish(dfl_workload_context *ctx, dfl_affine *affine, dfl_span span, dfl_index *out)
{
    uint32_t n = 0;

    *out = (dfl_index){ .span = span };
    if (affine->bad)
        return false;
    if (affine->terms.n > 1)
        qsort(affine->terms.at, affine->terms.n, sizeof *affine->terms.at, compare_ranks);
    for (size_t i = 0; i < affine->terms.n; i++) {
        dfl_term t = affine->terms.at[i];

        if (n > 0 && affine->terms.at[n - 1].rank == t.rank) {
            if (__builtin_add_overflow(affine->terms.at[n - 1].coef, t.coef, &affine->terms.at[n - 1].coef))
                affine->bad = true;
        } else {
            affine->terms.at[n++] = t;
        }
        if (affine->terms.at[n - 1].coef == 0)
            n--;
    }
    if (affine->bad || affine->offset > DFL_SEMA_MAX_OFFSET || affine->offset < -DFL_SEMA_MAX_OFFSET - 1) {
        dfl_report(ctx->sema->sink, DFL_UNIT_OVERFLOW, span, "index is out of range");
        affine->bad = true;
        return false;
    }
    if (n > 0) {
        dfl_term *terms = DFL_NEW_ARRAY(ctx->sema->arena, dfl_term, n);

        memcpy(terms, affine->terms.at, n * sizeof *terms);
        out->terms = terms;
    }
    out->n_terms = n;
    out->offset = (int64_t)affine->offset;
    return true;
}

/* ---- where ---------------------------------------------------------------------------------------------------- */

/* Adds the condition sign * (left - right) + offset >= 0. */
static void add_condition(dfl_workload_context *ctx, const dfl_expr *expr, int sign, int64_t offset, dfl_draft_einsum *einsum,
                          dfl_condition *out)
{
    dfl_affine affine = { .offset = offset };

    dfl_affine_add(ctx, expr->left, sign, &affine);
    dfl_affine_add(ctx, expr->right, -sign, &affine);
    einsum->vague |= affine.vague;
    if (dfl_affine_finish(ctx, &affine, expr->span, &out->sum))
        einsum->ir.n_where++;
    else
        ctx->draft->broken = true;
}

/* An upper bound on the number of conditions in an expression. */
static uint32_t count_conditions(const dfl_expr *expr)
{
    return expr->kind == DFL_EXPR_AND ? count_conditions(expr->left) + count_conditions(expr->right) : 2;
}

/* Adds the conditions of comparisons joined by `&&` to the array `room`. */
static void add_conditions(dfl_workload_context *ctx, const dfl_expr *expr, dfl_draft_einsum *einsum, dfl_condition *room)
{
    dfl_diag *d;

    switch ((int)expr->kind) {
    case DFL_EXPR_AND:
        add_conditions(ctx, expr->left, einsum, room);
        add_conditions(ctx, expr->right, einsum, room);
        return;
    case DFL_EXPR_LE:
        add_condition(ctx, expr, -1, 0, einsum, &room[einsum->ir.n_where]);
        return;
    case DFL_EXPR_LT:
        add_condition(ctx, expr, -1, -1, einsum, &room[einsum->ir.n_where]);
        return;
    case DFL_EXPR_GE:
        add_condition(ctx, expr, 1, 0, einsum, &room[einsum->ir.n_where]);
        return;
    case DFL_EXPR_GT:
        add_condition(ctx, expr, 1, -1, einsum, &room[einsum->ir.n_where]);
        return;
    case DFL_EXPR_EQ:
        add_condition(ctx, expr, 1, 0, einsum, &room[einsum->ir.n_where]);
        add_condition(ctx, expr, -1, 0, einsum, &room[einsum->ir.n_where]);
        return;
    default:
        break;
    }
    d = dfl_report(ctx->sema->sink, DFL_INDEX_NOT_AFFINE, expr->span, "condition is not an affine comparison");
    dfl_diag_help(ctx->sema->sink, d, "write a comparison of ranks, like `n <= m`, several joined by `&&` or commas");
    ctx->draft->broken = true;
}

void dfl_workload_lower_where(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum)
{
    uint32_t room = 0;
    dfl_condition *conditions;

    for (const dfl_expr *expr = node->more->where; expr != NULL; expr = expr->next)
        room += count_conditions(expr);
    if (room == 0)
        return;
    conditions = DFL_NEW_ARRAY(ctx->sema->arena, dfl_condition, room);
    for (const dfl_expr *expr = node->more->where; expr != NULL; expr = expr->next)
        add_conditions(ctx, expr, einsum, conditions);
    einsum->ir.where = conditions;
}

/* ---- reuse and load ------------------------------------------------------------------------------------------- */

/* The number of `reuse` or `load` between two limits; 0 if it is unknown, or after a report. */
static double lower_number(dfl_workload_context *ctx, const dfl_expr *expr, const char *word, double least, double most,
                           dfl_draft_einsum *einsum)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, expr);
    dfl_diag *d;

    einsum->vague |= v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_UNKNOWN || v.kind == DFL_VALUE_BAD) {
        ctx->draft->broken |= v.kind == DFL_VALUE_BAD;
        return 0;
    }
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_is_none(v.quantity.dim) && v.quantity.real >= least && v.quantity.real <= most)
        return v.quantity.real;
    d = dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, expr->span, "`%s` is %s", word,
                   isinf(most) ? "a number of at least 1, or `worst`" : "a share from 0 to 1");
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_is_none(v.quantity.dim))
        dfl_diag_here(ctx->sema->sink, d, "this is %g", v.quantity.real);
    dfl_diag_help(ctx->sema->sink, d, isinf(most) ? "state the points of the largest instance over the mean: `load 1.3`"
                                                  : "state the share of rows that was read before: `reuse 40%%`");
    ctx->draft->broken = true;
    return 0;
}

void dfl_workload_lower_rows(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum)
{
    const dfl_expr *reuse = node->more->reuse, *load = node->more->load, *first = reuse != NULL ? reuse : load;
    dfl_diag *d;

    if (first == NULL)
        return;
    if (einsum->n_gathers == 0) {
        d = dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, first->span, "`%s` of an einsum without a `gather`",
                       first == reuse ? "reuse" : "load");
        dfl_diag_help(ctx->sema->sink, d, "leave it out: it states how often the rows of a table are read");
        ctx->draft->broken = true;
        return;
    }
    einsum->ir.rows_span = first->span;
    einsum->ir.reuse = reuse != NULL ? lower_number(ctx, reuse, "reuse", 0, 1, einsum) : 0;
    if (load != NULL && load->kind == DFL_EXPR_PATH && strcmp(dfl_sema_text(ctx->sema, load->path->text), "worst") == 0)
        einsum->ir.load = INFINITY;
    else
        einsum->ir.load = load != NULL ? lower_number(ctx, load, "load", 1, INFINITY, einsum) : 0;
}

/* ---- accesses ------------------------------------------------------------------------------------------------- */

bool dfl_workload_lower_access(dfl_workload_context *ctx, const dfl_expr *dims, uint32_t n_dims,
                               dfl_span span, uint32_t tensor, dfl_access *out, bool *vague)
{
    const dfl_draft_tensor *t = &ctx->draft->tensors.at[tensor];
    dfl_index *index = DFL_NEW_ARRAY(ctx->sema->arena, dfl_index, n_dims + t->n_lead);
    uint32_t n = 0;
    bool ok = true;

    /* Sets the leading dimensions of an access. Inside its `repeat`, a tensor is read at the current iteration;
       outside, at the last iteration. */
    for (; n < t->n_lead; n++) {
        uint32_t rank = t->lead[n];
        int64_t extent = ctx->draft->ranks.at[rank].extent;

        index[n].span = span;
        if (n < ctx->n_repeats && ctx->repeats[n] == rank) {
            dfl_term *term = DFL_NEW(ctx->sema->arena, dfl_term);

            *term = (dfl_term){ rank, 1 };
            index[n].terms = term;
            index[n].n_terms = 1;
        } else {
            index[n].offset = extent > 0 ? extent - 1 : 0;
            *vague |= extent == 0;
        }
    }
    for (const dfl_expr *expr = dims; expr != NULL; expr = expr->next, n++) {
        dfl_term first[DFL_SEMA_STACK_TERMS];
        dfl_affine affine = { .terms = { .at = first, .cap = DFL_SEMA_STACK_TERMS } };

        if (expr->label.sym != 0) {
            dfl_diag *d = dfl_report(ctx->sema->sink, DFL_INDEX_NOT_AFFINE, expr->label.span, "an index has no `name:`");

            dfl_diag_help(ctx->sema->sink, d, "extents stand in declarations; here write the index alone");
            ok = false;
            continue;
        }
        dfl_affine_add(ctx, expr, 1, &affine);
        *vague |= affine.vague;
        ok = dfl_affine_finish(ctx, &affine, expr->span, &index[n]) && ok;
    }
    *out = (dfl_access){ .tensor = tensor, .n_dims = n_dims + t->n_lead, .index = index, .span = span };
    if (!ok)
        ctx->draft->broken = true;
    return ok;
}
