/*
 * Declared mappings and their bodies. Mappings and bodies are in one file because they are mutually recursive: a body
 * may `use` a template. A template is a declared mapping, which is elaborated, and so checked, before its text is
 * inserted.
 */
#include "sema/mapping/elaborate.h"

#include <stdlib.h>
#include <string.h>

#include "sema/expr/arguments.h"
#include "sema/mapping/mapping_internal.h"
#include "support/limits.h"

/* The name of an einsum's result. */
static const char *einsum_text(const dfl_mapping_context *ctx, uint32_t einsum)
{
    const dfl_workload_draft *draft = &ctx->draft->workload->draft;

    return dfl_sema_text(ctx->draft->sema, draft->tensors.at[draft->einsums.at[ctx->draft->text[einsum]].ir.output.tensor].name);
}

/* Makes a body in `parent` (NULL: the root) with the given einsums; the body inherits the compute unit. */
static dfl_body *add_body(dfl_mapping_draft *draft, dfl_body *parent, dfl_span span, const uint32_t *einsums, uint32_t n)
{
    dfl_body *body = DFL_NEW(draft->sema->arena, dfl_body);

    body->kind = DFL_BODY_LEAF;
    body->span = span;
    body->id = (uint32_t)draft->bodies.n;
    body->parent = parent;
    body->depth = parent != NULL ? parent->depth + 1 : 0;
    body->einsums = einsums;
    body->n_einsums = n;
    body->compute = parent != NULL ? parent->compute : DFL_NONE;
    if (parent != NULL)
        body->compute_span = parent->compute_span;
    DFL_PUSH(draft->sema->arena, &draft->bodies, body);
    return body;
}

/* A chain of lines under construction. A chain is one body, with the lines from the body's text and from the templates
   in the text. */
typedef struct {
    dfl_body *body;
    size_t first_line;   /* index of the chain's first line in `sema->lines` */
    DFL_VEC(dfl_body *) children;
    dfl_id_list recompute;
    DFL_VEC(dfl_open) opens;
    dfl_line_choices choices;
    bool branched;       /* a `fuse` or `pipeline` has ended the chain */
    bool implicit;       /* branches outside of a `fuse` have ended the chain */
    dfl_span branch_span; /* place of the keyword of the `fuse` or `pipeline`, or of the head of the last branch */
    dfl_span stray;      /* place of the first line after the end of the chain, once reported; nowhere = no such line */
} chain_state;

/* Removes the einsums that the enclosing body does not have, and reports the first of them. */
static void check_inside(dfl_mapping_context *ctx, const dfl_body *body, dfl_id_list *ids, dfl_span span)
{
    size_t n = 0;
    bool reported = false;

    for (size_t i = 0; i < ids->n; i++) {
        if (dfl_body_has_einsum(body, ids->at[i])) {
            ids->at[n++] = ids->at[i];
            continue;
        }
        if (!reported) {
            dfl_diag *d = dfl_report(ctx->draft->sema->sink, DFL_MAP_EINSUM_OUTSIDE, span,
                                     "einsum `%s` does not belong to the branch around this one",
                                     einsum_text(ctx, ids->at[i]));

            dfl_diag_label(ctx->draft->sema->sink, d, body->span, "this branch does not name it");
            dfl_diag_help(ctx->draft->sema->sink, d, "name it in the outer branch, too, or move this branch");
            ctx->draft->broken = reported = true;
        }
    }
    ids->n = n;
}

static void lower_chain(dfl_mapping_context *ctx, const dfl_ast_node *items, dfl_body *body);
static dfl_decl *find_template(dfl_sema *sema, dfl_module *module, const dfl_ast_ref *ref);

/* Lowers a branch with its einsums to a child. `instance`: the instance of an `each`, or DFL_NONE. */
static void lower_child(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node, dfl_id_list *ids,
                        dfl_span span, uint32_t instance)
{
    dfl_mapping_context inner = *ctx;
    dfl_body *child;

    dfl_id_list_sort(ids);
    check_inside(ctx, chain->body, ids, span);
    if (ids->n == 0)
        return;
    inner.instance = instance != DFL_NONE ? instance
                                          : dfl_mapping_common_instance(ctx->draft, ids->at, (uint32_t)ids->n);
    inner.depth++;
    inner.in_branch = true;
    child = add_body(ctx->draft, chain->body, span, ids->at, (uint32_t)ids->n);
    lower_chain(&inner, node->body, child);
    DFL_PUSH(ctx->draft->sema->arena, &chain->children, child);
}

/* Lowers `each conv2d { ... }`: a child for every instance that applies the workload. */
static void lower_each(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node)
{
    dfl_id_list instances = { 0 };

    for (const dfl_ast_node *h = node->items; h != NULL; h = h->next)
        (void)dfl_mapping_find_applied(ctx, h->path, &instances);
    dfl_id_list_sort(&instances);
    for (size_t i = 0; i < instances.n && dfl_sema_within_budget(ctx->draft->sema); i++) {
        dfl_id_list ids = { 0 };

        dfl_mapping_add_instance(ctx->draft, instances.at[i], &ids);
        lower_child(ctx, chain, node, &ids, node->items->span, instances.at[i]);
    }
}

/* An einsum of a branch, and the head that names it. */
typedef struct {
    uint32_t einsum;
    uint32_t order; /* position in the text, which keeps the sort stable */
    const dfl_ast_node *head;
} named_einsum;

/* Order by einsum, then by position in the text, for qsort. */
static int compare_named(const void *a, const void *b)
{
    const named_einsum *x = a, *y = b;

    if (x->einsum != y->einsum)
        return x->einsum < y->einsum ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Whether two heads of a branch name one einsum; reports this. Sorts `all` as a side effect. */
static bool report_named_twice(dfl_mapping_context *ctx, named_einsum *all, size_t n)
{
    qsort(all, n, sizeof *all, compare_named);
    for (size_t i = 1; i < n; i++) {
        const char *name = einsum_text(ctx, all[i].einsum);
        dfl_diag *d;

        if (all[i].einsum != all[i - 1].einsum)
            continue;
        d = dfl_report(ctx->draft->sema->sink, DFL_MAP_EINSUM_TWICE, all[i].head->span, "einsum `%s` is mapped twice", name);
        dfl_diag_here(ctx->draft->sema->sink, d, "mapped again here");
        dfl_diag_label(ctx->draft->sema->sink, d, all[i - 1].head->span, "first mapped here");
        dfl_diag_help(ctx->draft->sema->sink, d, "name `%s` once", name);
        ctx->draft->broken = true;
        return true;
    }
    return false;
}

/* Lowers a branch: `head, head { ... }`. */
static void lower_branch(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node)
{
    dfl_span span = { 0 };
    dfl_id_list ids = { 0 };
    DFL_VEC(named_einsum) all = { 0 };
    bool ok = true;

    if (node->each) {
        lower_each(ctx, chain, node);
        return;
    }
    for (const dfl_ast_node *h = node->items; h != NULL; h = h->next) {
        size_t before = ids.n;

        ok = dfl_mapping_add_head(ctx, h->path, &ids) && ok;
        span = dfl_span_join(span, h->span);
        for (size_t i = before; node->items->next != NULL && i < ids.n; i++) {
            named_einsum one = { ids.at[i], (uint32_t)i, h };

            DFL_PUSH(ctx->draft->sema->arena, &all, one);
        }
    }
    if (ok && (all.n == 0 || !report_named_twice(ctx, all.at, all.n)))
        lower_child(ctx, chain, node, &ids, span, DFL_NONE);
}

/* Lowers `...;`: a place for any lines, or (`between`) for any branches. */
static void lower_anything(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node, bool between)
{
    dfl_body *body = chain->body;

    dfl_mapping_note_hole(ctx, node->span);
    if (!body->open && !body->open_children)
        body->open_span = node->span;
    if (between) {
        body->open_children = true;
    } else {
        body->open = true;
        DFL_PUSH(ctx->draft->sema->arena, &chain->opens,
                 ((dfl_open){ (uint32_t)(ctx->draft->sema->lines.n - chain->first_line), node->span }));
    }
}

/* Lowers the branches of a `fuse` or `pipeline`. */
static void lower_branches(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node, dfl_body_kind kind)
{
    chain->branched = true;
    chain->body->kind = kind;
    chain->branch_span = (dfl_span){ node->span.start, node->span.start + (kind == DFL_BODY_FUSE ? 4u : 8u) };
    for (const dfl_ast_node *b = node->body; b != NULL && dfl_sema_within_budget(ctx->draft->sema); b = b->next) {
        if (b->kind == DFL_AST_BRANCH) {
            lower_branch(ctx, chain, b);
        } else if (b->kind == DFL_AST_ANYTHING) {
            lower_anything(ctx, chain, b, true);
        }
    }
}

static void lower_chain_items(dfl_mapping_context *ctx, const dfl_ast_node *items, chain_state *chain);

/* Replaces `use` by the text of a template, and by the texts of the templates from which it is derived. */
static void lower_use(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node)
{
    dfl_sema *s = ctx->draft->sema;
    dfl_decl *decl = find_template(s, ctx->module, node->more->ref);
    const dfl_ast_ref *ref = node->more->ref;
    dfl_scope *from = ctx->scope;
    dfl_mapping_context inner = *ctx;
    dfl_template_bindings bindings = { node->more->binds, ctx->bindings, ctx->instance };
    dfl_span options[DFL_N_OPTIONS] = { { 0 } };
    const dfl_ast_node *missing;

    if (ctx->depth >= DFL_SEMA_MAX_NESTING) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, node->span, "templates are nested more than %d deep", DFL_SEMA_MAX_NESTING);
        decl = NULL;
    }
    while (decl != NULL) {
        dfl_scope *args = dfl_scope_new(s, NULL, decl->module);

        if (!dfl_args_bind(s, args, decl->node->more->params, ref, from, decl, &missing) ||
            (missing != NULL && !dfl_args_need(s, ref, missing)))
            break;
        if (decl->node->more->ref->path->n == 0) {
            inner.scope = args;
            inner.module = decl->module;
            inner.bindings = &bindings;
            inner.options = options;
            inner.depth++;
            lower_chain_items(&inner, decl->node->body, chain);
            return;
        }
        ref = decl->node->more->ref;
        from = args;
        decl = find_template(s, decl->module, ref);
    }
    ctx->draft->broken = true;
}

/* Lowers `on UNIT`: the compute unit of the body. */
static void lower_on(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node)
{
    uint32_t compute = dfl_mapping_find_compute(ctx, node->path);

    if (compute == DFL_NONE)
        return;
    chain->body->compute = compute;
    chain->body->compute_span = node->path->span;
}

/* Whether the chain continues: a branch ends it. Reports the first line after the end. */
static bool check_before_end(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node)
{
    dfl_diag *d;

    if (!chain->branched && (!chain->implicit || node->kind == DFL_AST_BRANCH))
        return true;
    if (chain->stray.start == 0) {
        d = dfl_report(ctx->draft->sema->sink, DFL_MAP_LINE_AFTER_BRANCH, node->span, "nothing may follow a branch");
        dfl_diag_label(ctx->draft->sema->sink, d, chain->branch_span, "the chain ends with this branch");
        dfl_diag_help(ctx->draft->sema->sink, d, "move the line above the branch, or into its children");
        chain->stray = node->span;
    }
    ctx->draft->broken = true;
    return false;
}

/* Lowers loops and keeps. Records for each structural choice the number of places for any lines above it. */
static void lower_lines(dfl_mapping_context *ctx, chain_state *chain, const dfl_ast_node *node,
                        void (*lower)(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                                      dfl_line_choices *choices))
{
    size_t before = chain->choices.n, first = ctx->draft->sema->lines.n;

    if (!check_before_end(ctx, chain, node))
        return;
    ctx->draft->statements++;
    lower(ctx, node, &ctx->draft->sema->lines, &chain->choices);
    for (size_t i = first; i < ctx->draft->sema->lines.n; i++)
        ctx->draft->sema->lines.at[i].statement = ctx->draft->statements;
    for (size_t i = before; i < chain->choices.n; i++) {
        chain->choices.at[i].at -= (uint32_t)chain->first_line;
        chain->choices.at[i].opens = (uint32_t)chain->opens.n;
    }
}

/* Lowers one statement of a chain. */
static void lower_item(dfl_mapping_context *ctx, const dfl_ast_node *node, chain_state *chain)
{
    switch ((int)node->kind) {
    case DFL_AST_TEMPORAL:
        lower_lines(ctx, chain, node, dfl_mapping_lower_temporal);
        return;
    case DFL_AST_SPATIAL:
        lower_lines(ctx, chain, node, dfl_mapping_lower_spatial);
        return;
    case DFL_AST_KEEP:
        lower_lines(ctx, chain, node, dfl_mapping_lower_keep);
        return;
    case DFL_AST_ON:
        if (check_before_end(ctx, chain, node))
            lower_on(ctx, chain, node);
        return;
    case DFL_AST_RECOMPUTE:
        dfl_mapping_lower_recompute(ctx, node, chain->body->parent != NULL, &chain->recompute);
        return;
    case DFL_AST_FUSE:
    case DFL_AST_PIPELINE:
        if (check_before_end(ctx, chain, node))
            lower_branches(ctx, chain, node, node->kind == DFL_AST_FUSE ? DFL_BODY_FUSE : DFL_BODY_PIPELINE);
        return;
    case DFL_AST_BRANCH:
        /* Branches that follow each other without `fuse` are fused as well. */
        if (!check_before_end(ctx, chain, node))
            return;
        chain->implicit = true;
        chain->branch_span = node->items != NULL ? node->items->span : node->span;
        chain->body->kind = DFL_BODY_FUSE;
        lower_branch(ctx, chain, node);
        return;
    case DFL_AST_FUSE_HOLE: /* a place for any branches ends the chain, so it equals a place for any lines */
        if (check_before_end(ctx, chain, node))
            lower_anything(ctx, chain, node, false);
        return;
    case DFL_AST_ANYTHING:
        if (chain->implicit || check_before_end(ctx, chain, node))
            lower_anything(ctx, chain, node, chain->implicit);
        return;
    case DFL_AST_PARETO:
        ctx->draft->pareto = ctx->draft->pareto.start == 0 ? node->span : ctx->draft->pareto;
        DFL_PUSH(ctx->draft->sema->arena, &ctx->draft->goals, ((dfl_scoped_check){ node, ctx->scope }));
        return;
    case DFL_AST_MINIMIZE:
        DFL_PUSH(ctx->draft->sema->arena, &ctx->draft->goals, ((dfl_scoped_check){ node, ctx->scope }));
        return;
    case DFL_AST_USE:
        if (check_before_end(ctx, chain, node))
            lower_use(ctx, chain, node);
        return;
    case DFL_AST_OPTION:
        dfl_mapping_take_option(ctx, node);
        return;
    case DFL_AST_CHECK:
        DFL_PUSH(ctx->draft->sema->arena, &ctx->draft->checks, ((dfl_scoped_check){ node, ctx->scope }));
        return;
    default:
        return;
    }
}

/* Lowers the statements of a chain, or of a template in it. */
static void lower_chain_items(dfl_mapping_context *ctx, const dfl_ast_node *items, chain_state *chain)
{
    for (const dfl_ast_node *node = items; node != NULL && dfl_sema_within_budget(ctx->draft->sema); node = node->next)
        lower_item(ctx, node, chain);
}

/* Lowers a leaf with several einsums: a child for each, fused at the innermost point. */
static void split_leaf(dfl_mapping_context *ctx, chain_state *chain)
{
    dfl_body *body = chain->body;

    body->kind = DFL_BODY_FUSE;
    for (uint32_t i = 0; i < body->n_einsums; i++)
        DFL_PUSH(ctx->draft->sema->arena, &chain->children,
                 add_body(ctx->draft, body, body->span, &body->einsums[i], 1));
}

/* The loop that goes through the blocks of an instance: the first line that is not spatial behind line `i`, over the same
   rank and with the same tile. 0 if there is none. */
static uint32_t find_block_loop(const dfl_body *body, uint32_t i)
{
    const dfl_line *dealt = &body->lines[i];
    uint32_t at = i + 1;

    while (at < body->n_lines && body->lines[at].kind == DFL_LINE_SPATIAL && body->lines[at].rank != dealt->rank)
        at++;
    return at < body->n_lines && body->lines[at].kind == DFL_LINE_TEMPORAL && body->lines[at].rank == dealt->rank &&
                   body->lines[at].by == DFL_BY_SIZE && body->lines[at].amount == dealt->amount && !body->lines[at].cyclic
               ? at
               : 0;
}

/* Lowers `spatial r:T cyclic on axis` with `temporal r:T` below it. Instance i of K gets the blocks i, i + K, and so on. So
   the temporal loop goes through rounds of K blocks, of which each instance has one. The model executes the loop over
   rounds, of K T elements, outside of the spatial loop over the blocks of a round. Other cyclic loops keep their mark. */
static void deal_blocks(dfl_mapping_context *ctx, dfl_body *body)
{
    const dfl_system *system = ctx->draft->system->system;

    for (uint32_t i = 0; system != NULL && i < body->n_lines; i++) {
        dfl_line *dealt = &body->lines[i];
        uint32_t at = dealt->kind == DFL_LINE_SPATIAL && dealt->cyclic && dealt->by == DFL_BY_SIZE ? find_block_loop(body, i) : 0;
        dfl_line rounds;
        if (at == 0 || __builtin_mul_overflow(dealt->amount, system->axes[dealt->axis].size, &dealt->amount))
            continue;
        rounds = body->lines[at];
        rounds.amount = dealt->amount;
        rounds.rounds = true;
        dealt->amount = body->lines[at].amount;
        dealt->cyclic = false;
        memmove(&body->lines[i + 1], &body->lines[i], (at - i) * sizeof *body->lines);
        body->lines[i] = rounds;
        i++;
    }
}

/* Removes the keeps of gathered rows, which the keep of their table adds, from a body whose einsums do not read these rows. */
static void drop_other_rows(const dfl_mapping_context *ctx, dfl_body *body)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    uint32_t n = 0;

    for (uint32_t i = 0; w != NULL && i < body->n_lines; i++) {
        const dfl_line *line = &body->lines[i];
        const dfl_tensor *rows = line->kind == DFL_LINE_KEEP ? &w->tensors[line->tensor] : NULL;
        bool is_used = rows == NULL || !rows->gathered || rows->table == line->tensor;

        for (uint32_t e = 0; e < body->n_einsums && !is_used; e++)
            is_used = dfl_einsum_reads(&w->einsums[body->einsums[e]], line->tensor);
        if (is_used)
            body->lines[n++] = *line;
    }
    body->n_lines = w != NULL ? n : body->n_lines;
}

/* Lowers a chain of statements to a body, whose einsums are already set. */
static void lower_chain(dfl_mapping_context *ctx, const dfl_ast_node *items, dfl_body *body)
{
    chain_state chain = { .body = body, .first_line = ctx->draft->sema->lines.n };
    size_t n_lines;

    if (body->depth > DFL_SEMA_MAX_BRANCH_DEPTH) {
        dfl_report(ctx->draft->sema->sink, DFL_LIMIT_COUNT, body->span, "branches are nested more than %d deep",
                   DFL_SEMA_MAX_BRANCH_DEPTH);
        ctx->draft->broken = true;
        return;
    }
    lower_chain_items(ctx, items, &chain);
    if (body->kind == DFL_BODY_LEAF && body->n_einsums > 1 && !body->open)
        split_leaf(ctx, &chain);
    if (body->kind != DFL_BODY_LEAF && chain.children.n == 0 && !body->open_children && !ctx->draft->broken) {
        dfl_diag *d = dfl_report(ctx->draft->sema->sink, DFL_MAP_EINSUM_MISSING, chain.branch_span,
                                 "no einsum runs in this branch");

        dfl_diag_help(ctx->draft->sema->sink, d, "give each einsum a branch in it: `%s { ... }`",
                      body->n_einsums > 0 ? einsum_text(ctx, body->einsums[0]) : "T");
        ctx->draft->broken = true;
    }
    n_lines = ctx->draft->sema->lines.n - chain.first_line;
    body->lines = DFL_NEW_ARRAY(ctx->draft->sema->arena, dfl_line, n_lines);
    if (n_lines > 0)
        memcpy(body->lines, ctx->draft->sema->lines.at + chain.first_line, n_lines * sizeof *body->lines);
    body->n_lines = (uint32_t)n_lines;
    ctx->draft->sema->lines.n = chain.first_line;
    if (chain.choices.n == 0 && chain.opens.n == 0) {
        drop_other_rows(ctx, body);
        deal_blocks(ctx, body);
    }
    body->opens = chain.opens.at;
    body->n_opens = (uint32_t)chain.opens.n;
    body->choices = chain.choices.at;
    body->n_choices = (uint32_t)chain.choices.n;
    body->children = chain.children.at;
    body->n_children = (uint32_t)chain.children.n;
    dfl_id_list_sort(&chain.recompute);
    body->recompute = chain.recompute.at;
    body->n_recompute = (uint32_t)chain.recompute.n;
}

/* The first parameter without a value, or 0. */
static dfl_sym first_unknown(const dfl_scope *scope)
{
    for (size_t i = 0; i < scope->order.n; i++)
        if (dfl_scope_find_here(scope, scope->order.at[i])->value.kind == DFL_VALUE_UNKNOWN)
            return scope->order.at[i];
    return 0;
}

/* The elaborated template that a reference names. NULL after reporting, and if the template has errors. */
static dfl_decl *find_template(dfl_sema *sema, dfl_module *module, const dfl_ast_ref *ref)
{
    dfl_decl *decl = dfl_decl_need(sema, module, ref->path, DFL_AST_MAPPING);

    if (decl == NULL)
        return NULL;
    if (decl->busy) {
        dfl_diag *d = dfl_report(sema->sink, DFL_DECLARATION_CYCLE, ref->path->span, "mapping `%s` contains itself",
                                 dfl_sema_text(sema, decl->name));

        dfl_diag_label(sema->sink, d, decl->node->name.span, "declared here");
        return NULL;
    }
    dfl_mapping_elaborate(sema, decl);
    return decl->broken ? NULL : decl;
}

/* Collects the parts of a declaration and of the templates from which it is derived. False after reporting. */
static bool collect_parts(dfl_sema *sema, dfl_decl *decl, dfl_scope *scope, dfl_mapping_parts *parts)
{
    const dfl_ast_node *node = decl->node, *missing;

    if (parts->unknown == 0 && (parts->unknown = first_unknown(scope)) != 0)
        parts->unknown_span = dfl_scope_find_here(scope, parts->unknown)->span;
    if (parts->work == NULL && node->more->work->path->n > 0) {
        parts->work = node->more->work;
        parts->work_scope = scope;
    }
    if (parts->machine == NULL && node->more->machine->path->n > 0) {
        parts->machine = node->more->machine;
        parts->machine_scope = scope;
    }
    if (node->more->ref->path->n == 0) {
        parts->body = node->body;
        parts->scope = scope;
        return true;
    }
    decl->base = find_template(sema, decl->module, node->more->ref);
    if (decl->base == NULL)
        return false;
    dfl_scope *args = dfl_scope_new(sema, NULL, decl->base->module);
    if (!dfl_args_bind(sema, args, decl->base->node->more->params, node->more->ref, scope, decl->base, &missing) ||
        (missing != NULL && !dfl_args_need(sema, node->more->ref, missing)))
        return false;
    return collect_parts(sema, decl->base, args, parts);
}

/* Lowers the body for a workload and a system, then finishes the mapping or template. */
static void lower_declaration(dfl_sema *sema, dfl_decl *decl, const dfl_mapping_parts *parts, dfl_elaborated_workload *workload,
                              dfl_elaborated_system *system, dfl_elaborated_mapping *out)
{
    dfl_mapping_draft draft = { .sema = sema, .workload = workload, .system = system };
    dfl_span options[DFL_N_OPTIONS] = { { 0 } };
    dfl_mapping_context ctx = { .draft = &draft, .scope = parts->scope, .module = parts->scope->module, .options = options };
    size_t before = dfl_sink_count(sema->sink);
    dfl_body *root;
    uint32_t *all;

    draft.template = parts->unknown != 0 || workload->workload == NULL || system->system == NULL;
    dfl_mapping_number_einsums(&draft);
    if (draft.n_einsums == 0) {
        if (!workload->draft.partial)
            dfl_report(sema->sink, DFL_MAP_EINSUM_MISSING, parts->work->span, "workload `%s` has no einsum to map",
                       dfl_sema_text(sema, workload->decl->name));
        decl->broken = true;
        return;
    }
    all = DFL_NEW_ARRAY(sema->arena, uint32_t, draft.n_einsums);
    for (uint32_t i = 0; i < draft.n_einsums; i++)
        all[i] = i;
    root = add_body(&draft, NULL, decl->node->name.span, all, draft.n_einsums);
    if (draft.template || decl->node->more->ref->path->n > 0 ||
        !dfl_mapping_is_for_other(&draft, parts->body, decl->name, parts->work->span))
        lower_chain(&ctx, parts->body, root);
    if (decl->node->more->ref->path->n > 0)
        dfl_sema_blame(sema, before, decl->node->more->ref->span, "with the values given here");
    out->checks = draft.checks.at;
    out->n_checks = (uint32_t)draft.checks.n;
    if (!draft.template)
        dfl_mapping_check_selections(&draft, system->system, parts->machine->path->span);
    decl->broken |= draft.broken;
    if (!draft.template && !draft.broken && dfl_sema_within_budget(sema))
        out->mapping = dfl_mapping_finish(&draft, decl, parts, root);
    if (draft.template && !draft.broken && !workload->broken && !system->broken)
        out->template = dfl_mapping_finish_template(&draft, decl, parts);
}

const dfl_elaborated_mapping *dfl_mapping_elaborate(dfl_sema *sema, dfl_decl *decl)
{
    dfl_elaborated_mapping *out = decl->elaborated;
    dfl_scope *scope;
    dfl_mapping_parts parts = { 0 };
    const dfl_ast_node *missing;
    dfl_elaborated_workload *workload;
    dfl_elaborated_system *system;

    if (out != NULL)
        return out;
    out = DFL_NEW(sema->arena, dfl_elaborated_mapping);
    decl->elaborated = out;
    decl->broken = true;
    if (sema->nesting >= DFL_SEMA_MAX_NESTING) {
        dfl_report(sema->sink, DFL_LIMIT_COUNT, decl->node->name.span, "mappings are derived more than %d deep",
                   DFL_SEMA_MAX_NESTING);
        return out;
    }
    scope = dfl_scope_new(sema, NULL, decl->module);
    decl->busy = true;
    sema->nesting++;
    if (dfl_args_bind(sema, scope, decl->node->more->params, NULL, scope, decl, &missing) &&
        collect_parts(sema, decl, scope, &parts) && parts.work != NULL && parts.machine != NULL) {
        workload = dfl_workload_elaborate(sema, parts.work_scope->module, parts.work_scope, parts.work);
        system = dfl_system_elaborate(sema, parts.machine_scope->module, parts.machine_scope, parts.machine);
        decl->broken = workload == NULL || system == NULL;
        if (!decl->broken)
            lower_declaration(sema, decl, &parts, workload, system, out);
    }
    sema->nesting--;
    decl->busy = false;
    return out;
}
