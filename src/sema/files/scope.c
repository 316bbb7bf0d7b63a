#include "sema/files/room.h"

#include <string.h>

const char *dfl_sema_slice(const dfl_sema *s, dfl_span span)
{
    const dfl_source *source = dfl_source_of(dfl_sink_sources(s->sink), span);
    dfl_strbuf out;
    bool blank = false;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_z(&out, "");
    for (uint32_t at = span.start; source != NULL && at < span.end && at - source->base < source->len; at++) {
        char c = source->text[at - source->base];

        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            blank = out.len > 0;
            continue;
        }
        if (blank)
            dfl_strbuf_char(&out, ' ');
        blank = false;
        dfl_strbuf_char(&out, c);
    }
    return out.text;
}

const dfl_lint_levels *dfl_sema_lints(const dfl_sema *s, const dfl_unit *unit)
{
    static const dfl_lint_levels defaults;

    if (!unit->root)
        return NULL;
    return s->in->lints != NULL ? s->in->lints : &defaults;
}

dfl_span dfl_sema_root_range(const dfl_sema *s)
{
    const dfl_source *source = s->root != NULL ? s->root->file.source : NULL;
    dfl_span range = { 0 };

    if (source != NULL)
        range = (dfl_span){ source->base, source->base + (uint32_t)source->len + 1 };
    return range;
}

bool dfl_sema_ok(dfl_sema *s)
{
    return s->budget == NULL || dfl_budget_ok(s->budget) || dfl_report_stop(s->sink, s->budget);
}

void dfl_sema_blame(dfl_sema *s, size_t before, dfl_span span, const char *what)
{
    for (size_t i = before; i < dfl_sink_count(s->sink); i++) {
        dfl_diag *d = dfl_sink_at(s->sink, i);

        if (d->span.start < span.start || d->span.end > span.end)
            dfl_diag_label(s->sink, d, span, "%s", what);
    }
}

dfl_scope *dfl_scope_new(dfl_sema *s, dfl_scope *parent, dfl_unit *unit)
{
    dfl_scope *scope = DFL_NEW(s->arena, dfl_scope);

    scope->parent = parent;
    scope->unit = unit;
    return scope;
}

dfl_binding *dfl_scope_find_here(const dfl_scope *scope, dfl_sym name)
{
    return dfl_symmap_get(&scope->names, name);
}

dfl_binding *dfl_scope_find(const dfl_scope *scope, dfl_sym name)
{
    for (; scope != NULL; scope = scope->parent) {
        dfl_binding *found = dfl_symmap_get(&scope->names, name);

        if (found != NULL)
            return found;
    }
    return NULL;
}

dfl_diag *dfl_scope_twice(dfl_sema *s, dfl_span at, dfl_span first, const char *how, const char *name)
{
    dfl_diag *d = dfl_report(s->sink, DFL_NAME_DUPLICATE, at, "`%s` is %s twice", name, how);

    dfl_diag_label(s->sink, d, first, "first %s here", how);
    dfl_diag_help(s->sink, d, strcmp(how, "given") == 0 ? "remove one of the two" : "rename one of the two, or remove it");
    return d;
}

dfl_binding *dfl_scope_declare(dfl_sema *s, dfl_scope *scope, dfl_sym name, dfl_span span, dfl_names_kind kind)
{
    dfl_binding *b = dfl_symmap_get(&scope->names, name);

    if (b != NULL) {
        dfl_scope_twice(s, span, b->span, "declared", dfl_sema_text(s, name));
        return NULL;
    }
    b = DFL_NEW(s->arena, dfl_binding);
    b->kind = kind;
    b->span = span;
    dfl_symmap_put(s->arena, &scope->names, name, b);
    DFL_PUSH(s->arena, &scope->order, name);
    return b;
}

static dfl_sym suggest(dfl_sema *s, const dfl_scope *scope, dfl_sym name, bool any, dfl_names_kind kind)
{
    DFL_VEC(dfl_sym) seen = { 0 };

    if (dfl_sink_drops(s->sink))
        return 0;
    for (; scope != NULL; scope = scope->parent)
        for (size_t i = 0; i < scope->order.n; i++) {
            const dfl_binding *b = dfl_symmap_get(&scope->names, scope->order.at[i]);

            if (any || b->kind == kind)
                DFL_PUSH(s->arena, &seen, scope->order.at[i]);
        }
    return dfl_suggest(s->names, dfl_sema_text(s, name), seen.at, seen.n);
}

dfl_sym dfl_scope_suggest(dfl_sema *s, const dfl_scope *scope, dfl_sym name, dfl_names_kind kind)
{
    return suggest(s, scope, name, false, kind);
}

dfl_sym dfl_scope_suggest_any(dfl_sema *s, const dfl_scope *scope, dfl_sym name)
{
    return suggest(s, scope, name, true, DFL_NAMES_VALUE);
}
