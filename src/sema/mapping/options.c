/* Options of a mapping: `option contention = none;`, `option chunks = 4;`, `option bucket = 25MB;`, `option chip = search;`,
   `option exchanges = blocking;`, `option gradients = beside;`, and `option overlap = perfect;`, which a file may have, too. */
#include "sema/mapping/mapping_internal.h"

#include <string.h>

#include "sema/expr/eval.h"
#include "support/limits.h"

static const char *const option_names[DFL_N_OPTIONS] = {
    [DFL_OPTION_OVERLAP] = "overlap", [DFL_OPTION_CONTENTION] = "contention", [DFL_OPTION_CHUNKS] = "chunks",
    [DFL_OPTION_BUCKET] = "bucket",   [DFL_OPTION_CHIP] = "chip",             [DFL_OPTION_GROUPS] = "groups",
    [DFL_OPTION_EXCHANGES] = "exchanges", [DFL_OPTION_GRADIENTS] = "gradients", [DFL_OPTION_PIECES] = "pieces",
};

/* Whether the value of an option is its second word; false, too, after reporting that it is neither of both. */
static bool read_choice(dfl_mapping_context *ctx, const dfl_ast_node *node, const char *usual, const char *other)
{
    const dfl_expr *expr = node->value;
    const char *word = expr->kind == DFL_EXPR_PATH ? dfl_sema_text(ctx->draft->sema, expr->path->text) : "";

    if (strcmp(word, other) == 0)
        return true;
    if (strcmp(word, usual) != 0) {
        dfl_diag *d = dfl_report(ctx->draft->sema->sink, DFL_EXPR_TYPE, expr->span, "option `%s` expects `%s` or `%s`",
                                 dfl_sema_text(ctx->draft->sema, node->name.sym), usual, other);

        dfl_diag_fix(ctx->draft->sema->sink, d, expr->span, other, DFL_FIX_MAYBE);
        ctx->draft->broken = true;
    }
    return false;
}

/* Reads the size of a gradient bucket, an amount of data > 0. */
static void read_bucket(dfl_mapping_context *ctx, const dfl_expr *expr)
{
    dfl_value v = dfl_eval(ctx->draft->sema, ctx->scope, expr);

    ctx->draft->broken |= v.kind == DFL_VALUE_BAD;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return;
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_DATA)) && v.quantity.exact &&
        v.quantity.integer > 0) {
        ctx->draft->options.bucket_bits = v.quantity.integer;
        return;
    }
    dfl_diag_help(ctx->draft->sema->sink,
                  dfl_report(ctx->draft->sema->sink, DFL_UNIT_DIMENSION, expr->span, "option `bucket` expects an amount of data"),
                  "write a value like `25MB`");
    ctx->draft->broken = true;
}

/* Reports a name that is no option. */
static void report_unknown(dfl_mapping_context *ctx, const dfl_ast_node *node)
{
    dfl_sema *sema = ctx->draft->sema;
    const char *name = dfl_sema_text(sema, node->name.sym);
    dfl_diag *d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, node->name.span, "no option `%s`", name);
    dfl_sym known[DFL_N_OPTIONS], near;

    for (unsigned i = 0; i < DFL_N_OPTIONS; i++)
        known[i] = dfl_intern_z(sema->names, option_names[i]);
    near = dfl_suggest(sema->names, name, known, DFL_N_OPTIONS);
    if (near != 0)
        dfl_diag_fix(sema->sink, d, node->name.span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(sema->sink, d, "the options are `overlap = perfect`, and for plans over chips `contention`, `chunks`, "
                      "`bucket`, `chip`, `groups`, `pieces`, `exchanges` and `gradients`");
    ctx->draft->broken = true;
}

/* Reads a number of at least 1. */
static void read_count(dfl_mapping_context *ctx, const dfl_ast_node *node, const char *what, uint32_t *out)
{
    int64_t count;
    bool unknown = false;

    if (dfl_eval_int(ctx->draft->sema, ctx->scope, node->value, what, 1, DFL_SEMA_MAX_COUNT, &count, &unknown))
        *out = (uint32_t)count;
    else
        ctx->draft->broken |= !unknown;
}

void dfl_mapping_take_option(dfl_mapping_context *ctx, const dfl_ast_node *node)
{
    dfl_mapping_draft *draft = ctx->draft;
    const char *name = dfl_sema_text(draft->sema, node->name.sym);
    unsigned i = 0;

    while (i < DFL_N_OPTIONS && strcmp(name, option_names[i]) != 0)
        i++;
    if (i == DFL_N_OPTIONS || node->value == NULL) {
        report_unknown(ctx, node);
        return;
    }
    if (i == DFL_OPTION_OVERLAP) {
        if (dfl_module_take_option(draft->sema, node, &ctx->options[i]))
            draft->options.overlap_perfect = true;
        else
            draft->broken = true;
        return;
    }
    if (ctx->options[i].end != 0) {
        dfl_scope_report_twice(draft->sema, node->name.span, ctx->options[i], "given", name);
        draft->broken = true;
        return;
    }
    ctx->options[i] = node->name.span;
    draft->plan_option = node->name;
    switch ((dfl_mapping_option)i) {
    case DFL_OPTION_CONTENTION:
        draft->options.contention_none = read_choice(ctx, node, "shared", "none");
        return;
    case DFL_OPTION_CHUNKS:
        read_count(ctx, node, "the number of chunks", &draft->options.chunks);
        return;
    case DFL_OPTION_PIECES:
        read_count(ctx, node, "the number of pieces", &draft->options.pieces);
        return;
    case DFL_OPTION_GROUPS:
        read_count(ctx, node, "the number of groups", &draft->options.groups);
        return;
    case DFL_OPTION_BUCKET:
        read_bucket(ctx, node->value);
        return;
    case DFL_OPTION_CHIP:
        draft->options.chip_search = read_choice(ctx, node, "roofline", "search");
        return;
    case DFL_OPTION_EXCHANGES:
        draft->options.exchanges_block = read_choice(ctx, node, "overlapped", "blocking");
        return;
    case DFL_OPTION_GRADIENTS:
        draft->options.gradients_behind = read_choice(ctx, node, "beside", "behind");
        draft->options.gradients_beside = !draft->options.gradients_behind;
        return;
    case DFL_OPTION_OVERLAP:
    case DFL_N_OPTIONS:
        return;
    }
}
