/* Statements of the body of a workload: ranks, constants, `apply`, `repeat`, `for` and `if`. */
#include "sema/workload/workload_internal.h"

#include <string.h>

#include "ir/unit_text.h"
#include "sema/expr/arguments.h"
#include "sema/expr/eval.h"
#include "sema/expr/sets.h"
#include "support/limits.h"

bool dfl_workload_refuse_training(dfl_sema *sema, const dfl_ast_ref *ref)
{
    dfl_diag *d;

    if (!dfl_workload_is_training(sema, ref))
        return false;
    d = dfl_report(sema->sink, DFL_EVAL_UNSUPPORTED, ref->span, "a training step stands in a declaration of its own");
    dfl_diag_help(sema->sink, d, "declare it, `workload step = train(...);`, and name `step` in mappings");
    return true;
}

/* Whether the workload may grow further and the budget is not used up. Reports an exceeded limit once. */
static bool can_grow(dfl_workload_context *ctx)
{
    dfl_workload_draft *draft = ctx->draft;
    bool einsums = draft->einsums.n >= DFL_SEMA_MAX_PARTS;

    if (!einsums && draft->ranks.n + draft->tensors.n < 2 * DFL_SEMA_MAX_PARTS &&
        ctx->workload->instances.n < DFL_SEMA_MAX_PARTS)
        return dfl_sema_within_budget(ctx->sema);
    if (!draft->full && !ctx->sema->is_full)
        dfl_report(ctx->sema->sink, DFL_LIMIT_COUNT, draft->span, "workload `%s` has more than %d %s",
                   dfl_sema_text(ctx->sema, draft->name), einsums ? DFL_SEMA_MAX_PARTS : 2 * DFL_SEMA_MAX_PARTS,
                   einsums ? "einsums" : "ranks and tensors");
    draft->full = draft->broken = draft->partial = ctx->sema->is_full = true;
    return false;
}

/* Adds a rank with the extent `value`. `*entry` is set to the rank's entry in the scope. DFL_NONE after reporting. */
static uint32_t add_rank(dfl_workload_context *ctx, dfl_ast_name name, const dfl_expr *value, dfl_scope_entry **entry)
{
    dfl_draft_rank r = { .name = dfl_workload_full_name(ctx, name.sym), .span = name.span };
    int64_t extent;
    bool unknown;

    /* The value is evaluated before the rank is declared: in `rank n = n`, the n on the right is the parameter. */
    if (dfl_eval_int(ctx->sema, ctx->scope, value, "the size of a rank", 1, DFL_SEMA_MAX_EXTENT, &extent, &unknown))
        r.extent = extent;
    else if (unknown)
        ctx->draft->unsized = true;
    else
        r.silent = ctx->draft->broken = true;
    *entry = dfl_scope_declare(ctx->sema, ctx->scope, name.sym, name.span, DFL_ENTRY_RANK);
    if (*entry == NULL) {
        ctx->draft->broken = true;
        return DFL_NONE;
    }
    (*entry)->id = (uint32_t)ctx->draft->ranks.n;
    DFL_PUSH(ctx->sema->arena, &ctx->draft->ranks, r);
    return (*entry)->id;
}

/* Declares a constant of the body. */
static void add_constant(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, node->value);
    dfl_scope_entry *entry = dfl_scope_declare(ctx->sema, ctx->scope, node->name.sym, node->name.span, DFL_ENTRY_VALUE);

    ctx->draft->broken |= entry == NULL || v.kind == DFL_VALUE_BAD;
    if (entry != NULL)
        entry->value = v;
}

/* Declares `n = N;`, a statement that lacks its keyword, as a rank if it follows ranks, else as a constant. Reports E0314. On the
   line of the ranks (`on_line`), the keyword that is missing is certain. */
static void add_without_keyword(dfl_workload_context *ctx, const dfl_ast_node *node, bool after_ranks, bool on_line)
{
    const char *name = dfl_sema_text(ctx->sema, node->more->target->path->text);
    dfl_span start = { node->span.start, node->span.start };
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, node->span, "`%s` is computed from no tensor", name);
    dfl_ast_node declared = *node;

    dfl_diag_help(ctx->sema->sink, d, on_line ? "a rank is declared by `rank %s = ...;`, or by `rank a = ..., %s = ...;`"
                                                  : "a constant is declared by `let %s = ...;`, a rank by `rank %s = ...;`",
                  name, name);
    dfl_diag_fix(ctx->sema->sink, d, start, on_line ? "rank " : "let ", on_line ? DFL_FIX_SURE : DFL_FIX_MAYBE);
    declared.name = *node->more->target->path->head;
    ctx->draft->broken = true;
    if (after_ranks) {
        dfl_scope_entry *unused;

        (void)add_rank(ctx, declared.name, node->value, &unused);
    } else {
        add_constant(ctx, &declared);
    }
}

/* The keyword of a declaration that is meant by the word before its name: "rank", "let", or NULL. */
static const char *find_meant_keyword(dfl_workload_context *ctx, const char *word)
{
    static const char ranks[] = " dim dims index iter range extent loop axis size int ",
                      constants[] = " const var constant define val auto float double number param def ";
    const char *padded = dfl_arena_printf(ctx->sema->arena, " %s ", word);
    const dfl_sym known[] = { dfl_intern_z(ctx->sema->names, "rank"), dfl_intern_z(ctx->sema->names, "let") };
    const dfl_sym near = dfl_suggest(ctx->sema->names, word, known, sizeof known / sizeof known[0]);

    return strstr(ranks, padded) != NULL ? "rank" : strstr(constants, padded) != NULL ? "let"
           : near != 0 ? dfl_sym_text(ctx->sema->names, near) : NULL;
}

/* Declares `m = N` of a statement with a wrong keyword, `dim m = N;`, which the grammar takes for a reduction `m=`. Reports
   E0314. */
static void add_with_wrong_keyword(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    const dfl_ast_name *word = node->more->target->path->head;
    const char *keyword = find_meant_keyword(ctx, dfl_sema_text(ctx->sema, word->sym));
    const char *name = dfl_sema_text(ctx->sema, node->more->assign_name.sym);
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, word->span, "no statement begins with `%s`",
                             dfl_sema_text(ctx->sema, word->sym));
    dfl_ast_node declared = *node;
    dfl_scope_entry *unused;

    ctx->draft->broken = true;
    dfl_diag_help(ctx->sema->sink, d, "a rank is declared by `rank %s = ...;`, a constant by `let %s = ...;`", name, name);
    if (keyword != NULL)
        dfl_diag_fix(ctx->sema->sink, d, word->span, keyword, DFL_FIX_MAYBE);
    declared.name = node->more->assign_name;
    if (keyword != NULL && strcmp(keyword, "let") == 0)
        add_constant(ctx, &declared);
    else
        (void)add_rank(ctx, declared.name, node->value, &unused);
}

/* Whether no line ends between two places of a file. */
static bool is_one_line(const dfl_workload_context *ctx, uint32_t from, uint32_t to)
{
    const dfl_source *source = dfl_source_of(dfl_sink_sources(ctx->sema->sink), (dfl_span){ from, to });

    return source != NULL && memchr(source->text + (from - source->base), '\n', to - from) == NULL;
}

/* Whether a statement has the form `n = N;` of a declaration without its keyword; with `DFL_ASSIGN_NAMED`, the form `dim n = N;`
   of a declaration with a wrong one. */
static bool lacks_keyword(const dfl_workload_context *ctx, const dfl_ast_node *node, dfl_assign assign)
{
    const dfl_ast_node *target = node->more->target;

    return node->assign == assign && node->role == DFL_AST_NO_ROLE && target->path->n == 1 && target->args == NULL &&
           node->value != NULL && node->more->over.sym == 0 && node->more->n_where == 0 && !dfl_workload_reads(node->value) &&
           dfl_sema_slice(ctx->sema, target->span)[target->path->head->span.end - target->path->head->span.start] == '\0';
}

/* Resolves one argument of an `apply`, `formal = tensor`. */
static void add_argument(dfl_workload_context *ctx, dfl_symmap *given, const dfl_ast_node *bind)
{
    dfl_tensor_argument *g = bind->path->n == 1 ? dfl_symmap_get(given, bind->path->head->sym) : NULL;
    uint32_t tensor;

    if (bind->value == NULL || bind->path->n == 0)
        return;
    if (bind->value->kind != DFL_EXPR_PATH) {
        dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, bind->value->span, "expected the name of a tensor");
        ctx->draft->broken = true;
        return;
    }
    tensor = dfl_workload_find_tensor(ctx, bind->value->path);
    if (tensor == DFL_NONE)
        dfl_workload_report_no_tensor(ctx, bind->value->path);
    if (g != NULL) {
        dfl_scope_report_twice(ctx->sema, bind->path->span, g->span, "given", dfl_sema_text(ctx->sema, bind->path->text));
        ctx->draft->broken = true;
        return;
    }
    if (tensor == DFL_NONE)
        return;
    g = DFL_NEW(ctx->sema->arena, dfl_tensor_argument);
    *g = (dfl_tensor_argument){ .tensor = tensor, .span = bind->value->span };
    dfl_symmap_put(ctx->sema->arena, given, bind->path->text, g);
}

/* Reports arguments of an `apply` for which its body has no tensor. */
static void check_given(dfl_workload_context *ctx, const dfl_symmap *given, const dfl_ast_node *node,
                        const dfl_workload_context *inner)
{
    for (const dfl_ast_node *bind = node->more->binds; bind != NULL; bind = bind->next) {
        const dfl_tensor_argument *g = dfl_symmap_get(given, bind->path->text);
        dfl_diag *d;
        dfl_sym near;

        if (g == NULL || g->used || ctx->draft->partial)
            continue;
        d = dfl_report(ctx->sema->sink, DFL_ARGUMENT_UNKNOWN, bind->path->span, "`%s` has no tensor `%s`",
                       dfl_sema_text(ctx->sema, node->more->ref->path->text), dfl_sema_text(ctx->sema, bind->path->text));
        near = dfl_scope_suggest(ctx->sema, inner->scope, bind->path->text, DFL_ENTRY_TENSOR);
        if (near != 0)
            dfl_diag_fix(ctx->sema->sink, d, bind->path->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
        ctx->draft->broken = true;
    }
}

/* Reserves memory for the declarations of a body without `for`, `apply` and `repeat`, as most bodies are. */
static void reserve_parts(dfl_workload_context *ctx, const dfl_ast_node *body)
{
    uint32_t einsums = 0, tensors = 0, ranks = 0;

    if (ctx->draft->einsums.cap > 0 || ctx->instance != 0)
        return;
    for (const dfl_ast_node *node = body; node != NULL; node = node->next) {
        einsums += node->kind == DFL_AST_EINSUM;
        for (const dfl_ast_node *i = node->items; i != NULL; i = i->next) {
            tensors += node->kind == DFL_AST_TENSORS;
            ranks += node->kind == DFL_AST_RANKS;
        }
    }
    tensors += einsums;
    ctx->draft->einsums.at = DFL_NEW_ARRAY(ctx->sema->arena, dfl_draft_einsum, einsums);
    ctx->draft->einsums.cap = einsums;
    ctx->draft->tensors.at = DFL_NEW_ARRAY(ctx->sema->arena, dfl_draft_tensor, tensors);
    ctx->draft->tensors.cap = tensors;
    ctx->draft->ranks.at = DFL_NEW_ARRAY(ctx->sema->arena, dfl_draft_rank, ranks);
    ctx->draft->ranks.cap = ranks;
}

void dfl_workload_elaborate_body(dfl_workload_context *ctx, dfl_decl *decl, dfl_scope *args, dfl_span use)
{
    const dfl_ast_node *node = decl->node, *missing;
    dfl_sema *sema = ctx->sema;
    dfl_insertion self = { .decl = decl, .args = args, .use = use };

    if (!dfl_decl_enter(sema, &self)) {
        ctx->draft->broken = ctx->draft->partial = true;
        return;
    }
    if (node->more->ref->path->n > 0) {
        dfl_decl *base = dfl_workload_refuse_training(sema, node->more->ref)
                             ? NULL
                             : dfl_decl_need(sema, decl->module, node->more->ref->path, DFL_AST_WORKLOAD);
        dfl_scope *inner = base != NULL ? dfl_scope_new(sema, NULL, base->module) : NULL;

        decl->base = base;
        if (base == NULL || !dfl_args_bind(sema, inner, base->node->more->params, node->more->ref, args, base, &missing) ||
            (missing != NULL && !dfl_args_need(sema, node->more->ref, missing)))
            ctx->draft->broken = true;
        else
            dfl_workload_elaborate_body(ctx, base, inner, node->more->ref->span);
    } else {
        dfl_dtype type;

        ctx->scope = args;
        if (dfl_workload_resolve_type(ctx, node->more->type, &type) && type.name != 0)
            ctx->type = type;
        ctx->scope = dfl_scope_new(sema, args, decl->module);
        ctx->body_scope = ctx->scope;
        ctx->body_prefix = ctx->prefix;
        ctx->workload->instances.at[ctx->instance].scope = ctx->scope;
        reserve_parts(ctx, node->body);
        dfl_workload_elaborate_statements(ctx, node->body);
    }
    dfl_decl_leave(sema);
}

/* Adds the instance of an `apply`. `*id` is set to the index of the instance. NULL after reporting that the name is
   taken. */
static dfl_scope_entry *add_instance(dfl_workload_context *ctx, dfl_ast_name name, const dfl_decl *decl, uint32_t *id,
                                     dfl_scope_entry **member)
{
    dfl_instance i = {
        .name = dfl_workload_full_name(ctx, name.sym), .span = name.span, .decl = decl, .parent = ctx->instance
    };
    dfl_scope_entry *entry = dfl_scope_declare(ctx->sema, ctx->scope, name.sym, name.span, DFL_ENTRY_INSTANCE);

    *member = NULL;
    if (ctx->family[0] != '\0') {
        const char *full = dfl_sema_text(ctx->sema, i.name);
        dfl_sym one = dfl_intern_z(ctx->sema->names, dfl_arena_printf(ctx->sema->arena, "%s%s",
                                                                      dfl_sema_text(ctx->sema, name.sym), ctx->family));

        /* later statements of the body, and other iterations, name the member "s[3]" */
        *member = dfl_scope_declare(ctx->sema, ctx->body_scope, one, name.span, DFL_ENTRY_INSTANCE);

        i.family = dfl_intern_text(ctx->sema->names, full, strlen(full) - strlen(ctx->family));
    }
    *id = (uint32_t)ctx->workload->instances.n;
    DFL_PUSH(ctx->sema->arena, &ctx->workload->instances, i);
    ctx->draft->broken |= entry == NULL;
    if (entry != NULL)
        entry->instance = *id;
    if (*member != NULL)
        (*member)->instance = *id;
    return entry;
}

/* Elaborates `apply D(...) as name { formal = tensor; }`. */
static void elaborate_apply(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_sema *sema = ctx->sema;
    dfl_decl *decl = dfl_workload_refuse_training(sema, node->more->ref)
                         ? NULL
                         : dfl_decl_need(sema, ctx->scope->module, node->more->ref->path, DFL_AST_WORKLOAD);
    dfl_symmap given = { 0 };
    const dfl_ast_node *missing;
    dfl_scope *args;
    dfl_workload_context inner = *ctx;
    dfl_scope_entry *entry, *member;

    for (const dfl_ast_node *bind = node->more->binds; bind != NULL; bind = bind->next)
        add_argument(ctx, &given, bind);
    entry = add_instance(ctx, node->name, decl, &inner.instance, &member);
    if (decl == NULL || entry == NULL) {
        ctx->draft->broken = ctx->draft->partial = true;
        return;
    }
    args = dfl_scope_new(sema, NULL, decl->module);
    entry->members = args;
    if (!dfl_args_bind(sema, args, decl->node->more->params, node->more->ref, ctx->scope, decl, &missing)) {
        ctx->draft->broken = ctx->draft->partial = true;
        return;
    }
    if (missing != NULL)
        ctx->draft->broken = !dfl_args_need(sema, node->more->ref, missing);
    inner.prefix = ctx->workload->instances.at[inner.instance].name;
    inner.family = "";
    inner.arguments = &given;
    inner.local = false;
    inner.forward = NULL;
    ctx->workload->instances.at[inner.instance].first_einsum = (uint32_t)ctx->draft->einsums.n;
    dfl_workload_elaborate_body(&inner, decl, args, node->more->ref->span);
    ctx->workload->instances.at[inner.instance].last_einsum = (uint32_t)ctx->draft->einsums.n;
    entry->members = inner.scope;
    if (member != NULL)
        member->members = inner.scope;
    check_given(ctx, &given, node, &inner);
}

/* Collects the names of the results of the einsums in the braces. */
static void find_forward_names(dfl_workload_context *ctx, const dfl_ast_node *items, dfl_symmap *names)
{
    for (const dfl_ast_node *node = items; node != NULL; node = node->next) {
        if (node->kind == DFL_AST_EINSUM && node->more->target->path->n == 1)
            dfl_symmap_put(ctx->sema->arena, names, node->more->target->path->text, ctx);
        if (node->kind == DFL_AST_IF) {
            find_forward_names(ctx, node->body, names);
            find_forward_names(ctx, node->more->otherwise, names);
        }
    }
}

/* Elaborates the statements in the braces of a `for` or `repeat`. */
static void elaborate_braces(dfl_workload_context *inner, const dfl_ast_node *items)
{
    dfl_forward_names forward = { .context = inner, .outer = inner->forward };

    find_forward_names(inner, items, &forward.names);
    inner->local = true;
    inner->forward = &forward;
    dfl_workload_elaborate_statements(inner, items);
    inner->forward = forward.outer;
}

/* Lowers one binding `X = Y` of `carrying`: Y, which an iteration computes, must have the shape and type of X, which
   the next iteration reads. */
static void add_carried(dfl_workload_context *ctx, dfl_workload_context *inner, const dfl_ast_node *bind)
{
    uint32_t from = dfl_workload_find_tensor(ctx, bind->path), to = DFL_NONE;

    if (from == DFL_NONE)
        dfl_workload_report_no_tensor(ctx, bind->path);
    if (bind->value == NULL || bind->value->kind != DFL_EXPR_PATH)
        return;
    to = dfl_workload_find_tensor(inner, bind->value->path);
    if (to == DFL_NONE)
        dfl_workload_report_no_tensor(inner, bind->value->path);
    if (from != DFL_NONE && to != DFL_NONE) {
        DFL_PUSH(ctx->sema->arena, &ctx->draft->carries,
                 ((dfl_carry){ .rank = inner->repeats[inner->n_repeats - 1], .from = from, .to = to, .downwards = false }));
        DFL_PUSH(ctx->sema->arena, &ctx->draft->claims,
                 ((dfl_shape_claim){ .tensor = to, .like = from, .formal = bind->path->text, .span = bind->value->span }));
    }
}

/* Elaborates `repeat N as name carrying a = b { ... }`: a rank `name` and one body whose tensors have this rank as
   leading dimension. */
static void elaborate_repeat(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_sema *sema = ctx->sema;
    dfl_workload_context inner = *ctx;
    dfl_scope_entry *entry;
    uint32_t rank = add_rank(ctx, node->name, node->value, &entry);
    uint32_t *repeats = DFL_NEW_ARRAY(sema->arena, uint32_t, ctx->n_repeats + 1);
    dfl_instance i = { .name = dfl_workload_full_name(ctx, node->name.sym), .span = node->name.span, .parent = ctx->instance };

    if (rank == DFL_NONE)
        return;
    for (uint32_t k = 0; k < ctx->n_repeats; k++)
        repeats[k] = ctx->repeats[k];
    repeats[ctx->n_repeats] = rank;
    inner.repeats = repeats;
    inner.n_repeats = ctx->n_repeats + 1;
    inner.scope = dfl_scope_new(sema, ctx->scope, ctx->scope->module);
    inner.prefix = i.name;
    inner.family = "";
    inner.instance = (uint32_t)ctx->workload->instances.n;
    i.scope = inner.scope;
    i.first_einsum = (uint32_t)ctx->draft->einsums.n;
    entry->members = inner.scope;
    entry->instance = inner.instance;
    DFL_PUSH(sema->arena, &ctx->workload->instances, i);
    elaborate_braces(&inner, node->body);
    ctx->workload->instances.at[inner.instance].last_einsum = (uint32_t)ctx->draft->einsums.n;
    for (const dfl_ast_node *bind = node->more->binds; bind != NULL; bind = bind->next)
        add_carried(ctx, &inner, bind);
}

/* The suffix of names for a value of a `for`: "[3]", after the suffix of the enclosing loops. */
static const char *family_suffix(dfl_workload_context *ctx, const dfl_value *v)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, ctx->sema->arena);
    dfl_strbuf_printf(&out, "%s[", ctx->family);
    dfl_quantity_print(&out, v->quantity);
    dfl_strbuf_char(&out, ']');
    return out.text;
}

/* Counts an iteration of a `for` of the workload. False after the limit on all of its iterations, which is reported once. */
static bool count_iteration(dfl_workload_context *ctx, dfl_span span)
{
    if (ctx->workload->iterations++ < DFL_SEMA_MAX_ITERATIONS)
        return true;
    if (!ctx->draft->full)
        dfl_report(ctx->sema->sink, DFL_LIMIT_COUNT, span, "the `for` loops of workload `%s` have more than %d iterations",
                   dfl_sema_text(ctx->sema, ctx->draft->name), DFL_SEMA_MAX_ITERATIONS);
    ctx->draft->full = ctx->draft->broken = ctx->draft->partial = true;
    return false;
}

/* Elaborates `for k in SET { ... }`: the braces once per value. */
static void elaborate_for(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_values values = { 0 };
    bool unknown;

    if (!dfl_eval_set(ctx->sema, ctx->scope, node->more->domain, &values, &unknown)) {
        ctx->draft->partial = true;
        ctx->draft->unsized |= unknown;
        ctx->draft->broken |= !unknown;
        return;
    }
    for (size_t i = 0; i < values.n; i++) {
        dfl_workload_context inner = *ctx;

        if (!count_iteration(ctx, node->more->domain->span) || !can_grow(ctx) || ctx->draft->broken)
            break;
        inner.scope = dfl_scope_new(ctx->sema, ctx->scope, ctx->scope->module);
        inner.family = family_suffix(ctx, &values.at[i]);
        dfl_scope_declare(ctx->sema, inner.scope, node->name.sym, node->name.span, DFL_ENTRY_VALUE)->value = values.at[i];
        elaborate_braces(&inner, node->body);
    }
}

/* Elaborates `if CONDITION { ... } else { ... }`. */
static void elaborate_if(dfl_workload_context *ctx, const dfl_ast_node *node)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, node->value);

    if (v.kind == DFL_VALUE_BOOL) {
        dfl_workload_elaborate_statements(ctx, v.truth ? node->body : node->more->otherwise);
        return;
    }
    ctx->draft->partial = true;
    ctx->draft->unsized |= v.kind == DFL_VALUE_UNKNOWN;
    ctx->draft->broken |= v.kind != DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_QUANTITY || v.kind == DFL_VALUE_STRING)
        dfl_report(ctx->sema->sink, DFL_EXPR_TYPE, node->value->span, "expected a condition");
}

void dfl_workload_elaborate_statements(dfl_workload_context *ctx, const dfl_ast_node *items)
{
    dfl_scope_entry *unused;
    bool after_ranks = false, on_line = false;
    uint32_t before = 0;

    for (const dfl_ast_node *node = items; node != NULL && can_grow(ctx); node = node->next) {
        if (node->kind == DFL_AST_EINSUM && lacks_keyword(ctx, node, DFL_ASSIGN_NAMED)) {
            add_with_wrong_keyword(ctx, node);
            continue;
        }
        if (node->kind == DFL_AST_EINSUM && lacks_keyword(ctx, node, DFL_ASSIGN_DEFINE)) {
            on_line = on_line && is_one_line(ctx, before, node->span.start);
            add_without_keyword(ctx, node, after_ranks, on_line);
            before = node->span.end;
            continue;
        }
        after_ranks = on_line = node->kind == DFL_AST_RANKS;
        before = node->span.end;
        switch ((int)node->kind) {
        case DFL_AST_RANKS:
            for (const dfl_ast_node *r = node->items; r != NULL; r = r->next)
                (void)add_rank(ctx, r->name, r->value, &unused);
            break;
        case DFL_AST_TENSORS: dfl_workload_elaborate_tensors(ctx, node); break;
        case DFL_AST_EINSUM:  dfl_workload_elaborate_einsum(ctx, node); break;
        case DFL_AST_APPLY:   elaborate_apply(ctx, node); break;
        case DFL_AST_REPEAT:  elaborate_repeat(ctx, node); break;
        case DFL_AST_FOR:     elaborate_for(ctx, node); break;
        case DFL_AST_IF:      elaborate_if(ctx, node); break;
        case DFL_AST_LET:
        case DFL_AST_PARAM:   add_constant(ctx, node); break;
        case DFL_AST_CHECK:
            if (ctx->instance == 0)
                DFL_PUSH(ctx->sema->arena, &ctx->workload->checks, ((dfl_scoped_check){ node, ctx->scope }));
            break;
        default:
            break;
        }
    }
}
