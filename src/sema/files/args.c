/* Parameters and arguments. */
#include "sema/files/room.h"

static const dfl_ast_node *param_at(const dfl_ast_node *params, uint32_t position)
{
    while (params != NULL && position-- > 0)
        params = params->next;
    return params;
}

/* By name: along the list when it is short, else through a table that is made once for the reference. */
static const dfl_ast_node *param_named(dfl_sema *s, const dfl_ast_node *params, dfl_sym name, uint32_t n_args,
                                       dfl_symmap *table)
{
    if (n_args < 8) {
        while (params != NULL && params->name.sym != name)
            params = params->next;
        return params;
    }
    if (table->items.n == 0)
        for (const dfl_ast_node *p = params; p != NULL; p = p->next)
            dfl_symmap_put(s->arena, table, p->name.sym, (void *)(uintptr_t)p);
    return dfl_symmap_get(table, name);
}

static void report_unknown(dfl_sema *s, const dfl_ast_node *params, const dfl_expr *a, const dfl_decl *owner)
{
    DFL_VEC(dfl_sym) known = { 0 };
    dfl_diag *d = dfl_report(s->sink, DFL_ARGUMENT_UNKNOWN, a->label.span, "`%s` has no parameter `%s`",
                             dfl_sema_text(s, owner->name), dfl_sema_text(s, a->label.sym));
    dfl_sym near;

    for (const dfl_ast_node *p = dfl_sink_drops(s->sink) ? NULL : params; p != NULL; p = p->next)
        DFL_PUSH(s->arena, &known, p->name.sym);
    near = dfl_suggest(s->names, dfl_sema_text(s, a->label.sym), known.at, known.n);
    dfl_diag_label(s->sink, d, owner->node->name.span, "declared here");
    if (near != 0)
        dfl_diag_fix(s->sink, d, a->label.span, dfl_sema_text(s, near), DFL_FIX_MAYBE);
}

/* The parameter that an argument is for; NULL after reporting. */
static const dfl_ast_node *target(dfl_sema *s, const dfl_ast_node *params, const dfl_expr *a, uint32_t position,
                                  const dfl_decl *owner, uint32_t n_args, dfl_symmap *table)
{
    const dfl_ast_node *p = a->label.sym != 0 ? param_named(s, params, a->label.sym, n_args, table)
                                              : param_at(params, position);

    if (p != NULL)
        return p;
    if (a->label.sym != 0) {
        report_unknown(s, params, a, owner);
    } else {
        dfl_diag *d = dfl_report(s->sink, DFL_ARGUMENT_TOO_MANY, a->span, "too many arguments for `%s`",
                                 dfl_sema_text(s, owner->name));

        dfl_diag_label(s->sink, d, owner->node->name.span, "declared here");
        dfl_diag_help(s->sink, d, params != NULL ? "remove it" : "write `%s` without parentheses",
                      dfl_sema_text(s, owner->name));
    }
    return NULL;
}

bool dfl_args_bind(dfl_sema *s, dfl_scope *scope, const dfl_ast_node *params, const dfl_ast_ref *ref, dfl_scope *from,
                   dfl_decl *owner, const dfl_ast_node **missing)
{
    const dfl_expr *args = ref != NULL ? ref->args : NULL;
    uint32_t position = 0;
    dfl_symmap table = { 0 }, given = { 0 };
    bool ok = true;

    *missing = NULL;
    for (const dfl_expr *a = args; a != NULL; a = a->next, position++) {
        const dfl_ast_node *p = target(s, params, a, position, owner, ref->n_args, &table);
        dfl_binding *b;

        if (p == NULL) {
            ok = false;
            continue;
        }
        b = dfl_scope_find_here(scope, p->name.sym);
        if (b != NULL) {
            const dfl_expr *first = dfl_symmap_get(&given, p->name.sym);

            dfl_scope_twice(s, a->label.sym != 0 ? a->label.span : a->span, first->span, "given",
                            dfl_sema_text(s, p->name.sym));
            ok = false;
            continue;
        }
        dfl_symmap_put(s->arena, &given, p->name.sym, (void *)(uintptr_t)a);
        b = dfl_scope_declare(s, scope, p->name.sym, p->name.span, DFL_NAMES_VALUE);
        b->value = dfl_eval(s, from, a);
        ok = ok && b->value.kind != DFL_VALUE_BAD;
    }
    for (const dfl_ast_node *p = params; p != NULL; p = p->next) {
        dfl_binding *b = dfl_scope_find_here(scope, p->name.sym);

        if (b != NULL && b->span.start == p->name.span.start)
            continue;
        b = dfl_scope_declare(s, scope, p->name.sym, p->name.span, DFL_NAMES_VALUE);
        ok = ok && b != NULL;
        if (b == NULL)
            continue;
        b->value = p->value != NULL ? dfl_eval(s, scope, p->value) : DFL_UNKNOWN;
        ok = ok && b->value.kind != DFL_VALUE_BAD;
        if (p->value == NULL && *missing == NULL)
            *missing = p;
    }
    return ok;
}

bool dfl_args_need(dfl_sema *s, const dfl_ast_ref *ref, const dfl_ast_node *missing)
{
    dfl_diag *d = dfl_report(s->sink, DFL_ARGUMENT_MISSING, ref->path->span, "`%s` needs a value for `%s`",
                             dfl_sema_text(s, ref->path->text), dfl_sema_text(s, missing->name.sym));

    dfl_diag_label(s->sink, d, missing->name.span, "declared here without a default");
    dfl_diag_help(s->sink, d, "write `%s(%s = ...)`", dfl_sema_text(s, ref->path->text),
                  dfl_sema_text(s, missing->name.sym));
    return false;
}
