/* Lowering of the lines of a mapping: loops and keeps. */
#include "sema/mapping/mapping_internal.h"

#include <stdlib.h>

#include "sema/expr/eval.h"
#include "sema/expr/sets.h"
#include "support/limits.h"

void dfl_mapping_note_hole(dfl_mapping_context *ctx, dfl_span span)
{
    if (!ctx->draft->has_holes)
        ctx->draft->hole_span = span;
    ctx->draft->has_holes = true;
}

/* Adds a structural choice after the lines `above`. */
static void add_choice(dfl_mapping_context *ctx, const dfl_lines *above, dfl_line_choices *out, dfl_line_choice choice)
{
    dfl_mapping_note_hole(ctx, choice.span);
    ctx->draft->n_choices++;
    choice.at = (uint32_t)above->n;
    DFL_PUSH(ctx->draft->sema->arena, out, choice);
}

/* Order of sizes, for qsort. */
static int compare_sizes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Lowers a hole `?` or `? in {8, 16}`; its choices are sorted and distinct. Reports choices that are no sizes. */
static const dfl_hole *lower_hole(dfl_mapping_context *ctx, const dfl_expr *expr, dfl_by by)
{
    dfl_hole *h = DFL_NEW(ctx->draft->sema->arena, dfl_hole);
    dfl_values values = { 0 };
    int64_t *choices;
    bool unknown;

    h->by = by;
    dfl_mapping_note_hole(ctx, expr->span);
    if (expr->left == NULL)
        return h;
    if (!dfl_eval_set(ctx->draft->sema, ctx->scope, expr->left, &values, &unknown))
        ctx->draft->broken |= !unknown;
    choices = DFL_NEW_ARRAY(ctx->draft->sema->arena, int64_t, values.n + 1);
    for (size_t i = 0; i < values.n; i++) {
        const dfl_quantity *q = &values.at[i].quantity;

        if (values.at[i].kind != DFL_VALUE_QUANTITY)
            continue;
        if (!q->exact || !dfl_dim_is_none(q->dim) || q->integer < 1 || q->integer > DFL_SEMA_MAX_EXTENT) {
            dfl_report(ctx->draft->sema->sink, DFL_EXPR_TYPE, expr->left->span, "a hole takes positive integers");
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

/* Lowers one loop. Returns false if the loop's rank is unknown. */
static bool lower_loop(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_line_kind kind, dfl_line *out)
{
    bool unknown;

    *out = (dfl_line){ .kind = kind, .span = node->span, .amount_span = node->value != NULL ? node->value->span : node->span,
                       .by = node->split == DFL_SPLIT_PARTS ? DFL_BY_PARTS : DFL_BY_SIZE, .amount = 1,
                       .cyclic = node->cyclic, .axis = DFL_NONE, .tensor = DFL_NONE, .memory = DFL_NONE };
    out->rank = dfl_mapping_find_rank(ctx, node->path);
    if (node->value != NULL && node->value->kind == DFL_EXPR_HOLE) {
        out->hole = lower_hole(ctx, node->value, out->by);
        out->by = DFL_BY_HOLE;
    } else if (node->value != NULL && !dfl_eval_int(ctx->draft->sema, ctx->scope, node->value,
                                                    out->by == DFL_BY_PARTS ? "a number of parts" : "a tile", 1,
                                                    DFL_SEMA_MAX_EXTENT, &out->amount, &unknown)) {
        ctx->draft->broken |= !unknown;
        out->amount = 1;
    }
    return out->rank != DFL_NONE;
}

void dfl_mapping_lower_temporal(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    for (const dfl_ast_node *l = node->items; l != NULL; l = l->next) {
        dfl_line line;

        if (l->path->n == 0)
            add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_TEMPORAL, .span = l->span, .axis = DFL_NONE,
                                                  .memory = DFL_NONE, .online = node->online });
        if (l->path->n == 0 || !lower_loop(ctx, l, DFL_LINE_TEMPORAL, &line))
            continue;
        line.online = node->online;
        DFL_PUSH(ctx->draft->sema->arena, out, line);
    }
}

void dfl_mapping_lower_spatial(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    dfl_id_list only = { 0 };

    for (const dfl_ast_paths *path = node->paths; path != NULL; path = path->next)
        (void)dfl_mapping_add_head(ctx, path->path, &only);
    dfl_id_list_sort(&only);
    for (const dfl_ast_node *g = node->items; g != NULL; g = g->next) {
        uint32_t axis = dfl_mapping_find_axis(ctx, g->path);

        if (g->pipelined && ctx->draft->refused.start == 0)
            ctx->draft->refused = g->span;
        for (const dfl_ast_node *l = g->items; l != NULL; l = l->next) {
            dfl_line line;

            if (l->path->n == 0 && axis != DFL_NONE)
                add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_SPATIAL, .span = l->span, .axis = axis,
                                                      .memory = DFL_NONE });
            if (l->path->n == 0 || !lower_loop(ctx, l, DFL_LINE_SPATIAL, &line) || axis == DFL_NONE)
                continue;
            line.axis = axis;
            line.only = node->paths != NULL ? only.at : NULL;
            line.n_only = (uint32_t)only.n;
            DFL_PUSH(ctx->draft->sema->arena, out, line);
        }
    }
}

/* Adds the line of a keep. The keep of a table also keeps the rows that gathers read from the table. */
static void push_keep(dfl_mapping_context *ctx, dfl_line line, dfl_lines *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    uint32_t table = line.tensor;

    DFL_PUSH(ctx->draft->sema->arena, out, line);
    for (uint32_t t = 0; w != NULL && w->has_gathered && t < w->n_tensors; t++)
        if (w->tensors[t].gathered && w->tensors[t].table == table && t != table) {
            line.tensor = t;
            DFL_PUSH(ctx->draft->sema->arena, out, line);
        }
}

void dfl_mapping_lower_keep(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    static const dfl_keep_mode modes[] = {
        [DFL_KMODE_NONE] = DFL_KEEP_EXACT, [DFL_KMODE_FRESH] = DFL_KEEP_FRESH, [DFL_KMODE_WINDOW] = DFL_KEEP_WINDOW,
    };

    for (const dfl_ast_node *g = node->items; g != NULL; g = g->next) {
        uint32_t memory = dfl_mapping_find_memory(ctx, g->path);

        for (const dfl_ast_paths *t = g->paths; t != NULL; t = t->next) {
            dfl_line line = { .kind = DFL_LINE_KEEP, .span = t->path->span, .amount_span = t->path->span,
                              .rank = DFL_NONE, .axis = DFL_NONE, .memory = memory, .mode = modes[g->mode] };
            dfl_id_list tensors = { 0 };

            if (t->path->n == 0 && memory != DFL_NONE)
                add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_KEEP, .span = t->path->span, .axis = DFL_NONE,
                                                      .memory = memory, .mode = modes[g->mode] });
            if (t->path->n == 0)
                continue;
            dfl_mapping_add_tensors(ctx, t->path, &tensors);
            for (size_t i = 0; i < tensors.n && memory != DFL_NONE; i++) {
                line.tensor = tensors.at[i];
                push_keep(ctx, line, out);
            }
        }
    }
}
