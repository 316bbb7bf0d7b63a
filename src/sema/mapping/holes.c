/* Holes of a mapping: amounts that are left to a search, and decisions of plans over chips. */
#include "sema/mapping/mapping_internal.h"

#include <stdlib.h>

#include "sema/expr/sets.h"
#include "support/limits.h"

void dfl_mapping_note_hole(dfl_mapping_context *ctx, dfl_span span)
{
    if (!ctx->draft->has_holes)
        ctx->draft->hole_span = span;
    ctx->draft->has_holes = true;
}

uint32_t dfl_mapping_add_decision(dfl_mapping_context *ctx, dfl_decision decision)
{
    dfl_mapping_note_hole(ctx, decision.span);
    DFL_PUSH(ctx->draft->sema->arena, &ctx->draft->decisions, decision);
    return (uint32_t)ctx->draft->decisions.n;
}

/* Order of sizes, for qsort. */
static int compare_sizes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

const dfl_hole *dfl_mapping_lower_hole(dfl_mapping_context *ctx, const dfl_expr *expr, dfl_by by)
{
    dfl_hole *h = DFL_NEW(ctx->draft->sema->arena, dfl_hole);
    dfl_values values = { 0 };
    int64_t *choices;
    bool unknown;

    h->by = by;
    dfl_mapping_note_hole(ctx, expr->span);
    if (expr->left == NULL)
        return h;
    if (!dfl_eval_set(ctx->draft->sema, ctx->scope, expr->left, &values, &unknown)) {
        ctx->draft->broken |= !unknown;
    } else if (values.n == 0) {
        dfl_diag_help(ctx->draft->sema->sink, dfl_report(ctx->draft->sema->sink, DFL_EXPR_TYPE, expr->left->span,
                                                         "no size is in this range"),
                      "write the smaller size first: `a .. b` goes from a to b - 1");
        ctx->draft->broken = true;
    }
    choices = DFL_NEW_ARRAY(ctx->draft->sema->arena, int64_t, values.n + 1);
    for (size_t i = 0; i < values.n; i++) {
        const dfl_quantity *q = &values.at[i].quantity;

        if (values.at[i].kind != DFL_VALUE_QUANTITY)
            continue;
        if (!q->exact || !dfl_dim_is_none(q->dim) || q->integer < 1 || q->integer > DFL_SEMA_MAX_EXTENT) {
            dfl_diag *d = dfl_report(ctx->draft->sema->sink, DFL_EXPR_TYPE, expr->left->span, "a hole takes positive integers");
            dfl_diag_help(ctx->draft->sema->sink, d, "write tile sizes or numbers of parts, as in `{2, 4}`");
            ctx->draft->broken = true;
            return h;
        }
        choices[h->n_choices++] = (int64_t)q->integer;
    }
    qsort(choices, h->n_choices, sizeof *choices, compare_sizes);
    for (uint32_t i = 0, n = h->n_choices, last = h->n_choices = 0; i < n; i++)
        if (i == 0 || choices[i] != choices[last])
            choices[last = h->n_choices++] = choices[i];
    h->choices = choices;
    return h;
}
