#include "sema/names/declaration.h"

#include <string.h>

#include "ir/unit_text.h"
#include "support/limits.h"
#include "sema/names/module.h"

/* The name of a kind of declaration with its article, for reports. */
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

/* The declaration of `name` in the imports without an alias. NULL if no import declares it, or more than one
   (E0206). */
static dfl_decl *find_opened(dfl_sema *sema, dfl_module *module, const dfl_ast_name *name, bool *broken)
{
    dfl_decl *found = NULL;

    for (size_t i = 0; i < module->imports.n; i++) {
        const dfl_module_import *import = &module->imports.at[i];
        dfl_decl *decl;

        if (import->alias != 0)
            continue;
        if (import->module == NULL) {
            *broken = true;
            continue;
        }
        decl = dfl_symmap_get(&import->module->by_name, name->sym);
        if (found != NULL && decl != NULL && decl != found) {
            dfl_diag *diag = dfl_report(sema->sink, DFL_NAME_AMBIGUOUS, name->span, "`%s` is declared by two imports",
                                        dfl_sema_text(sema, name->sym));

            dfl_diag_label(sema->sink, diag, found->node->name.span, "one is here");
            dfl_diag_label(sema->sink, diag, decl->node->name.span, "another is here");
            dfl_diag_help(sema->sink, diag, "import one of the files `as` a name");
            *broken = true;
            return NULL;
        }
        if (decl != NULL)
            found = decl;
    }
    return found;
}

/* The declaration that a path of one component names. */
static dfl_decl *find_name(dfl_sema *sema, dfl_module *module, const dfl_ast_name *name, bool *broken)
{
    dfl_decl *found = dfl_symmap_get(&module->by_name, name->sym);
    const dfl_module_import *alias;

    if (found == NULL)
        found = find_opened(sema, module, name, broken);
    if (found != NULL || *broken)
        return found;
    /* `import std.chips.h100 as h100;`, then `h100` alone: the declaration with the file's name */
    alias = dfl_symmap_get(&module->aliases, name->sym);
    if (alias == NULL)
        return NULL;
    *broken = alias->module == NULL;
    return alias->module == NULL || alias->last == 0 ? NULL : dfl_symmap_get(&alias->module->by_name, alias->last);
}

dfl_decl *dfl_decl_find(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, bool *broken)
{
    const dfl_module_import *alias;

    *broken = path->n == 0;
    if (path->n == 0)
        return NULL;
    if (path->n == 1)
        return find_name(sema, module, path->head, broken);
    alias = dfl_symmap_get(&module->aliases, path->head->sym);
    if (alias == NULL || path->n != 2)
        return NULL;
    *broken = alias->module == NULL;
    return alias->module == NULL ? NULL : dfl_symmap_get(&alias->module->by_name, dfl_path_last(path)->sym);
}

typedef DFL_VEC(dfl_sym) sym_list;

/* Appends the names of the declarations of `kind`; of all declarations without a kind. */
static void collect_names(dfl_sema *sema, const dfl_module *module, dfl_ast_kind kind, bool any, sym_list *names)
{
    for (size_t i = 0; i < module->decls.n; i++)
        if (any || module->decls.at[i]->node->kind == kind)
            DFL_PUSH(sema->arena, names, module->decls.at[i]->name);
}

/* The name most similar to `name` among the declarations visible in the module. Does nothing if the sink drops
   reports. */
static dfl_sym suggest(dfl_sema *sema, const dfl_module *module, dfl_sym name, dfl_ast_kind kind, bool any)
{
    sym_list names = { 0 };

    if (dfl_sink_drops(sema->sink))
        return 0;
    collect_names(sema, module, kind, any, &names);
    for (size_t i = 0; i < module->imports.n; i++) {
        const dfl_module_import *import = &module->imports.at[i];

        if (import->alias == 0 && import->module != NULL)
            collect_names(sema, import->module, kind, any, &names);
        else if (import->alias != 0 && any)
            DFL_PUSH(sema->arena, &names, import->alias);
    }
    return dfl_suggest(sema->names, dfl_sema_text(sema, name), names.at, names.n);
}

dfl_sym dfl_decl_suggest(dfl_sema *sema, dfl_module *module, dfl_sym name)
{
    return suggest(sema, module, name, DFL_AST_LET, true);
}

/* Names of declarations of one kind, for a help line. */
typedef struct {
    dfl_sema *sema;
    dfl_ast_kind kind;
    dfl_strbuf text; /* the first names, with commas between */
    size_t n;        /* number of all names */
} name_list;

/* Adds the names of a file behind the name of its import; 0 = the names stand alone. */
static void add_names(name_list *list, const dfl_ast_file *file, dfl_sym alias)
{
    enum { MOST = 6 };

    for (const dfl_ast_node *node = file->items; node != NULL; node = node->next) {
        if (node->kind != list->kind)
            continue;
        if (list->n < MOST)
            dfl_strbuf_printf(&list->text, "%s`%s%s%s`", list->n == 0 ? "" : ", ",
                              alias == 0 ? "" : dfl_sema_text(list->sema, alias), alias == 0 ? "" : ".",
                              dfl_sema_text(list->sema, node->name.sym));
        else if (list->n == MOST)
            dfl_strbuf_printf(&list->text, ", ...");
        list->n++;
    }
}

/* Adds a help line with names, called `what`. */
static void help_names(dfl_diag *d, const name_list *list, const char *what)
{
    dfl_diag_help(list->sema->sink, d, list->n == 1 ? "the only %s is %s" : "the %ss are %s", what, list->text.text);
}

static name_list list_of(dfl_sema *sema, dfl_ast_kind kind)
{
    name_list list = { .sema = sema, .kind = kind };

    dfl_strbuf_init(&list.text, sema->arena);
    return list;
}

/* Adds a help line with the names of the declarations of `kind`, called `what`, that a module and its imports have. Of a
   module that is imported as `alias`, only its own names; 0 = the module is not imported. */
static void list_names(dfl_sema *sema, dfl_diag *d, const dfl_module *module, dfl_sym alias, dfl_ast_kind kind, const char *what)
{
    name_list list;

    if (dfl_sink_drops(sema->sink))
        return;
    list = list_of(sema, kind);
    add_names(&list, module->file.file, alias);
    for (size_t i = 0; i < module->imports.n && alias == 0; i++)
        if (module->imports.at[i].module != NULL)
            add_names(&list, module->imports.at[i].module->file.file, module->imports.at[i].alias);
    if (list.n > 0)
        help_names(d, &list, what);
    else
        dfl_diag_help(sema->sink, d, "no %s is declared or imported: `import std.chips.h100;` imports a file of the library, "
                      "`import \"file.dfl\";` one of your own", what);
}

/* Help with the file of the library that is called like a missing system or workload: the names that it declares, if it is
   imported or has none like this, else its import. False if there is no such file. */
static bool help_library(dfl_sema *sema, dfl_diag *d, const dfl_module *module, dfl_sym name, dfl_ast_kind kind)
{
    const char *folder = kind == DFL_AST_SYSTEM ? "chips" : kind == DFL_AST_WORKLOAD ? "workloads" : NULL;
    const char *target, *what, *why = NULL, *near = NULL;
    const dfl_ast_node *node;
    dfl_sema_file file = { 0 };
    name_list list;

    if (folder == NULL || sema->input->load == NULL || dfl_sink_drops(sema->sink))
        return false;
    target = dfl_arena_printf(sema->arena, "std.%s.%s", folder, dfl_sema_text(sema, name));
    if (!sema->input->load(sema->input->context, module->file.source, target, false, &file, &why, &near))
        return false;
    what = strchr(kind_text(kind), ' ') + 1;
    list = list_of(sema, kind);
    for (size_t i = 0; i < module->imports.n; i++)
        if (module->imports.at[i].module != NULL && module->imports.at[i].module->file.source == file.source) {
            add_names(&list, file.file, module->imports.at[i].alias);
            help_names(d, &list, what);
            return true;
        }
    for (node = file.file->items; node != NULL && (node->kind != kind || node->name.sym != name);)
        node = node->next;
    add_names(&list, file.file, 0);
    if (node != NULL)
        dfl_diag_help(sema->sink, d, "the library has it: `import %s as %s;`", target, dfl_sema_text(sema, name));
    else
        dfl_diag_help(sema->sink, d, "`import %s;` brings %s", target, list.text.text);
    return true;
}

/* Reports E0201 for a path that names no declaration of `kind`. */
static void report_missing(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, dfl_ast_kind kind)
{
    const dfl_module_import *alias = path->n == 2 ? dfl_symmap_get(&module->aliases, path->head->sym) : NULL;
    const dfl_module *where = alias != NULL ? alias->module : module;
    const dfl_ast_name *name = path->n == 2 && alias == NULL ? path->head : dfl_path_last(path);
    const char *what = kind_text(kind);
    dfl_diag *d;
    dfl_sym near;

    what = strchr(what, ' ') + 1;
    if (path->n == 2 && alias == NULL) {
        d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, path->head->span, "no import is called `%s`",
                       dfl_sema_text(sema, path->head->sym));
        near = suggest(sema, module, path->head->sym, kind, true);
    } else {
        d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, name->span, "no %s `%s`", what, dfl_sema_text(sema, path->text));
        near = suggest(sema, where, name->sym, kind, false);
    }
    if (near != 0)
        dfl_diag_fix(sema->sink, d, name->span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else if (!help_library(sema, d, module, dfl_path_last(path)->sym, kind))
        list_names(sema, d, where, alias != NULL ? path->head->sym : 0, kind, what);
}

dfl_decl *dfl_decl_need(dfl_sema *sema, dfl_module *module, const dfl_ast_path *path, dfl_ast_kind kind)
{
    bool broken;
    dfl_decl *decl = dfl_decl_find(sema, module, path, &broken);

    if (decl != NULL && decl->node->kind != kind) {
        dfl_diag *diag = dfl_report(sema->sink, DFL_NAME_WRONG_KIND, path->span, "`%s` is %s, not %s",
                                    dfl_sema_text(sema, path->text), kind_text(decl->node->kind), kind_text(kind));

        dfl_diag_label(sema->sink, diag, decl->node->name.span, "declared here");
        if ((kind == DFL_AST_WORKLOAD && decl->node->kind == DFL_AST_SYSTEM) ||
            (kind == DFL_AST_SYSTEM && decl->node->kind == DFL_AST_WORKLOAD))
            dfl_diag_help(sema->sink, diag, "the workload stands behind `for`, the system behind `on`");
        return NULL;
    }
    if (decl == NULL && !broken)
        report_missing(sema, module, path, kind);
    return decl;
}

/* Whether the derivations of `decl` lead back to `decl` itself; reports this (E0211). */
static bool is_circular(dfl_sema *sema, dfl_decl *decl)
{
    dfl_decl *d = decl;
    bool broken;

    for (int step = 0; step < DFL_SEMA_MAX_NESTING; step++) {
        d = d->node->more->ref->path->n > 0 ? dfl_decl_find(sema, d->module, d->node->more->ref->path, &broken) : NULL;
        if (d == NULL)
            return false;
        if (d == decl) {
            dfl_diag *diag = dfl_report(sema->sink, DFL_DECLARATION_CYCLE, decl->node->more->ref->path->span,
                                        "`%s` is derived from itself", dfl_sema_text(sema, decl->name));

            dfl_diag_label(sema->sink, diag, decl->node->name.span, "declared here");
            return true;
        }
    }
    return false;
}

/* Whether both scopes give all parameters equal values. */
static bool has_equal_values(const dfl_insertion *a, const dfl_insertion *b)
{
    for (const dfl_ast_node *p = a->decl->node->more->params; p != NULL; p = p->next) {
        const dfl_scope_entry *left = dfl_scope_find_here(a->args, p->name.sym);
        const dfl_scope_entry *right = dfl_scope_find_here(b->args, p->name.sym);

        if (left == NULL || right == NULL || !dfl_value_equal(&left->value, &right->value))
            return false;
    }
    return true;
}

/* Reports E0211 at the place that inserts `body` into `same`, a body of the same declaration around it. */
static void report_contained(dfl_sema *sema, const dfl_insertion *body, const dfl_insertion *same)
{
    bool system = body->decl->node->kind == DFL_AST_SYSTEM;
    dfl_diag *d = dfl_report(sema->sink, DFL_DECLARATION_CYCLE, body->use, "`%s` contains itself",
                             dfl_sema_text(sema, body->decl->name));

    for (dfl_insertion *b = sema->body; b != NULL; b = b->around) {
        b->decl->contains_itself = true;
        if (b == same)
            break;
        dfl_diag_label(sema->sink, d, b->use, "`%s` is part of it here", dfl_sema_text(sema, b->decl->name));
    }
    dfl_diag_label(sema->sink, d, body->decl->node->name.span, "declared here");
    dfl_diag_help(sema->sink, d, "%s", system ? "a system is built of other systems"
                                              : "apply another workload, or end the recursion with an `if` on a parameter");
}

/* Reports E0606: too many bodies are inserted into each other. */
static void report_nesting(dfl_sema *sema, const dfl_insertion *body)
{
    const char *what = body->decl->node->kind == DFL_AST_SYSTEM ? "systems" : "workloads";
    dfl_diag *d = dfl_report(sema->sink, DFL_LIMIT_COUNT, body->use, "%s are nested more than %d deep", what,
                             DFL_SEMA_MAX_NESTING);

    for (const dfl_insertion *b = sema->body; b != NULL; b = b->around)
        if (b->decl == body->decl) {
            dfl_diag_help(sema->sink, d, "`%s` contains itself, and no `if` ends this", dfl_sema_text(sema, b->decl->name));
            break;
        }
    sema->is_full = true;
}

bool dfl_decl_enter(dfl_sema *sema, dfl_insertion *body)
{
    dfl_decl *decl = body->decl;

    if (decl->contains_itself || sema->is_full || (decl->node->more->ref->path->n > 0 && is_circular(sema, decl)))
        return false;
    for (const dfl_insertion *b = sema->body; b != NULL; b = b->around)
        if (b->decl == decl && (decl->node->kind == DFL_AST_SYSTEM || has_equal_values(b, body))) {
            report_contained(sema, body, b);
            return false;
        }
    if (sema->nesting >= DFL_SEMA_MAX_NESTING) {
        report_nesting(sema, body);
        return false;
    }
    body->around = sema->body;
    sema->body = body;
    sema->nesting++;
    return true;
}

void dfl_decl_leave(dfl_sema *sema)
{
    sema->nesting--;
    sema->body = sema->body->around;
}

/* Whether the text before `at` is the slash of a literal like `16GB/S`: a letter, then `/`. */
static bool follows_unit(const dfl_sema *sema, uint32_t at)
{
    const char *text = at < 2 ? "" : dfl_sema_slice(sema, (dfl_span){ at - 2, at });

    return ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z')) && text[1] == '/';
}

void dfl_decl_report_unknown(dfl_sema *sema, dfl_scope *scope, const dfl_ast_path *path)
{
    const dfl_module_import *alias = path->n == 2 ? dfl_symmap_get(&scope->module->aliases, path->head->sym) : NULL;
    const dfl_ast_name *name = alias != NULL ? dfl_path_last(path) : path->head;
    dfl_sym near;
    dfl_diag *d;
    bool sure;

    if (alias != NULL) {
        d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, name->span, "`%s` declares no `%s`",
                       dfl_sema_text(sema, path->head->sym), dfl_sema_text(sema, name->sym));
        near = suggest(sema, alias->module, name->sym, DFL_AST_LET, true);
    } else {
        d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, name->span, "unknown name `%s`", dfl_sema_text(sema, name->sym));
        near = dfl_scope_suggest_any(sema, scope, name->sym);
        if (near == 0)
            near = suggest(sema, scope->module, name->sym, DFL_AST_LET, true);
    }
    if (alias == NULL && strstr(" inf infinity infinite unbounded ", dfl_arena_printf(sema->arena, " %s ",
                                                                                      dfl_sema_text(sema, name->sym))) != NULL) {
        dfl_diag_help(sema->sink, d, "an unbounded memory has `size = unlimited;`");
        return;
    }
    if (alias == NULL && follows_unit(sema, name->span.start)) {
        const char *unit = dfl_unit_suggest(sema->arena, dfl_sema_text(sema, name->sym), &sure);

        if (unit != NULL)
            dfl_diag_fix(sema->sink, d, name->span, unit, DFL_FIX_MAYBE);
        else
            dfl_diag_help(sema->sink, d, "if a unit is meant: `B` is a byte, `bit` a bit, `s` a second, `cycle` a cycle");
    } else if (near != 0) {
        dfl_diag_fix(sema->sink, d, name->span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    }
}

dfl_decl *dfl_decl_op(dfl_sema *sema, dfl_module *module, dfl_sym name)
{
    dfl_decl *decl = dfl_symmap_get(&module->by_name, name);

    for (size_t i = 0; decl == NULL && i < module->imports.n; i++)
        if (module->imports.at[i].alias == 0 && module->imports.at[i].module != NULL) {
            decl = dfl_symmap_get(&module->imports.at[i].module->by_name, name);
            if (decl != NULL && decl->node->kind != DFL_AST_OP)
                decl = NULL;
        }
    if (decl != NULL && decl->node->kind == DFL_AST_OP)
        return decl;
    if (dfl_module_std_ops(sema) == NULL)
        return NULL;
    decl = dfl_symmap_get(&sema->std_ops->by_name, name);
    return decl != NULL && decl->node->kind == DFL_AST_OP ? decl : NULL;
}

dfl_sym dfl_role_suggest(dfl_sema *sema, dfl_sym name)
{
    static const char *const roles[] = { "input", "weight", "output", "state", "intermediate", "all" };
    dfl_sym words[sizeof roles / sizeof roles[0]];

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        words[i] = dfl_intern_z(sema->names, roles[i]);
    return dfl_suggest(sema->names, dfl_sema_text(sema, name), words, sizeof words / sizeof words[0]);
}
