#include "sema/system/elaborate.h"

#include <string.h>

#include "sema/expr/arguments.h"
#include "sema/expr/eval.h"
#include "sema/expr/memo.h"
#include "support/limits.h"
#include "sema/names/module.h"
#include "sema/system/system_internal.h"

/* The text of a symbol. */
static const char *text(const dfl_system_context *ctx, dfl_sym sym)
{
    return dfl_sema_text(ctx->sema, sym);
}

/* The full name of a part declared in the context: "prefix.name"; 0 for a part without a name. */
static dfl_sym full_name(dfl_system_context *ctx, dfl_sym name)
{
    if (ctx->prefix == 0 || name == 0)
        return name;
    return dfl_intern_z(ctx->sema->names, dfl_arena_printf(ctx->sema->arena, "%s.%s", text(ctx, ctx->prefix), text(ctx, name)));
}

/* Appends a part to an element. Returns the index of the part. */
static uint32_t append_part(dfl_system_draft *draft, dfl_part_kind kind, dfl_sym name, dfl_span span, uint32_t element)
{
    dfl_draft_part part = { .kind = kind, .id = draft->count[kind]++, .name = name, .span = span, .element = element,
                            .network = DFL_NONE };

    part.after_memory = draft->count[DFL_PART_MEMORY];
    DFL_PUSH(draft->arena, &draft->parts, part);
    return (uint32_t)(draft->parts.n - 1);
}

/* Adds a declared part. Reports E0202 if another part of the kind has the full name. */
static uint32_t add_part(dfl_system_context *ctx, dfl_part_kind kind, dfl_ast_name name)
{
    dfl_sym full = full_name(ctx, name.sym);
    dfl_span *old = full == 0 ? NULL : dfl_symmap_get(&ctx->draft->by_name[kind], full), *span;
    uint32_t part;

    if (old != NULL) {
        dfl_diag *d = dfl_scope_report_twice(ctx->sema, name.span, *old, "declared", text(ctx, full));

        if (ctx->draft->parts.at[ctx->element].used_system)
            dfl_diag_help(ctx->sema->sink, d, "give the used system a name: `use ... as part`");
        ctx->draft->broken = true;
    }
    part = append_part(ctx->draft, kind, full, name.span, ctx->element);
    if (full != 0 && old == NULL) {
        span = DFL_NEW(ctx->sema->arena, dfl_span);
        *span = name.span;
        dfl_symmap_put(ctx->sema->arena, &ctx->draft->by_name[kind], full, span);
    }
    return part;
}

/* Elaborates `network n = mesh { ... }`. */
static void elaborate_network(dfl_system_context *ctx, const dfl_ast_node *node)
{
    uint32_t part = add_part(ctx, DFL_PART_NETWORK, node->name);
    dfl_scope_entry *entry = dfl_scope_find_here(ctx->scope, node->name.sym);

    dfl_system_read_topology(ctx, part, node->more->ref);
    ctx->draft->parts.at[part].network_kind = node->more->ref->path->text;
    if (entry == NULL)
        entry = dfl_scope_declare(ctx->sema, ctx->scope, node->name.sym, node->name.span, DFL_ENTRY_PART);
    if (entry->kind == DFL_ENTRY_PART)
        entry->id = part;
    dfl_system_set_attributes(ctx, part, node->body);
}

/* The part of the network after `over`, declared earlier in this or an enclosing element. DFL_NONE after reporting. */
static uint32_t find_network(dfl_system_context *ctx, dfl_ast_name name)
{
    const dfl_scope_entry *entry = dfl_scope_find(ctx->scope, name.sym);
    dfl_diag *d;
    dfl_sym near;

    if (name.sym == 0)
        return DFL_NONE;
    if (entry != NULL && entry->kind == DFL_ENTRY_PART)
        return entry->id;
    d = dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, name.span, "no network `%s`", text(ctx, name.sym));
    near = dfl_scope_suggest(ctx->sema, ctx->scope, name.sym, DFL_ENTRY_PART);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, name.span, text(ctx, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(ctx->sema->sink, d, "declare it before the array: `network %s = bus { }`", text(ctx, name.sym));
    ctx->draft->broken = true;
    return DFL_NONE;
}

static void elaborate_statements(dfl_system_context *ctx, const dfl_ast_node *items);
static void elaborate_body(dfl_system_context *ctx, dfl_decl *decl, dfl_scope *args, dfl_span use);

/* Elaborates `array row[4], col[4] over n { ... }`: axes, and the element that they repeat. */
static void elaborate_array(dfl_system_context *ctx, const dfl_ast_node *node)
{
    uint32_t net = find_network(ctx, node->more->over), first = ctx->draft->count[DFL_PART_AXIS], n_axes = 0;
    uint32_t first_part = (uint32_t)ctx->draft->parts.n;
    dfl_system_context inner = *ctx;

    for (const dfl_ast_node *x = node->items; x != NULL; x = x->next, n_axes++) {
        uint32_t part = add_part(ctx, DFL_PART_AXIS, x->name);
        int64_t size;
        bool unknown;

        if (dfl_eval_int(ctx->sema, ctx->scope, x->value, "the size of an axis", 1, DFL_SEMA_MAX_COUNT, &size, &unknown))
            ctx->draft->parts.at[part].size = size;
        ctx->draft->unsized |= unknown;
        ctx->draft->broken |= !unknown && ctx->draft->parts.at[part].size == 0;
        ctx->draft->parts.at[part].network = net;
        ctx->draft->parts.at[part].silent = net == DFL_NONE && node->more->over.sym != 0;
    }
    inner.element = append_part(ctx->draft, DFL_PART_ELEMENT, 0, node->span, ctx->element);
    inner.scope = dfl_scope_new(ctx->sema, ctx->scope, ctx->scope->module);
    ctx->draft->parts.at[inner.element].first_axis = first;
    ctx->draft->parts.at[inner.element].n_axes = n_axes;
    for (uint32_t i = 0; i < n_axes; i++)
        ctx->draft->parts.at[first_part + i].multiplies = inner.element;
    elaborate_statements(&inner, node->body);
}

/* Elaborates `element x { ... }`: a side branch of the element. */
static void elaborate_element(dfl_system_context *ctx, const dfl_ast_node *node)
{
    dfl_system_context inner = *ctx;

    inner.element = add_part(ctx, DFL_PART_ELEMENT, node->name);
    ctx->draft->parts.at[inner.element].side = true;
    inner.scope = dfl_scope_new(ctx->sema, ctx->scope, ctx->scope->module);
    elaborate_statements(&inner, node->body);
}

/* Elaborates `use S(...) as x { overrides }`: the body of another system becomes an element. */
static void elaborate_use(dfl_system_context *ctx, const dfl_ast_node *node)
{
    dfl_decl *decl = dfl_decl_need(ctx->sema, ctx->scope->module, node->more->ref->path, DFL_AST_SYSTEM);
    dfl_ast_name alias = node->more->alias;
    const dfl_ast_node *missing;
    dfl_system_context inner = *ctx;
    dfl_scope *args;
    uint32_t first;

    if (decl == NULL) {
        ctx->draft->broken = true;
        return;
    }
    if (alias.sym == 0)
        alias.span = node->more->ref->span;
    inner.element = add_part(ctx, DFL_PART_ELEMENT, alias);
    ctx->draft->parts.at[inner.element].used_system = true;
    first = inner.element;
    args = dfl_scope_new(ctx->sema, NULL, decl->module);
    if (!dfl_args_bind(ctx->sema, args, decl->node->more->params, node->more->ref, ctx->scope, decl, &missing)) {
        ctx->draft->broken = true;
        return;
    }
    if (missing != NULL)
        ctx->draft->broken = !dfl_args_need(ctx->sema, node->more->ref, missing);
    if (alias.sym != 0)
        inner.prefix = full_name(ctx, alias.sym);
    elaborate_body(&inner, decl, args, node->more->ref->span);
    inner.scope = ctx->scope;
    dfl_system_apply_overrides(&inner, node->more->binds, inner.element, first);
}

/* Reports E0606, once: a system has too many parts. No further system is elaborated, since it might be larger. */
static void report_full(dfl_system_context *ctx)
{
    ctx->draft->broken = true;
    if (ctx->sema->is_full)
        return;
    dfl_report(ctx->sema->sink, DFL_LIMIT_COUNT, ctx->draft->span, "system `%s` has more than %d parts",
               text(ctx, ctx->draft->name), 2 * DFL_SEMA_MAX_PARTS);
    ctx->sema->is_full = true;
}

/* Elaborates the declarations in the braces of an element. */
static void elaborate_statements(dfl_system_context *ctx, const dfl_ast_node *items)
{
    const dfl_ast_name none = { 0 };

    for (const dfl_ast_node *node = items; node != NULL && dfl_sema_within_budget(ctx->sema); node = node->next) {
        if (ctx->draft->parts.n > 2 * DFL_SEMA_MAX_PARTS) {
            report_full(ctx);
            return;
        }
        switch ((int)node->kind) {
        case DFL_AST_ATTR:
            dfl_system_set_attribute(ctx, ctx->element, none, node->name, node->args, 0);
            break;
        case DFL_AST_ATTRS:
            dfl_attribute_report_unknown(ctx->draft, text(ctx, node->name.sym), DFL_PART_ELEMENT, node->name.span);
            break;
        case DFL_AST_MEMORY:
            dfl_system_set_attributes(ctx, add_part(ctx, DFL_PART_MEMORY, node->name), node->body);
            break;
        case DFL_AST_COMPUTE:
            dfl_system_set_attributes(ctx, add_part(ctx, DFL_PART_COMPUTE, node->name), node->body);
            break;
        case DFL_AST_NETWORK: elaborate_network(ctx, node); break;
        case DFL_AST_ARRAY:   elaborate_array(ctx, node); break;
        case DFL_AST_ELEMENT: elaborate_element(ctx, node); break;
        case DFL_AST_USE:     elaborate_use(ctx, node); break;
        default:              break;
        }
    }
}

/* Elaborates the body of `decl`, with the parameters in `args`, into `ctx->element`; for a derived system, with its
   overrides. `use`: the place that inserts the body. */
static void elaborate_body(dfl_system_context *ctx, dfl_decl *decl, dfl_scope *args, dfl_span use)
{
    const dfl_ast_node *node = decl->node, *missing;
    uint32_t first = (uint32_t)ctx->draft->parts.n;
    dfl_sema *sema = ctx->sema;
    dfl_insertion self = { .decl = decl, .args = args, .use = use };

    if (!dfl_decl_enter(sema, &self)) {
        ctx->draft->broken = true;
        return;
    }
    if (node->more->ref->path->n > 0) {
        dfl_decl *base = dfl_decl_need(sema, decl->module, node->more->ref->path, DFL_AST_SYSTEM);
        dfl_scope *inner = base != NULL ? dfl_scope_new(sema, NULL, base->module) : NULL;

        decl->base = base;
        if (base == NULL || !dfl_args_bind(sema, inner, base->node->more->params, node->more->ref, args, base, &missing) ||
            (missing != NULL && !dfl_args_need(sema, node->more->ref, missing))) {
            ctx->draft->broken = true;
        } else {
            elaborate_body(ctx, base, inner, node->more->ref->span);
            ctx->scope = args;
            dfl_system_apply_overrides(ctx, node->more->binds, ctx->element, first);
        }
    } else {
        ctx->scope = dfl_scope_new(sema, args, decl->module);
        elaborate_statements(ctx, node->body);
    }
    dfl_decl_leave(sema);
}

/* First argument of is_op. */
typedef struct { dfl_sema *sema; dfl_module *module; } op_context;

/* Whether a symbol names an operation visible in the module. */
static bool is_op(void *context, dfl_sym op)
{
    op_context *c = context;

    return dfl_decl_op(c->sema, c->module, op) != NULL;
}

/* Callback of type dfl_elaborate: elaborates the system of a declaration with values for its parameters. */
static void *elaborate(dfl_sema *sema, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                       const dfl_lint_levels *lints, bool *broken)
{
    dfl_elaborated_system *system = DFL_NEW(sema->arena, dfl_elaborated_system);
    dfl_system_context ctx = { .sema = sema, .draft = &system->draft };
    op_context context = { sema, decl->module };

    system->decl = decl;
    system->args = args;
    system->missing = missing;
    system->draft = (dfl_system_draft){ .arena = sema->arena,
                                        .sink = sema->sink,
                                        .names = sema->names,
                                        .new_names = sema->names,
                                        .lints = lints,
                                        .lint_range = dfl_module_root_span(sema),
                                        .name = decl->name,
                                        .span = decl->node->name.span,
                                        .lenient = sema->has_syntax_errors };
    ctx.element = append_part(&system->draft, DFL_PART_ELEMENT, 0, decl->node->name.span, 0);
    elaborate_body(&ctx, decl, args, decl->node->name.span);
    system->system = dfl_system_finish(&system->draft, is_op, &context);
    system->broken = *broken = system->draft.broken;
    return system;
}

dfl_elaborated_system *dfl_system_elaborate_default(dfl_sema *sema, dfl_decl *decl)
{
    return dfl_memo_default(sema, decl, elaborate);
}

dfl_elaborated_system *dfl_system_elaborate(dfl_sema *sema, dfl_module *module, dfl_scope *from, const dfl_ast_ref *ref)
{
    return dfl_memo_reference(sema, dfl_decl_need(sema, module, ref->path, DFL_AST_SYSTEM), from, ref, elaborate);
}
