/* The statements of a workload body. */
#include "sema/workload/workload.h"

#include <string.h>

static bool room_left(dfl_work *c, dfl_span span)
{
    dfl_build *b = c->b;
    bool einsums = b->einsums.n >= DFL_SEMA_MAX_PARTS;

    if (!einsums && b->ranks.n + b->tensors.n < 2 * DFL_SEMA_MAX_PARTS && c->w->instances.n < DFL_SEMA_MAX_PARTS)
        return dfl_sema_ok(c->s);
    if (!b->full)
        dfl_report(c->s->sink, DFL_LIMIT_COUNT, span, "workload `%s` has more than %d %s", dfl_sema_text(c->s, b->name),
                   einsums ? DFL_SEMA_MAX_PARTS : 2 * DFL_SEMA_MAX_PARTS, einsums ? "einsums" : "ranks and tensors");
    b->full = b->broken = b->open = true;
    return false;
}

/* ---- ranks and constants -------------------------------------------------------------------------------------- */

static uint32_t add_rank(dfl_work *c, dfl_ast_name name, const dfl_expr *value, dfl_binding **binding)
{
    dfl_build_rank r = { .name = dfl_work_full_name(c, name.sym), .span = name.span };
    int64_t extent;
    bool unknown;

    /* the value first: in `rank n = n` the right one is the parameter */
    if (dfl_eval_int(c->s, c->scope, value, "the size of a rank", 1, INT64_MAX / 2, &extent, &unknown))
        r.extent = extent;
    else if (unknown)
        c->b->unsized = true;
    else
        r.silent = c->b->broken = true;
    *binding = dfl_scope_declare(c->s, c->scope, name.sym, name.span, DFL_NAMES_RANK);
    if (*binding == NULL) {
        c->b->broken = true;
        return DFL_NONE;
    }
    (*binding)->id = (uint32_t)c->b->ranks.n;
    DFL_PUSH(c->s->arena, &c->b->ranks, r);
    return (*binding)->id;
}

static void let(dfl_work *c, const dfl_ast_node *n)
{
    dfl_value v = dfl_eval(c->s, c->scope, n->value);
    dfl_binding *b = dfl_scope_declare(c->s, c->scope, n->name.sym, n->name.span, DFL_NAMES_VALUE);

    c->b->broken |= b == NULL || v.kind == DFL_VALUE_BAD;
    if (b != NULL)
        b->value = v;
}

/* ---- apply ---------------------------------------------------------------------------------------------------- */

static void give(dfl_work *c, dfl_symmap *given, const dfl_ast_node *bind)
{
    dfl_given *g = bind->path->n == 1 ? dfl_symmap_get(given, bind->path->head->sym) : NULL;
    uint32_t tensor;

    if (bind->value == NULL || bind->path->n == 0)
        return;
    if (bind->value->kind != DFL_EXPR_PATH) {
        dfl_report(c->s->sink, DFL_EXPR_TYPE, bind->value->span, "expected the name of a tensor");
        c->b->broken = true;
        return;
    }
    tensor = dfl_work_find_tensor(c, bind->value->path);
    if (tensor == DFL_NONE)
        dfl_work_report_no_tensor(c, bind->value->path);
    if (g != NULL) {
        dfl_scope_twice(c->s, bind->path->span, g->span, "given", dfl_sema_text(c->s, bind->path->text));
        c->b->broken = true;
        return;
    }
    if (tensor == DFL_NONE)
        return;
    g = DFL_NEW(c->s->arena, dfl_given);
    *g = (dfl_given){ .tensor = tensor, .span = bind->value->span };
    dfl_symmap_put(c->s->arena, given, bind->path->text, g);
}

/* Every given tensor must be one of the body. */
static void check_given(dfl_work *c, const dfl_symmap *given, const dfl_ast_node *n, const dfl_work *inner)
{
    for (const dfl_ast_node *bind = n->more->binds; bind != NULL; bind = bind->next) {
        const dfl_given *g = dfl_symmap_get(given, bind->path->text);
        dfl_diag *d;
        dfl_sym near;

        if (g == NULL || g->used || c->b->open)
            continue;
        d = dfl_report(c->s->sink, DFL_ARGUMENT_UNKNOWN, bind->path->span, "`%s` has no tensor `%s`",
                       dfl_sema_text(c->s, n->more->ref->path->text), dfl_sema_text(c->s, bind->path->text));
        near = dfl_scope_suggest(c->s, inner->scope, bind->path->text, DFL_NAMES_TENSOR);
        if (near != 0)
            dfl_diag_fix(c->s->sink, d, bind->path->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
        c->b->broken = true;
    }
}

/* Most bodies are small and flat: room for just what they say. */
static void make_room(dfl_work *c, const dfl_ast_node *body)
{
    uint32_t einsums = 0, tensors = 0, ranks = 0;

    if (c->b->einsums.cap > 0 || c->instance != 0)
        return;
    for (const dfl_ast_node *n = body; n != NULL; n = n->next) {
        einsums += n->kind == DFL_AST_EINSUM;
        for (const dfl_ast_node *i = n->items; i != NULL; i = i->next) {
            tensors += n->kind == DFL_AST_TENSORS;
            ranks += n->kind == DFL_AST_RANKS;
        }
    }
    tensors += einsums;
    c->b->einsums.at = DFL_NEW_ARRAY(c->s->arena, dfl_build_einsum, einsums);
    c->b->einsums.cap = einsums;
    c->b->tensors.at = DFL_NEW_ARRAY(c->s->arena, dfl_build_tensor, tensors);
    c->b->tensors.cap = tensors;
    c->b->ranks.at = DFL_NEW_ARRAY(c->s->arena, dfl_build_rank, ranks);
    c->b->ranks.cap = ranks;
}

void dfl_work_apply_body(dfl_work *c, dfl_decl *decl, dfl_scope *args)
{
    const dfl_ast_node *n = decl->node, *missing;
    dfl_sema *s = c->s;

    if (!dfl_decl_enter(s, decl, "workloads")) {
        c->b->broken = true;
        return;
    }
    if (n->more->ref->path->n > 0) {
        dfl_decl *base = dfl_workload_refused(s, n->more->ref) ? NULL
                                                          : dfl_decl_need(s, decl->unit, n->more->ref->path, DFL_AST_WORKLOAD);
        dfl_scope *inner = base != NULL ? dfl_scope_new(s, NULL, base->unit) : NULL;

        decl->base = base;
        if (base == NULL || !dfl_args_bind(s, inner, base->node->more->params, n->more->ref, args, base, &missing) ||
            (missing != NULL && !dfl_args_need(s, n->more->ref, missing)))
            c->b->broken = true;
        else
            dfl_work_apply_body(c, base, inner);
    } else {
        dfl_dtype type;

        c->scope = args;
        if (dfl_work_type(c, n->more->type, &type) && type.name != 0)
            c->type = type;
        c->scope = dfl_scope_new(s, args, decl->unit);
        c->body_scope = c->scope;
        c->body_prefix = c->prefix;
        c->w->instances.at[c->instance].scope = c->scope;
        make_room(c, n->body);
        dfl_work_statements(c, n->body);
    }
    s->nesting--;
}

static dfl_binding *add_instance(dfl_work *c, dfl_ast_name name, const dfl_decl *decl, uint32_t *id)
{
    dfl_instance i = { .name = dfl_work_full_name(c, name.sym), .span = name.span, .decl = decl, .parent = c->instance };
    dfl_binding *b = dfl_scope_declare(c->s, c->scope, name.sym, name.span, DFL_NAMES_INSTANCE);

    if (c->family[0] != '\0') {
        const char *full = dfl_sema_text(c->s, i.name);

        i.family = dfl_intern_text(c->s->names, full, strlen(full) - strlen(c->family));
    }
    *id = (uint32_t)c->w->instances.n;
    DFL_PUSH(c->s->arena, &c->w->instances, i);
    c->b->broken |= b == NULL;
    if (b != NULL)
        b->body = *id;
    return b;
}

static void apply(dfl_work *c, const dfl_ast_node *n)
{
    dfl_sema *s = c->s;
    dfl_decl *decl = dfl_workload_refused(s, n->more->ref) ? NULL
                                                      : dfl_decl_need(s, c->scope->unit, n->more->ref->path, DFL_AST_WORKLOAD);
    dfl_symmap given = { 0 };
    const dfl_ast_node *missing;
    dfl_scope *args;
    dfl_work inner = *c;
    dfl_binding *b;

    for (const dfl_ast_node *bind = n->more->binds; bind != NULL; bind = bind->next)
        give(c, &given, bind);
    b = add_instance(c, n->name, decl, &inner.instance);
    if (decl == NULL || b == NULL) {
        c->b->broken = c->b->open = true;
        return;
    }
    args = dfl_scope_new(s, NULL, decl->unit);
    b->instance = args;
    if (!dfl_args_bind(s, args, decl->node->more->params, n->more->ref, c->scope, decl, &missing)) {
        c->b->broken = c->b->open = true;
        return;
    }
    if (missing != NULL)
        c->b->broken = !dfl_args_need(s, n->more->ref, missing);
    inner.prefix = c->w->instances.at[inner.instance].name;
    inner.family = "";
    inner.given = &given;
    inner.local = false;
    inner.pending = NULL;
    c->w->instances.at[inner.instance].first_einsum = (uint32_t)c->b->einsums.n;
    dfl_work_apply_body(&inner, decl, args);
    c->w->instances.at[inner.instance].last_einsum = (uint32_t)c->b->einsums.n;
    b->instance = inner.scope;
    check_given(c, &given, n, &inner);
}

static void find_pending(dfl_work *c, const dfl_ast_node *items, dfl_symmap *names)
{
    for (const dfl_ast_node *n = items; n != NULL; n = n->next) {
        if (n->kind == DFL_AST_EINSUM && n->more->target->path->n == 1)
            dfl_symmap_put(c->s->arena, names, n->more->target->path->text, c);
        if (n->kind == DFL_AST_IF) {
            find_pending(c, n->body, names);
            find_pending(c, n->more->otherwise, names);
        }
    }
}

static void local_statements(dfl_work *inner, const dfl_ast_node *items)
{
    dfl_pending pending = { .work = inner, .outer = inner->pending };

    find_pending(inner, items, &pending.names);
    inner->local = true;
    inner->pending = &pending;
    dfl_work_statements(inner, items);
    inner->pending = pending.outer;
}

/* ---- repeat --------------------------------------------------------------------------------------------------- */

static void carry(dfl_work *c, dfl_work *inner, const dfl_ast_node *bind)
{
    uint32_t from = dfl_work_find_tensor(c, bind->path), to = DFL_NONE;

    c->b->carries = true;
    if (from == DFL_NONE)
        dfl_work_report_no_tensor(c, bind->path);
    if (bind->value == NULL || bind->value->kind != DFL_EXPR_PATH)
        return;
    to = dfl_work_find_tensor(inner, bind->value->path);
    if (to == DFL_NONE)
        dfl_work_report_no_tensor(inner, bind->value->path);
    if (from != DFL_NONE && to != DFL_NONE)
        DFL_PUSH(c->s->arena, &c->b->claims,
                 ((dfl_build_claim){ .tensor = to, .like = from, .formal = bind->path->text, .span = bind->value->span }));
}

static void repeat(dfl_work *c, const dfl_ast_node *n)
{
    dfl_sema *s = c->s;
    dfl_work inner = *c;
    dfl_binding *b;
    uint32_t rank = add_rank(c, n->name, n->value, &b);
    uint32_t *repeats = DFL_NEW_ARRAY(s->arena, uint32_t, c->n_repeats + 1);
    dfl_instance i = { .name = dfl_work_full_name(c, n->name.sym), .span = n->name.span, .parent = c->instance };

    if (rank == DFL_NONE)
        return;
    for (uint32_t k = 0; k < c->n_repeats; k++)
        repeats[k] = c->repeats[k];
    repeats[c->n_repeats] = rank;
    inner.repeats = repeats;
    inner.n_repeats = c->n_repeats + 1;
    inner.scope = dfl_scope_new(s, c->scope, c->scope->unit);
    inner.prefix = i.name;
    inner.family = "";
    inner.instance = (uint32_t)c->w->instances.n;
    i.scope = inner.scope;
    i.first_einsum = (uint32_t)c->b->einsums.n;
    b->instance = inner.scope;
    b->body = inner.instance;
    DFL_PUSH(s->arena, &c->w->instances, i);
    local_statements(&inner, n->body);
    c->w->instances.at[inner.instance].last_einsum = (uint32_t)c->b->einsums.n;
    for (const dfl_ast_node *bind = n->more->binds; bind != NULL; bind = bind->next)
        carry(c, &inner, bind);
}

/* ---- for and if ----------------------------------------------------------------------------------------------- */

static const char *family_of(dfl_work *c, const dfl_value *v)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, c->s->arena);
    dfl_strbuf_printf(&out, "%s[", c->family);
    dfl_quantity_print(&out, v->quantity);
    dfl_strbuf_char(&out, ']');
    return out.text;
}

static bool time_left(dfl_work *c, dfl_span span)
{
    if (c->w->iterations++ < DFL_SEMA_MAX_ITERATIONS)
        return true;
    if (!c->b->full)
        dfl_report(c->s->sink, DFL_LIMIT_COUNT, span, "the `for` loops of workload `%s` have more than %d iterations",
                   dfl_sema_text(c->s, c->b->name), DFL_SEMA_MAX_ITERATIONS);
    c->b->full = c->b->broken = c->b->open = true;
    return false;
}

static void loop(dfl_work *c, const dfl_ast_node *n)
{
    dfl_values values = { 0 };
    bool unknown;

    if (!dfl_eval_domain(c->s, c->scope, n->more->domain, &values, &unknown)) {
        c->b->open = true;
        c->b->unsized |= unknown;
        c->b->broken |= !unknown;
        return;
    }
    for (size_t i = 0; i < values.n && time_left(c, n->more->domain->span) && room_left(c, n->span) && !c->b->broken; i++) {
        dfl_work inner = *c;

        inner.scope = dfl_scope_new(c->s, c->scope, c->scope->unit);
        inner.family = family_of(c, &values.at[i]);
        dfl_scope_declare(c->s, inner.scope, n->name.sym, n->name.span, DFL_NAMES_VALUE)->value = values.at[i];
        local_statements(&inner, n->body);
    }
}

static void branch(dfl_work *c, const dfl_ast_node *n)
{
    dfl_value v = dfl_eval(c->s, c->scope, n->value);

    if (v.kind == DFL_VALUE_BOOL) {
        dfl_work_statements(c, v.truth ? n->body : n->more->otherwise);
        return;
    }
    c->b->open = true;
    c->b->unsized |= v.kind == DFL_VALUE_UNKNOWN;
    c->b->broken |= v.kind != DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_QUANTITY || v.kind == DFL_VALUE_STRING)
        dfl_report(c->s->sink, DFL_EXPR_TYPE, n->value->span, "expected a condition");
}

void dfl_work_statements(dfl_work *c, const dfl_ast_node *items)
{
    dfl_binding *unused;

    for (const dfl_ast_node *n = items; n != NULL && room_left(c, n->span); n = n->next) {
        switch ((int)n->kind) {
        case DFL_AST_RANKS:
            for (const dfl_ast_node *r = n->items; r != NULL; r = r->next)
                (void)add_rank(c, r->name, r->value, &unused);
            break;
        case DFL_AST_TENSORS: dfl_work_tensors(c, n); break;
        case DFL_AST_EINSUM:  dfl_work_einsum(c, n); break;
        case DFL_AST_APPLY:   apply(c, n); break;
        case DFL_AST_REPEAT:  repeat(c, n); break;
        case DFL_AST_FOR:     loop(c, n); break;
        case DFL_AST_IF:      branch(c, n); break;
        case DFL_AST_LET:
        case DFL_AST_PARAM:   let(c, n); break;
        case DFL_AST_CHECK:
            if (c->instance == 0)
                DFL_PUSH(c->s->arena, &c->w->checks, ((dfl_work_check){ n, c->scope }));
            break;
        default:
            break;
        }
    }
}
