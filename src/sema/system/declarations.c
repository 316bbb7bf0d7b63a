/* The declarations of a system body, and systems with values for their parameters. */
#include "sema/system/machine.h"

#include <string.h>

#include "sema/files/made.h"

static const char *text(const dfl_setup *c, dfl_sym sym)
{
    return dfl_sema_text(c->s, sym);
}

static dfl_sym full_name(dfl_setup *c, dfl_sym name)
{
    if (c->prefix == 0 || name == 0)
        return name;
    return dfl_intern_z(c->s->names, dfl_arena_printf(c->s->arena, "%s.%s", text(c, c->prefix), text(c, name)));
}

/* Adds a part; two parts of a kind with the same full name are an error. */
static uint32_t add(dfl_setup *c, dfl_part_kind kind, dfl_ast_name name)
{
    dfl_sym full = full_name(c, name.sym);
    dfl_span *old = full == 0 ? NULL : dfl_symmap_get(&c->sys->by_name[kind], full), *span;
    uint32_t part;

    if (old != NULL) {
        dfl_diag *d = dfl_scope_twice(c->s, name.span, *old, "declared", text(c, full));

        if (c->sys->parts.at[c->element].used_system)
            dfl_diag_help(c->s->sink, d, "give the used system a name: `use ... as part`");
        c->sys->broken = true;
    }
    part = dfl_sys_add(c->sys, kind, full, name.span, c->element);
    if (full != 0 && old == NULL) {
        span = DFL_NEW(c->s->arena, dfl_span);
        *span = name.span;
        dfl_symmap_put(c->s->arena, &c->sys->by_name[kind], full, span);
    }
    return part;
}

/* ---- networks and arrays -------------------------------------------------------------------------------------- */

static const struct { const char *kind, *argument; } network_kinds[] = {
    { "bus", NULL }, { "crossbar", NULL }, { "mesh", NULL }, { "torus", NULL }, { "ring", NULL }, { "switch", NULL },
    { "fully_connected", NULL }, { "fat_tree", "levels" }, { "dragonfly", "groups" },
};

enum { N_NETWORK_KINDS = sizeof network_kinds / sizeof network_kinds[0] };

static void check_network_kind(dfl_setup *c, uint32_t network, const dfl_ast_ref *ref)
{
    dfl_sym known[N_NETWORK_KINDS], near;
    dfl_diag *d;
    int64_t value;
    bool unknown;

    for (size_t i = 0; i < N_NETWORK_KINDS; i++) {
        known[i] = dfl_intern_z(c->s->names, network_kinds[i].kind);
        if (known[i] != ref->path->text)
            continue;
        for (const dfl_expr *a = ref->args; a != NULL; a = a->next) {
            const char *argument = network_kinds[i].argument;

            if (argument == NULL || (a->label.sym != 0 && strcmp(text(c, a->label.sym), argument) != 0)) {
                dfl_report(c->s->sink, DFL_ARGUMENT_UNKNOWN, a->label.sym != 0 ? a->label.span : a->span,
                           "network kind `%s` has no such argument", network_kinds[i].kind);
                c->sys->broken = true;
            } else if (!dfl_eval_int(c->s, c->scope, a, argument, 1, INT32_MAX, &value, &unknown)) {
                c->sys->broken |= !unknown;
            } else {
                c->sys->parts.at[network].argument = argument;
                c->sys->parts.at[network].argument_span = a->span;
            }
        }
        return;
    }
    d = dfl_report(c->s->sink, DFL_NAME_UNKNOWN, ref->path->span, "no network kind `%s`", text(c, ref->path->text));
    near = dfl_suggest(c->s->names, text(c, ref->path->text), known, N_NETWORK_KINDS);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, ref->path->span, text(c, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(c->s->sink, d, "kinds are bus, crossbar, mesh, torus, ring, switch, fully_connected, fat_tree, "
                      "dragonfly");
    c->sys->broken = true;
}

static void network(dfl_setup *c, const dfl_ast_node *n)
{
    uint32_t part = add(c, DFL_PART_NETWORK, n->name);
    dfl_binding *b = dfl_scope_find_here(c->scope, n->name.sym);

    check_network_kind(c, part, n->more->ref);
    c->sys->parts.at[part].network_kind = n->more->ref->path->text;
    if (b == NULL)
        b = dfl_scope_declare(c->s, c->scope, n->name.sym, n->name.span, DFL_NAMES_PART);
    if (b->kind == DFL_NAMES_PART)
        b->id = part;
    dfl_setup_attributes(c, part, n->body);
}

/* The network that `over` names, declared before in this or an enclosing element. */
static uint32_t find_network(dfl_setup *c, dfl_ast_name name)
{
    const dfl_binding *b = dfl_scope_find(c->scope, name.sym);
    dfl_diag *d;
    dfl_sym near;

    if (name.sym == 0)
        return DFL_NONE;
    if (b != NULL && b->kind == DFL_NAMES_PART)
        return b->id;
    d = dfl_report(c->s->sink, DFL_NAME_UNKNOWN, name.span, "no network `%s`", text(c, name.sym));
    near = dfl_scope_suggest(c->s, c->scope, name.sym, DFL_NAMES_PART);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, name.span, text(c, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(c->s->sink, d, "declare it before the array: `network %s = bus { }`", text(c, name.sym));
    c->sys->broken = true;
    return DFL_NONE;
}

static void array(dfl_setup *c, const dfl_ast_node *n)
{
    uint32_t net = find_network(c, n->more->over), first = c->sys->count[DFL_PART_AXIS], n_axes = 0;
    uint32_t first_part = (uint32_t)c->sys->parts.n;
    dfl_setup inner = *c;

    for (const dfl_ast_node *x = n->items; x != NULL; x = x->next, n_axes++) {
        uint32_t part = add(c, DFL_PART_AXIS, x->name);
        int64_t size;
        bool unknown;

        if (dfl_eval_int(c->s, c->scope, x->value, "the size of an axis", 1, INT32_MAX, &size, &unknown))
            c->sys->parts.at[part].size = size;
        c->sys->unsized |= unknown;
        c->sys->broken |= !unknown && c->sys->parts.at[part].size == 0;
        c->sys->parts.at[part].network = net;
        c->sys->parts.at[part].silent = net == DFL_NONE && n->more->over.sym != 0;
    }
    inner.element = dfl_sys_add(c->sys, DFL_PART_ELEMENT, 0, n->span, c->element);
    inner.scope = dfl_scope_new(c->s, c->scope, c->scope->unit);
    c->sys->parts.at[inner.element].first_axis = first;
    c->sys->parts.at[inner.element].n_axes = n_axes;
    for (uint32_t i = 0; i < n_axes; i++)
        c->sys->parts.at[first_part + i].multiplies = inner.element;
    dfl_setup_statements(&inner, n->body);
}

static void element(dfl_setup *c, const dfl_ast_node *n)
{
    dfl_setup inner = *c;

    inner.element = add(c, DFL_PART_ELEMENT, n->name);
    c->sys->parts.at[inner.element].side = true;
    inner.scope = dfl_scope_new(c->s, c->scope, c->scope->unit);
    dfl_setup_statements(&inner, n->body);
}

/* ---- use ------------------------------------------------------------------------------------------------------ */

static void use(dfl_setup *c, const dfl_ast_node *n)
{
    dfl_decl *decl = dfl_decl_need(c->s, c->scope->unit, n->more->ref->path, DFL_AST_SYSTEM);
    dfl_ast_name alias = n->more->alias;
    const dfl_ast_node *missing;
    dfl_setup inner = *c;
    dfl_scope *args;
    uint32_t first;

    if (decl == NULL) {
        c->sys->broken = true;
        return;
    }
    if (alias.sym == 0)
        alias.span = n->more->ref->span;
    inner.element = add(c, DFL_PART_ELEMENT, alias);
    c->sys->parts.at[inner.element].used_system = true;
    first = inner.element;
    args = dfl_scope_new(c->s, NULL, decl->unit);
    if (!dfl_args_bind(c->s, args, decl->node->more->params, n->more->ref, c->scope, decl, &missing)) {
        c->sys->broken = true;
        return;
    }
    if (missing != NULL)
        c->sys->broken = !dfl_args_need(c->s, n->more->ref, missing);
    if (alias.sym != 0)
        inner.prefix = full_name(c, alias.sym);
    dfl_setup_apply_body(&inner, decl, args);
    inner.scope = c->scope;
    dfl_setup_overrides(&inner, n->more->binds, inner.element, first);
}

void dfl_setup_statements(dfl_setup *c, const dfl_ast_node *items)
{
    const dfl_ast_name none = { 0 };

    for (const dfl_ast_node *n = items; n != NULL && dfl_sema_ok(c->s); n = n->next) {
        if (c->sys->parts.n > 2 * DFL_SEMA_MAX_PARTS) {
            dfl_report(c->s->sink, DFL_LIMIT_COUNT, n->span, "system `%s` has more than %d parts", text(c, c->sys->name),
                       2 * DFL_SEMA_MAX_PARTS);
            c->sys->broken = true;
            return;
        }
        switch ((int)n->kind) {
        case DFL_AST_ATTR:
            dfl_setup_attribute(c, c->element, none, n->name, n->args, 0);
            break;
        case DFL_AST_ATTRS:
            dfl_attr_report_unknown(c->sys, text(c, n->name.sym), DFL_PART_ELEMENT, n->name.span);
            break;
        case DFL_AST_MEMORY:
            dfl_setup_attributes(c, add(c, DFL_PART_MEMORY, n->name), n->body);
            break;
        case DFL_AST_COMPUTE:
            dfl_setup_attributes(c, add(c, DFL_PART_COMPUTE, n->name), n->body);
            break;
        case DFL_AST_NETWORK: network(c, n); break;
        case DFL_AST_ARRAY:   array(c, n); break;
        case DFL_AST_ELEMENT: element(c, n); break;
        case DFL_AST_USE:     use(c, n); break;
        default:              break;
        }
    }
}

void dfl_setup_apply_body(dfl_setup *c, dfl_decl *decl, dfl_scope *args)
{
    const dfl_ast_node *n = decl->node, *missing;
    uint32_t first = (uint32_t)c->sys->parts.n;
    dfl_sema *s = c->s;

    if (!dfl_decl_enter(s, decl, "systems")) {
        c->sys->broken = true;
        return;
    }
    if (n->more->ref->path->n > 0) {
        dfl_decl *base = dfl_decl_need(s, decl->unit, n->more->ref->path, DFL_AST_SYSTEM);
        dfl_scope *inner = base != NULL ? dfl_scope_new(s, NULL, base->unit) : NULL;

        decl->base = base;
        if (base == NULL || !dfl_args_bind(s, inner, base->node->more->params, n->more->ref, args, base, &missing) ||
            (missing != NULL && !dfl_args_need(s, n->more->ref, missing))) {
            c->sys->broken = true;
        } else {
            dfl_setup_apply_body(c, base, inner);
            c->scope = args;
            dfl_setup_overrides(c, n->more->binds, c->element, first);
        }
    } else {
        c->scope = dfl_scope_new(s, args, decl->unit);
        dfl_setup_statements(c, n->body);
    }
    s->nesting--;
}

/* ---- systems with values -------------------------------------------------------------------------------------- */

typedef struct { dfl_sema *s; dfl_unit *unit; } op_context;

static bool known_op(void *context, dfl_sym op)
{
    op_context *c = context;

    return dfl_decl_op(c->s, c->unit, op) != NULL;
}

static void *instantiate(dfl_sema *s, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                         const dfl_lint_levels *lints, bool *broken)
{
    dfl_machine *m = DFL_NEW(s->arena, dfl_machine);
    dfl_setup c = { .s = s, .sys = &m->sys };
    op_context context = { s, decl->unit };

    m->decl = decl;
    m->args = args;
    m->missing = missing;
    m->sys = (dfl_sys){ .arena = s->arena, .sink = s->sink, .names = s->names, .new_names = s->names, .lints = lints,
                        .lint_range = dfl_sema_root_range(s),
                        .name = decl->name, .span = decl->node->name.span, .lenient = s->syntax_errors };
    c.element = dfl_sys_add(&m->sys, DFL_PART_ELEMENT, 0, decl->node->name.span, 0);
    dfl_setup_apply_body(&c, decl, args);
    m->system = dfl_sys_finish(&m->sys, known_op, &context);
    m->broken = *broken = m->sys.broken;
    return m;
}

dfl_machine *dfl_machine_default(dfl_sema *s, dfl_decl *decl)
{
    return dfl_made_default(s, decl, instantiate);
}

dfl_machine *dfl_machine_of(dfl_sema *s, dfl_unit *unit, dfl_scope *from, const dfl_ast_ref *ref)
{
    return dfl_made_of(s, dfl_decl_need(s, unit, ref->path, DFL_AST_SYSTEM), from, ref, instantiate);
}
