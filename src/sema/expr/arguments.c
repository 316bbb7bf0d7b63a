#include "sema/expr/arguments.h"

#include "sema/expr/eval.h"
#include "support/limits.h"
#include "support/strbuf.h"

/* The parameter at a position, or NULL. */
static const dfl_ast_node *param_at(const dfl_ast_node *params, uint32_t position)
{
    while (params != NULL && position-- > 0)
        params = params->next;
    return params;
}

/* The parameter named `name`, or NULL. For a reference with many arguments, the first call fills `table`. */
static const dfl_ast_node *param_named(dfl_sema *sema, const dfl_ast_node *params, dfl_sym name, uint32_t n_args,
                                       dfl_symmap *table)
{
    if (n_args < DFL_SEMA_TABLE_ARGUMENTS) {
        while (params != NULL && params->name.sym != name)
            params = params->next;
        return params;
    }
    if (table->by_key.n == 0)
        for (const dfl_ast_node *p = params; p != NULL; p = p->next)
            dfl_symmap_put(sema->arena, table, p->name.sym, (void *)(uintptr_t)p);
    return dfl_symmap_get(table, name);
}

/* Adds a help line with the names of the parameters. */
static void list_params(dfl_sema *sema, dfl_diag *d, const dfl_sym *names, size_t n)
{
    enum { MOST = 8 };
    dfl_strbuf text;

    if (dfl_sink_drops(sema->sink))
        return;
    dfl_strbuf_init(&text, sema->arena);
    for (size_t i = 0; i < n && i < MOST; i++)
        dfl_strbuf_printf(&text, "%s`%s`", i == 0 ? "" : ", ", dfl_sema_text(sema, names[i]));
    if (n == 0)
        dfl_diag_help(sema->sink, d, "it has no parameters");
    else
        dfl_diag_help(sema->sink, d, n == 1 ? "its parameter is %s%s" : "its parameters are %s%s", text.text,
                      n > MOST ? ", ..." : "");
}

/* Reports a named argument without a parameter of its name. */
static void report_unknown(dfl_sema *sema, const dfl_ast_node *params, const dfl_expr *arg, const dfl_decl *owner)
{
    DFL_VEC(dfl_sym) known = { 0 };
    dfl_diag *d = dfl_report(sema->sink, DFL_ARGUMENT_UNKNOWN, arg->label.span, "`%s` has no parameter `%s`",
                             dfl_sema_text(sema, owner->name), dfl_sema_text(sema, arg->label.sym));
    dfl_sym near;

    for (const dfl_ast_node *p = dfl_sink_drops(sema->sink) ? NULL : params; p != NULL; p = p->next)
        DFL_PUSH(sema->arena, &known, p->name.sym);
    near = dfl_suggest(sema->names, dfl_sema_text(sema, arg->label.sym), known.at, known.n);
    dfl_diag_label(sema->sink, d, owner->node->name.span, "declared here");
    if (near != 0)
        dfl_diag_fix(sema->sink, d, arg->label.span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else
        list_params(sema, d, known.at, known.n);
}

/* The parameter that an argument sets; NULL after reporting. */
static const dfl_ast_node *find_param(dfl_sema *sema, const dfl_ast_node *params, const dfl_expr *arg, uint32_t position,
                                      const dfl_decl *owner, uint32_t n_args, dfl_symmap *table)
{
    const dfl_ast_node *p = arg->label.sym != 0 ? param_named(sema, params, arg->label.sym, n_args, table)
                                              : param_at(params, position);

    if (p != NULL)
        return p;
    if (arg->label.sym != 0) {
        report_unknown(sema, params, arg, owner);
    } else {
        dfl_diag *d = dfl_report(sema->sink, DFL_ARGUMENT_TOO_MANY, arg->span, "too many arguments for `%s`",
                                 dfl_sema_text(sema, owner->name));

        dfl_diag_label(sema->sink, d, owner->node->name.span, "declared here");
        dfl_diag_help(sema->sink, d, params != NULL ? "remove it" : "write `%s` without parentheses",
                      dfl_sema_text(sema, owner->name));
    }
    return NULL;
}

/* Whether an argument is the name of a parameter of `owner` that names nothing at the place of the reference: `w(M = 64, N)`.
   Reports this. */
static bool is_bare_parameter(dfl_sema *sema, const dfl_ast_node *params, const dfl_expr *arg, dfl_scope *from,
                              const dfl_decl *owner)
{
    bool broken = false;
    dfl_diag *d;

    if (arg->label.sym != 0 || arg->kind != DFL_EXPR_PATH || arg->path->n != 1)
        return false;
    while (params != NULL && params->name.sym != arg->path->head->sym)
        params = params->next;
    if (params == NULL || dfl_scope_find(from, arg->path->head->sym) != NULL ||
        dfl_decl_find(sema, from->module, arg->path, &broken) != NULL || broken)
        return false;
    d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, arg->span, "unknown name `%s`", dfl_sema_text(sema, params->name.sym));
    dfl_diag_label(sema->sink, d, params->name.span, "`%s` has a parameter of this name",
                   dfl_sema_text(sema, owner->name));
    dfl_diag_help(sema->sink, d, params->value != NULL ? "give it a value, `%s = ...`, or leave it out: it has a default"
                                                       : "give it a value: `%s = ...`",
                  dfl_sema_text(sema, params->name.sym));
    return true;
}

bool dfl_args_bind(dfl_sema *sema, dfl_scope *scope, const dfl_ast_node *params, const dfl_ast_ref *ref, dfl_scope *from,
                   dfl_decl *owner, const dfl_ast_node **missing)
{
    const dfl_expr *args = ref != NULL ? ref->args : NULL;
    uint32_t position = 0;
    dfl_symmap table = { 0 }, given = { 0 };
    bool ok = true;

    *missing = NULL;
    for (const dfl_expr *arg = args; arg != NULL; arg = arg->next, position++) {
        const dfl_ast_node *p = find_param(sema, params, arg, position, owner, ref->n_args, &table);
        dfl_scope_entry *entry;

        if (p == NULL) {
            ok = false;
            continue;
        }
        entry = dfl_scope_find_here(scope, p->name.sym);
        if (entry != NULL) {
            const dfl_expr *first = dfl_symmap_get(&given, p->name.sym);

            dfl_scope_report_twice(sema, arg->label.sym != 0 ? arg->label.span : arg->span, first->span, "given",
                                   dfl_sema_text(sema, p->name.sym));
            ok = false;
            continue;
        }
        dfl_symmap_put(sema->arena, &given, p->name.sym, (void *)(uintptr_t)arg);
        entry = dfl_scope_declare(sema, scope, p->name.sym, p->name.span, DFL_ENTRY_VALUE);
        entry->value = is_bare_parameter(sema, params, arg, from, owner) ? DFL_BAD : dfl_eval(sema, from, arg);
        ok = ok && entry->value.kind != DFL_VALUE_BAD;
    }
    for (const dfl_ast_node *p = params; p != NULL; p = p->next) {
        dfl_scope_entry *entry = dfl_scope_find_here(scope, p->name.sym);

        if (entry != NULL && entry->span.start == p->name.span.start)
            continue;
        entry = dfl_scope_declare(sema, scope, p->name.sym, p->name.span, DFL_ENTRY_VALUE);
        ok = ok && entry != NULL;
        if (entry == NULL)
            continue;
        entry->value = p->value != NULL ? dfl_eval(sema, scope, p->value) : DFL_UNKNOWN;
        ok = ok && entry->value.kind != DFL_VALUE_BAD;
        if (p->value == NULL && *missing == NULL)
            *missing = p;
    }
    return ok;
}

bool dfl_args_need(dfl_sema *sema, const dfl_ast_ref *ref, const dfl_ast_node *missing)
{
    dfl_diag *d = dfl_report(sema->sink, DFL_ARGUMENT_MISSING, ref->path->span, "`%s` needs a value for `%s`",
                             dfl_sema_text(sema, ref->path->text), dfl_sema_text(sema, missing->name.sym));

    dfl_diag_label(sema->sink, d, missing->name.span, "declared here without a default");
    dfl_diag_help(sema->sink, d, "write `%s(%s = ...)`", dfl_sema_text(sema, ref->path->text),
                  dfl_sema_text(sema, missing->name.sym));
    return false;
}
