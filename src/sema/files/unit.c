/* Files: their declarations, their imports, and how a path finds a declaration. */
#include "sema/files/room.h"

#include <string.h>

enum { MAX_IMPORT_DEPTH = 64 };

static const char *kind_text(dfl_ast_kind kind)
{
    switch ((int)kind) {
    case DFL_AST_WORKLOAD: return "a workload";
    case DFL_AST_SYSTEM:   return "a system";
    case DFL_AST_MAPPING:  return "a mapping";
    case DFL_AST_SWEEP:    return "a sweep";
    case DFL_AST_OP:       return "an operation";
    case DFL_AST_PARAM:    return "a parameter";
    default:               return "a constant";
    }
}

/* ---- declarations --------------------------------------------------------------------------------------------- */

static void declare(dfl_sema *s, dfl_unit *u, const dfl_ast_node *n)
{
    dfl_decl *d, *old = dfl_symmap_get(&u->by_name, n->name.sym);
    dfl_opened *alias = dfl_symmap_get(&u->aliases, n->name.sym);

    if (n->name.sym == 0)
        return;
    if (old != NULL || (alias != NULL && alias->alias != 0)) {
        dfl_scope_twice(s, n->name.span, old != NULL ? old->node->name.span : alias->node->more->alias.span, "declared",
                        dfl_sema_text(s, n->name.sym));
        return;
    }
    d = DFL_NEW(s->arena, dfl_decl);
    d->node = n;
    d->unit = u;
    d->name = n->name.sym;
    dfl_symmap_put(s->arena, &u->by_name, d->name, d);
    DFL_PUSH(s->arena, &u->decls, d);
}

bool dfl_option_take(dfl_sema *s, const dfl_ast_node *n, dfl_span *first)
{
    const dfl_expr *e = n->value;

    if (strcmp(dfl_sema_text(s, n->name.sym), "overlap") != 0) {
        dfl_diag *d = dfl_report(s->sink, DFL_NAME_UNKNOWN, n->name.span, "no option `%s`",
                                 dfl_sema_text(s, n->name.sym));

        dfl_diag_help(s->sink, d, "the option is `overlap = perfect`");
    } else if (e == NULL || e->kind != DFL_EXPR_PATH || strcmp(dfl_sema_text(s, e->path->text), "perfect") != 0) {
        dfl_diag *d = dfl_report(s->sink, DFL_EXPR_TYPE, e != NULL ? e->span : n->span,
                                 "option `overlap` expects `perfect`");

        if (e != NULL)
            dfl_diag_fix(s->sink, d, e->span, "perfect", DFL_FIX_MAYBE);
    } else if (first->end != 0) {
        dfl_scope_twice(s, n->name.span, *first, "given", "overlap");
    } else {
        *first = n->name.span;
        return true;
    }
    return false;
}

/* ---- imports -------------------------------------------------------------------------------------------------- */

static dfl_unit *load(dfl_sema *s, dfl_unit *u, const dfl_ast_node *n)
{
    bool quoted = n->path->n == 0;
    dfl_sym target = quoted && n->value != NULL ? n->value->sym : n->path->text;
    dfl_span span = quoted && n->value != NULL ? n->value->span : n->path->span;
    dfl_sema_file file = { 0 };
    const char *why = NULL, *near = NULL;
    dfl_unit *found;
    dfl_diag *d;

    if (target == 0)
        return NULL;
    if (s->in->load == NULL ||
        !s->in->load(s->in->context, u->file.source, dfl_sema_text(s, target), quoted, &file, &why, &near)) {
        d = dfl_report(s->sink, DFL_IMPORT_NOT_FOUND, span, "cannot find `%s`", dfl_sema_text(s, target));
        if (why != NULL)
            dfl_diag_note(s->sink, d, "%s", why);
        if (near != NULL)
            dfl_diag_fix(s->sink, d, span, quoted ? dfl_arena_printf(s->arena, "\"%s\"", near) : near, DFL_FIX_MAYBE);
        return NULL;
    }
    for (found = s->units; found != NULL && found->file.source != file.source;)
        found = found->next;
    if (found != NULL && found->loading) {
        d = dfl_report(s->sink, DFL_IMPORT_CYCLE, span, "imports form a cycle: `%s` is being imported already",
                       dfl_sema_text(s, target));
        dfl_diag_help(s->sink, d, "move what both files need into a third one");
        return NULL;
    }
    if (found == NULL && s->nesting >= MAX_IMPORT_DEPTH) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, span, "imports are nested more than %d deep", MAX_IMPORT_DEPTH);
        return NULL;
    }
    return found != NULL ? found : dfl_unit_open(s, file);
}

static void import(dfl_sema *s, dfl_unit *u, const dfl_ast_node *n)
{
    dfl_opened opened = { .node = n, .alias = n->more->alias.sym };
    dfl_opened *kept;

    if (n->path->n > 0)
        opened.last = dfl_path_last(n->path)->sym;
    opened.unit = load(s, u, n);
    DFL_PUSH(s->arena, &u->imports, opened);
    kept = DFL_NEW(s->arena, dfl_opened);
    *kept = opened;
    if (opened.alias != 0) {
        const dfl_opened *old = dfl_symmap_get(&u->aliases, opened.alias);
        const dfl_decl *decl = dfl_symmap_get(&u->by_name, opened.alias);

        if (decl != NULL || (old != NULL && old->alias != 0))
            dfl_scope_twice(s, n->more->alias.span, decl != NULL ? decl->node->name.span : old->node->more->alias.span,
                            "declared", dfl_sema_text(s, opened.alias));
        dfl_symmap_put(s->arena, &u->aliases, opened.alias, kept);
    } else if (opened.last != 0 && dfl_symmap_get(&u->aliases, opened.last) == NULL) {
        dfl_symmap_put(s->arena, &u->aliases, opened.last, kept);
    }
}

dfl_unit *dfl_unit_open(dfl_sema *s, dfl_sema_file file)
{
    dfl_unit *u = DFL_NEW(s->arena, dfl_unit);

    u->file = file;
    u->loading = true;
    u->root = s->units == NULL;
    u->next = s->units;
    s->units = u;
    s->nesting++;
    for (const dfl_ast_node *n = file.file->items; n != NULL && dfl_sema_ok(s); n = n->next) {
        switch ((int)n->kind) {
        case DFL_AST_IMPORT:
            import(s, u, n);
            break;
        case DFL_AST_CHECK:
            DFL_PUSH(s->arena, &u->checks, n);
            break;
        case DFL_AST_SYSTEM:
            declare(s, u, n);
            for (const dfl_ast_node *m = n->body; m != NULL; m = m->next)
                if (m->kind == DFL_AST_MAPPING)
                    declare(s, u, m);
            break;
        case DFL_AST_PARAM:
        case DFL_AST_LET:
        case DFL_AST_OP:
        case DFL_AST_WORKLOAD:
        case DFL_AST_MAPPING:
        case DFL_AST_SWEEP:
            declare(s, u, n);
            break;
        case DFL_AST_OPTION:
            u->overlap_perfect |= dfl_option_take(s, n, &u->option);
            break;
        default:
            break;
        }
    }
    s->nesting--;
    u->loading = false;
    return u;
}

/* ---- lookups -------------------------------------------------------------------------------------------------- */

/* A name through the imports that make everything visible. */
static dfl_decl *find_opened(dfl_sema *s, dfl_unit *u, const dfl_ast_name *name, bool *broken)
{
    dfl_decl *found = NULL;

    for (size_t i = 0; i < u->imports.n; i++) {
        const dfl_opened *o = &u->imports.at[i];
        dfl_decl *d;

        if (o->alias != 0)
            continue;
        if (o->unit == NULL) {
            *broken = true;
            continue;
        }
        d = dfl_symmap_get(&o->unit->by_name, name->sym);
        if (found != NULL && d != NULL && d != found) {
            dfl_diag *diag = dfl_report(s->sink, DFL_NAME_AMBIGUOUS, name->span, "`%s` is declared by two imports",
                                        dfl_sema_text(s, name->sym));

            dfl_diag_label(s->sink, diag, found->node->name.span, "one is here");
            dfl_diag_label(s->sink, diag, d->node->name.span, "another is here");
            dfl_diag_help(s->sink, diag, "import one of the files `as` a name");
            *broken = true;
            return NULL;
        }
        if (d != NULL)
            found = d;
    }
    return found;
}

static dfl_decl *find_name(dfl_sema *s, dfl_unit *u, const dfl_ast_name *name, bool *broken)
{
    dfl_decl *found = dfl_symmap_get(&u->by_name, name->sym);
    const dfl_opened *alias;

    if (found == NULL)
        found = find_opened(s, u, name, broken);
    if (found != NULL || *broken)
        return found;
    /* `import std.chips.h100 as h100;` and then `h100` alone: the declaration that has the name of the file */
    alias = dfl_symmap_get(&u->aliases, name->sym);
    if (alias == NULL)
        return NULL;
    *broken = alias->unit == NULL;
    return alias->unit == NULL || alias->last == 0 ? NULL : dfl_symmap_get(&alias->unit->by_name, alias->last);
}

dfl_decl *dfl_decl_find(dfl_sema *s, dfl_unit *u, const dfl_ast_path *path, bool *broken)
{
    const dfl_opened *alias;

    *broken = path->n == 0;
    if (path->n == 0)
        return NULL;
    if (path->n == 1)
        return find_name(s, u, path->head, broken);
    alias = dfl_symmap_get(&u->aliases, path->head->sym);
    if (alias == NULL || path->n != 2)
        return NULL;
    *broken = alias->unit == NULL;
    return alias->unit == NULL ? NULL : dfl_symmap_get(&alias->unit->by_name, dfl_path_last(path)->sym);
}

typedef DFL_VEC(dfl_sym) sym_list;

static void collect(dfl_sema *s, const dfl_unit *u, dfl_ast_kind kind, bool any, sym_list *names)
{
    for (size_t i = 0; i < u->decls.n; i++)
        if (any || u->decls.at[i]->node->kind == kind)
            DFL_PUSH(s->arena, names, u->decls.at[i]->name);
}

static dfl_sym suggest(dfl_sema *s, const dfl_unit *u, dfl_sym name, dfl_ast_kind kind, bool any)
{
    sym_list names = { 0 };

    if (dfl_sink_drops(s->sink))
        return 0;
    collect(s, u, kind, any, &names);
    for (size_t i = 0; i < u->imports.n; i++) {
        const dfl_opened *o = &u->imports.at[i];

        if (o->alias == 0 && o->unit != NULL)
            collect(s, o->unit, kind, any, &names);
        else if (o->alias != 0 && any)
            DFL_PUSH(s->arena, &names, o->alias);
    }
    return dfl_suggest(s->names, dfl_sema_text(s, name), names.at, names.n);
}

dfl_sym dfl_decl_suggest(dfl_sema *s, dfl_unit *u, dfl_sym name)
{
    return suggest(s, u, name, DFL_AST_LET, true);
}

static void report_missing(dfl_sema *s, dfl_unit *u, const dfl_ast_path *path, dfl_ast_kind kind)
{
    const dfl_opened *alias = path->n == 2 ? dfl_symmap_get(&u->aliases, path->head->sym) : NULL;
    const dfl_unit *where = alias != NULL ? alias->unit : u;
    const dfl_ast_name *name = path->n == 2 && alias == NULL ? path->head : dfl_path_last(path);
    const char *what = kind_text(kind);
    dfl_diag *d;
    dfl_sym near;

    what = strchr(what, ' ') + 1;
    if (path->n == 2 && alias == NULL) {
        d = dfl_report(s->sink, DFL_NAME_UNKNOWN, path->head->span, "no import is called `%s`",
                       dfl_sema_text(s, path->head->sym));
        near = suggest(s, u, path->head->sym, kind, true);
    } else {
        d = dfl_report(s->sink, DFL_NAME_UNKNOWN, name->span, "no %s `%s`", what, dfl_sema_text(s, path->text));
        near = suggest(s, where, name->sym, kind, false);
    }
    if (near != 0)
        dfl_diag_fix(s->sink, d, name->span, dfl_sema_text(s, near), DFL_FIX_MAYBE);
}

dfl_decl *dfl_decl_need(dfl_sema *s, dfl_unit *u, const dfl_ast_path *path, dfl_ast_kind kind)
{
    bool broken;
    dfl_decl *d = dfl_decl_find(s, u, path, &broken);

    if (d != NULL && d->node->kind != kind) {
        dfl_diag *diag = dfl_report(s->sink, DFL_NAME_WRONG_KIND, path->span, "`%s` is %s, not %s",
                                    dfl_sema_text(s, path->text), kind_text(d->node->kind), kind_text(kind));

        dfl_diag_label(s->sink, diag, d->node->name.span, "declared here");
        return NULL;
    }
    if (d == NULL && !broken)
        report_missing(s, u, path, kind);
    return d;
}

/* Reports E0211 when the declarations it is derived from lead back to it. */
static bool is_circular(dfl_sema *s, dfl_decl *decl)
{
    dfl_decl *d = decl;
    bool broken;

    for (int step = 0; step < DFL_SEMA_MAX_NESTING; step++) {
        d = d->node->more->ref->path->n > 0 ? dfl_decl_find(s, d->unit, d->node->more->ref->path, &broken) : NULL;
        if (d == NULL)
            return false;
        if (d == decl) {
            dfl_diag *diag = dfl_report(s->sink, DFL_DECLARATION_CYCLE, decl->node->more->ref->path->span,
                                        "`%s` is derived from itself", dfl_sema_text(s, decl->name));

            dfl_diag_label(s->sink, diag, decl->node->name.span, "declared here");
            return true;
        }
    }
    return false;
}

bool dfl_decl_enter(dfl_sema *s, dfl_decl *decl, const char *what)
{
    dfl_diag *d;

    if (decl->node->more->ref->path->n > 0 && is_circular(s, decl))
        return false;
    if (s->nesting < DFL_SEMA_MAX_NESTING) {
        s->nesting++;
        return true;
    }
    d = dfl_report(s->sink, DFL_LIMIT_COUNT, decl->node->name.span, "%s are nested more than %d deep", what,
                   DFL_SEMA_MAX_NESTING);
    dfl_diag_help(s->sink, d, "does `%s` contain itself?", dfl_sema_text(s, decl->name));
    return false;
}

void dfl_decl_report_unknown(dfl_sema *s, dfl_scope *scope, const dfl_ast_path *path)
{
    const dfl_opened *alias = path->n == 2 ? dfl_symmap_get(&scope->unit->aliases, path->head->sym) : NULL;
    const dfl_ast_name *name = alias != NULL ? dfl_path_last(path) : path->head;
    dfl_sym near;
    dfl_diag *d;

    if (alias != NULL) {
        d = dfl_report(s->sink, DFL_NAME_UNKNOWN, name->span, "`%s` declares no `%s`",
                       dfl_sema_text(s, path->head->sym), dfl_sema_text(s, name->sym));
        near = suggest(s, alias->unit, name->sym, DFL_AST_LET, true);
    } else {
        d = dfl_report(s->sink, DFL_NAME_UNKNOWN, name->span, "unknown name `%s`", dfl_sema_text(s, name->sym));
        near = dfl_scope_suggest_any(s, scope, name->sym);
        if (near == 0)
            near = suggest(s, scope->unit, name->sym, DFL_AST_LET, true);
    }
    if (near != 0)
        dfl_diag_fix(s->sink, d, name->span, dfl_sema_text(s, near), DFL_FIX_MAYBE);
    else if (alias == NULL && name->span.start > 0 &&
             dfl_sema_slice(s, (dfl_span){ name->span.start - 1, name->span.start })[0] == '/')
        dfl_diag_help(s->sink, d, "if a unit is meant: `B` is a byte, `bit` a bit, `s` a second, `cycle` a cycle");
}

/* ---- operations ----------------------------------------------------------------------------------------------- */

dfl_unit *dfl_unit_ops(dfl_sema *s)
{
    dfl_sema_file file = { 0 };
    const char *why = NULL, *near = NULL;

    if (s->ops_looked_for)
        return s->ops;
    s->ops_looked_for = true;
    if (s->in->load == NULL || !s->in->load(s->in->context, NULL, "std.ops", false, &file, &why, &near))
        return NULL;
    for (s->ops = s->units; s->ops != NULL && s->ops->file.source != file.source;)
        s->ops = s->ops->next;
    if (s->ops == NULL)
        s->ops = dfl_unit_open(s, file);
    s->ops->ops = true;
    return s->ops;
}

dfl_decl *dfl_decl_op(dfl_sema *s, dfl_unit *u, dfl_sym name)
{
    dfl_decl *d = dfl_symmap_get(&u->by_name, name);

    for (size_t i = 0; d == NULL && i < u->imports.n; i++)
        if (u->imports.at[i].alias == 0 && u->imports.at[i].unit != NULL) {
            d = dfl_symmap_get(&u->imports.at[i].unit->by_name, name);
            if (d != NULL && d->node->kind != DFL_AST_OP)
                d = NULL;
        }
    if (d != NULL && d->node->kind == DFL_AST_OP)
        return d;
    if (dfl_unit_ops(s) == NULL)
        return NULL;
    d = dfl_symmap_get(&s->ops->by_name, name);
    return d != NULL && d->node->kind == DFL_AST_OP ? d : NULL;
}
