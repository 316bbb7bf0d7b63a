#include "sema/names/scope.h"

#include <string.h>

dfl_scope *dfl_scope_new(dfl_sema *sema, dfl_scope *parent, dfl_module *module)
{
    dfl_scope *scope = DFL_NEW(sema->arena, dfl_scope);

    scope->parent = parent;
    scope->module = module;
    return scope;
}

dfl_scope_entry *dfl_scope_find_here(const dfl_scope *scope, dfl_sym name)
{
    return dfl_symmap_get(&scope->names, name);
}

dfl_scope_entry *dfl_scope_find(const dfl_scope *scope, dfl_sym name)
{
    for (; scope != NULL; scope = scope->parent) {
        dfl_scope_entry *found = dfl_symmap_get(&scope->names, name);

        if (found != NULL)
            return found;
    }
    return NULL;
}

dfl_diag *dfl_scope_report_twice(dfl_sema *sema, dfl_span at, dfl_span first, const char *how, const char *name)
{
    dfl_diag *d = dfl_report(sema->sink, DFL_NAME_DUPLICATE, at, "`%s` is %s twice", name, how);

    dfl_diag_label(sema->sink, d, first, "first %s here", how);
    dfl_diag_help(sema->sink, d, strcmp(how, "given") == 0 ? "remove one of the two" : "rename one of the two, or remove it");
    return d;
}

dfl_scope_entry *dfl_scope_declare(dfl_sema *sema, dfl_scope *scope, dfl_sym name, dfl_span span, dfl_entry_kind kind)
{
    dfl_scope_entry *entry = dfl_symmap_get(&scope->names, name);

    if (entry != NULL) {
        dfl_scope_report_twice(sema, span, entry->span, "declared", dfl_sema_text(sema, name));
        return NULL;
    }
    entry = DFL_NEW(sema->arena, dfl_scope_entry);
    entry->kind = kind;
    entry->span = span;
    dfl_symmap_put(sema->arena, &scope->names, name, entry);
    DFL_PUSH(sema->arena, &scope->order, name);
    return entry;
}

/* The visible name most similar to `name`, of any kind or of `kind`. Does nothing if the sink drops reports. */
static dfl_sym suggest(dfl_sema *sema, const dfl_scope *scope, dfl_sym name, bool any, dfl_entry_kind kind)
{
    DFL_VEC(dfl_sym) seen = { 0 };

    if (dfl_sink_drops(sema->sink))
        return 0;
    for (; scope != NULL; scope = scope->parent)
        for (size_t i = 0; i < scope->order.n; i++) {
            const dfl_scope_entry *entry = dfl_symmap_get(&scope->names, scope->order.at[i]);

            if (any || entry->kind == kind)
                DFL_PUSH(sema->arena, &seen, scope->order.at[i]);
        }
    return dfl_suggest(sema->names, dfl_sema_text(sema, name), seen.at, seen.n);
}

dfl_sym dfl_scope_suggest(dfl_sema *sema, const dfl_scope *scope, dfl_sym name, dfl_entry_kind kind)
{
    return suggest(sema, scope, name, false, kind);
}

dfl_sym dfl_scope_suggest_any(dfl_sema *sema, const dfl_scope *scope, dfl_sym name)
{
    return suggest(sema, scope, name, true, DFL_ENTRY_VALUE);
}
