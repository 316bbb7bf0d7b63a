/* Attributes of parts: evaluation of their values, and overrides by `use` and by derived systems. */
#include "sema/system/system_internal.h"

#include <string.h>

#include "lint/bit_byte.h"
#include "sema/expr/eval.h"
#include "sema/names/lookup.h"

/* The text of a symbol. */
static const char *text(const dfl_system_context *ctx, dfl_sym sym)
{
    return dfl_sema_text(ctx->sema, sym);
}

/* Reads a word and its arguments; false if the expression is no word. Reports arguments that are no names. */
static bool read_word(dfl_system_context *ctx, const dfl_expr *expr, dfl_attribute_value *out)
{
    uint32_t n = 0;
    dfl_sym *args;
    dfl_span *spans;

    if (expr->kind != DFL_EXPR_PATH && expr->kind != DFL_EXPR_CALL)
        return false;
    out->kind = DFL_ATTRIBUTE_WORD;
    out->word = expr->path->text;
    if (expr->kind == DFL_EXPR_PATH)
        return true;
    args = DFL_NEW_ARRAY(ctx->sema->arena, dfl_sym, expr->n_args);
    spans = DFL_NEW_ARRAY(ctx->sema->arena, dfl_span, expr->n_args);
    for (const dfl_expr *a = expr->args; a != NULL; a = a->next, n++) {
        args[n] = a->kind == DFL_EXPR_PATH ? a->path->text : 0;
        spans[n] = a->span;
        if (args[n] == 0) {
            dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, a->span, "expected the name of a role or tensor");
            ctx->draft->broken = true;
            return true;
        }
    }
    out->args = args;
    out->arg_spans = spans;
    out->n_args = n;
    return true;
}

/* Whether an expression is the word `word`. */
static bool is_word(const dfl_system_context *ctx, const dfl_expr *expr, const char *word)
{
    return expr->kind == DFL_EXPR_PATH && expr->path->n == 1 && strcmp(text(ctx, expr->path->text), word) == 0;
}

/* Evaluates one value in the way that the row of its attribute states. False after reporting. */
static bool eval_value(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *expr, dfl_attribute_value *out)
{
    dfl_value v;

    *out = (dfl_attribute_value){ .kind = DFL_ATTRIBUTE_UNKNOWN, .span = expr->span };
    if (row->takes == DFL_TAKES_EFFICIENCY)
        return dfl_system_read_efficiency(ctx, row, expr, out);
    if ((row->takes >= DFL_TAKES_TENSORS || row->takes == DFL_TAKES_WORD || row->takes == DFL_TAKES_AXIS) &&
        read_word(ctx, expr, out))
        return true;
    if (row->takes == DFL_TAKES_SIZE && is_word(ctx, expr, "unlimited"))
        return read_word(ctx, expr, out);
    v = dfl_eval(ctx->sema, ctx->scope, expr);
    switch (v.kind) {
    case DFL_VALUE_BAD:
        ctx->draft->broken = true;
        return false;
    case DFL_VALUE_UNKNOWN:
        return true;
    case DFL_VALUE_QUANTITY:
        out->kind = DFL_ATTRIBUTE_QUANTITY;
        out->quantity = v.quantity;
        return true;
    case DFL_VALUE_STRING:
        out->kind = DFL_ATTRIBUTE_STRING;
        out->word = v.text;
        return true;
    case DFL_VALUE_BOOL:
        break;
    }
    dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, expr->span, "expected a value, found a condition");
    ctx->draft->broken = true;
    return false;
}

/* The name of an attribute as paths write it: "read.bandwidth" for `bandwidth` in the braces of the group `read`. An attribute
   outside of all groups (`group` is 0) keeps its name. */
static dfl_sym join_names(dfl_system_context *ctx, dfl_sym group, dfl_sym name)
{
    if (group == 0)
        return name;
    return dfl_intern_z(ctx->sema->names, dfl_arena_printf(ctx->sema->arena, "%s.%s", text(ctx, group), text(ctx, name)));
}

/* Evaluates the values of an attribute and adds the attribute to a part. `key`, `sub`: free names after the dot, or
   0. */
static void set_row(dfl_system_context *ctx, uint32_t part, int row, dfl_sym key, dfl_sym sub, dfl_span span,
                    const dfl_expr *values, uint32_t layer)
{
    dfl_draft_attribute attr = {
        .row = row, .name = dfl_attribute_at(row)->name, .keys = { key, sub }, .span = span, .layer = layer
    };
    dfl_attribute_value *at;
    uint32_t n = 0;
    bool ok = true;

    for (const dfl_expr *expr = values; expr != NULL; expr = expr->next)
        n++;
    at = DFL_NEW_ARRAY(ctx->sema->arena, dfl_attribute_value, n);
    n = 0;
    for (const dfl_expr *expr = values; expr != NULL; expr = expr->next) {
        ok = eval_value(ctx, dfl_attribute_at(row), expr, &at[n++]) && ok;
        if (ctx->draft->parts.at[part].kind == DFL_PART_MEMORY && dfl_system_draft_lints(ctx->draft, expr->span))
            dfl_lint_bit_byte(ctx->sema->sink, ctx->draft->lints, expr, dfl_attribute_at(row)->name,
                              &dfl_attribute_at(row)->dim);
    }
    if (!ok) {
        ctx->draft->parts.at[part].silent = true;
        return;
    }
    attr.values = at;
    attr.n_values = n;
    dfl_system_put_attribute(ctx->draft, part, attr);
}

void dfl_system_set_attribute(dfl_system_context *ctx, uint32_t part, dfl_ast_name group, dfl_ast_name name,
                              const dfl_expr *values, uint32_t layer)
{
    dfl_part_kind kind = ctx->draft->parts.at[part].kind;
    const char *full = text(ctx, join_names(ctx, group.sym, name.sym));
    int row = dfl_attribute_find(full, kind);

    if (name.sym == 0)
        return;
    if (row < 0) {
        dfl_attribute_report_unknown(ctx->draft, full, kind, group.sym != 0 ? dfl_span_join(group.span, name.span) : name.span);
        ctx->draft->parts.at[part].silent = true; /* the unknown attribute may be a misspelt required one */
        return;
    }
    set_row(ctx, part, row, dfl_attribute_has_key(row) ? name.sym : 0, 0, name.span, values, layer);
}

/* Evaluates the inner braces of a group: `rate { mac { bf16 = ...; } }`. */
static void set_deep(dfl_system_context *ctx, uint32_t part, dfl_ast_name group, const dfl_ast_node *node)
{
    dfl_part_kind kind = ctx->draft->parts.at[part].kind;
    int row = dfl_attribute_find(text(ctx, join_names(ctx, group.sym, node->name.sym)), kind);

    for (const dfl_ast_node *a = node->body; a != NULL; a = a->next) {
        if (a->kind != DFL_AST_ATTR || row < 0) {
            dfl_sym full = join_names(ctx, join_names(ctx, group.sym, node->name.sym), a->name.sym);

            dfl_attribute_report_unknown(ctx->draft, text(ctx, full), kind, a->name.span);
            continue;
        }
        set_row(ctx, part, row, node->name.sym, a->name.sym, a->name.span, a->args, 0);
    }
}

/* Evaluates the attributes of a group: `read { energy = ...; }`. */
static void set_group(dfl_system_context *ctx, uint32_t part, const dfl_ast_node *node)
{
    dfl_part_kind kind = ctx->draft->parts.at[part].kind;

    if (!dfl_attribute_has_group(text(ctx, node->name.sym), kind)) {
        dfl_attribute_report_unknown(ctx->draft, text(ctx, node->name.sym), kind, node->name.span);
        return;
    }
    for (const dfl_ast_node *a = node->body; a != NULL; a = a->next) {
        if (a->kind == DFL_AST_ATTR)
            dfl_system_set_attribute(ctx, part, node->name, a->name, a->args, 0);
        else if (a->kind == DFL_AST_ATTRS)
            set_deep(ctx, part, node->name, a);
    }
}

void dfl_system_set_attributes(dfl_system_context *ctx, uint32_t part, const dfl_ast_node *items)
{
    const dfl_ast_name none = { 0 };

    for (const dfl_ast_node *node = items; node != NULL; node = node->next) {
        if (node->kind == DFL_AST_ATTR)
            dfl_system_set_attribute(ctx, part, none, node->name, node->args, 0);
        else if (node->kind == DFL_AST_ATTRS)
            set_group(ctx, part, node);
    }
}

/* Kinds of parts that an override may name, in order of precedence. */
static const dfl_part_kind overridable[] = { DFL_PART_MEMORY, DFL_PART_COMPUTE, DFL_PART_NETWORK, DFL_PART_ELEMENT };
enum { N_OVERRIDABLE = sizeof overridable / sizeof overridable[0] };

/* The parts that overrides may name, by index into `overridable`. */
typedef struct {
    dfl_lookup by_kind[N_OVERRIDABLE];
} override_targets;

/* Collects the named parts from index `first` on. */
static override_targets list_targets(dfl_system_context *ctx, uint32_t first)
{
    override_targets targets;

    for (int k = 0; k < N_OVERRIDABLE; k++)
        dfl_lookup_init(&targets.by_kind[k], ctx->sema->arena, ctx->sema->names);
    for (uint32_t i = first; i < ctx->draft->parts.n; i++)
        for (int k = 0; k < N_OVERRIDABLE; k++)
            if (ctx->draft->parts.at[i].kind == overridable[k] && ctx->draft->parts.at[i].name != 0)
                dfl_lookup_add(&targets.by_kind[k], ctx->draft->parts.at[i].name, i);
    return targets;
}

/* The first `n` names of a path, joined by dots; 0 for n = 0. `*rest` is set to the next name. */
static dfl_sym join_first(dfl_system_context *ctx, const dfl_ast_path *path, uint32_t n, const dfl_ast_name **rest)
{
    dfl_sym joined = 0;
    const dfl_ast_name *at = path->head;

    for (; n > 0; n--, at++)
        joined = join_names(ctx, joined, at->sym);
    *rest = at;
    return joined;
}

/* Reports an override that names no part. */
static void report_no_part(dfl_system_context *ctx, const dfl_ast_path *path, override_targets *targets)
{
    const dfl_ast_name *rest;
    dfl_sym name = join_first(ctx, path, path->n > 1 ? path->n - 1 : 1, &rest), near = 0;
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, path->head->span, "no part `%s` to override",
                             text(ctx, name));

    for (int k = 0; k < N_OVERRIDABLE && near == 0 && !dfl_sink_drops(ctx->sema->sink); k++)
        near = dfl_lookup_suggest(&targets->by_kind[k], name);
    if (near != 0)
        dfl_diag_help(ctx->sema->sink, d, "did you mean `%s`?", text(ctx, near));
    ctx->draft->broken = true;
}

/*
 * The part with the first `n` names of a path, if its kind has the attribute with the other names (`*attr`); else
 * DFL_NONE. For n = 0 the part is `root`. `*some` is set to a part with the name, even if its kind does not have the
 * attribute.
 */
static uint32_t find_part(dfl_system_context *ctx, override_targets *targets, const dfl_ast_path *path, uint32_t n, uint32_t root,
                          dfl_sym *attr, uint32_t *some)
{
    const dfl_ast_name *rest;
    dfl_sym part = join_first(ctx, path, n, &rest);
    uint32_t found = DFL_NONE;

    *attr = 0;
    for (; rest < path->head + path->n; rest++)
        *attr = join_names(ctx, *attr, rest->sym);
    if (n == 0 && path->n > 1)
        return DFL_NONE;
    if (n == 0) {
        *some = root;
        return dfl_attribute_find(text(ctx, *attr), DFL_PART_ELEMENT) >= 0 ? root : DFL_NONE;
    }
    for (int k = 0; k < N_OVERRIDABLE; k++) {
        const dfl_lookup_match *match = dfl_lookup_find(&targets->by_kind[k], part);

        if (match == NULL)
            continue;
        if (match->ambiguous) {
            dfl_diag *d = dfl_report(ctx->sema->sink, DFL_NAME_AMBIGUOUS, path->span, "`%s` is ambiguous", text(ctx, part));

            dfl_diag_label(ctx->sema->sink, d, ctx->draft->parts.at[match->id].span, "`%s`",
                           text(ctx, ctx->draft->parts.at[match->id].name));
            dfl_diag_label(ctx->sema->sink, d, ctx->draft->parts.at[match->other].span, "`%s`",
                           text(ctx, ctx->draft->parts.at[match->other].name));
            ctx->draft->broken = true;
        }
        *some = match->id;
        if (dfl_attribute_find(text(ctx, *attr), overridable[k]) >= 0)
            found = match->id;
    }
    return found;
}

void dfl_system_apply_overrides(dfl_system_context *ctx, const dfl_ast_node *binds, uint32_t root, uint32_t first)
{
    override_targets targets;
    uint32_t layer;

    if (binds == NULL)
        return;
    targets = list_targets(ctx, first);
    layer = ++ctx->draft->layers;
    for (const dfl_ast_node *b = binds; b != NULL && dfl_sema_within_budget(ctx->sema); b = b->next) {
        uint32_t part = DFL_NONE, some = DFL_NONE;
        dfl_sym attr = 0, shown = 0;

        if (b->path->n == 0 || b->value == NULL)
            continue;
        /* The attribute has one or two names (`read.energy`), so the part's name is first tried with all names but one,
           then with one name fewer. */
        for (uint32_t n = b->path->n - 1, tries = 0; part == DFL_NONE && tries < 2; n--, tries++) {
            part = find_part(ctx, &targets, b->path, n, root, &attr, &some);
            if (some != DFL_NONE && shown == 0)
                shown = attr;
            if (n == 0)
                break;
        }
        if (part == DFL_NONE && some == DFL_NONE) {
            report_no_part(ctx, b->path, &targets);
        } else if (part == DFL_NONE) {
            dfl_attribute_report_unknown(ctx->draft, text(ctx, shown), ctx->draft->parts.at[some].kind,
                                         dfl_path_last(b->path)->span);
        } else {
            int row = dfl_attribute_find(text(ctx, attr), ctx->draft->parts.at[part].kind);

            set_row(ctx, part, row, dfl_attribute_has_key(row) ? dfl_path_last(b->path)->sym : 0, 0, b->path->span, b->value,
                    layer);
        }
    }
}
