#include "sema/names/module.h"

#include <string.h>

#include "support/limits.h"

/* Adds a declaration to the module; reports E0202 if its name is taken. A declaration whose name the parser could not
   read is skipped. */
static void declare(dfl_sema *sema, dfl_module *module, const dfl_ast_node *node)
{
    dfl_decl *decl, *old = dfl_symmap_get(&module->by_name, node->name.sym);
    dfl_module_import *alias = dfl_symmap_get(&module->aliases, node->name.sym);

    if (node->name.sym == 0)
        return;
    if (old != NULL || (alias != NULL && alias->alias != 0)) {
        dfl_scope_report_twice(sema, node->name.span, old != NULL ? old->node->name.span : alias->node->more->alias.span,
                               "declared", dfl_sema_text(sema, node->name.sym));
        return;
    }
    decl = DFL_NEW(sema->arena, dfl_decl);
    decl->node = node;
    decl->module = module;
    decl->name = node->name.sym;
    dfl_symmap_put(sema->arena, &module->by_name, decl->name, decl);
    DFL_PUSH(sema->arena, &module->decls, decl);
}

bool dfl_module_take_option(dfl_sema *sema, const dfl_ast_node *node, dfl_span *first)
{
    const dfl_expr *expr = node->value;

    if (strcmp(dfl_sema_text(sema, node->name.sym), "overlap") != 0) {
        dfl_diag *d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, node->name.span, "no option `%s`",
                                 dfl_sema_text(sema, node->name.sym));

        dfl_diag_help(sema->sink, d, "the option is `overlap = perfect`");
    } else if (expr == NULL || expr->kind != DFL_EXPR_PATH || strcmp(dfl_sema_text(sema, expr->path->text), "perfect") != 0) {
        dfl_diag *d = dfl_report(sema->sink, DFL_EXPR_TYPE, expr != NULL ? expr->span : node->span,
                                 "option `overlap` expects `perfect`");

        if (expr != NULL)
            dfl_diag_fix(sema->sink, d, expr->span, "perfect", DFL_FIX_MAYBE);
    } else if (first->end != 0) {
        dfl_scope_report_twice(sema, node->name.span, *first, "given", "overlap");
    } else {
        *first = node->name.span;
        return true;
    }
    return false;
}

/* The module that an import names; loads the module unless it is open. NULL after reporting. */
static dfl_module *load_import(dfl_sema *sema, dfl_module *module, const dfl_ast_node *node)
{
    bool quoted = node->path->n == 0;
    dfl_sym target = quoted && node->value != NULL ? node->value->sym : node->path->text;
    dfl_span span = quoted && node->value != NULL ? node->value->span : node->path->span;
    dfl_sema_file file = { 0 };
    const char *why = NULL, *near = NULL;
    dfl_module *found;
    dfl_diag *d;

    if (target == 0)
        return NULL;
    if (sema->input->load == NULL || !sema->input->load(sema->input->context, module->file.source,
                                                        dfl_sema_text(sema, target), quoted, &file, &why, &near)) {
        d = dfl_report(sema->sink, DFL_IMPORT_NOT_FOUND, span, "cannot find `%s`", dfl_sema_text(sema, target));
        if (why != NULL)
            dfl_diag_note(sema->sink, d, "%s", why);
        if (near == NULL && !quoted && strcmp(dfl_sema_text(sema, dfl_path_last(node->path)->sym), "dfl") == 0)
            dfl_diag_fix(sema->sink, d, span, dfl_arena_printf(sema->arena, "\"%s\"", dfl_sema_text(sema, target)),
                         DFL_FIX_MAYBE);
        if (near != NULL)
            dfl_diag_fix(sema->sink, d, span, quoted ? dfl_arena_printf(sema->arena, "\"%s\"", near) : near, DFL_FIX_MAYBE);
        return NULL;
    }
    for (found = sema->modules; found != NULL && found->file.source != file.source;)
        found = found->next;
    if (found != NULL && found->is_loading) {
        d = dfl_report(sema->sink, DFL_IMPORT_CYCLE, span, "import cycle: `%s` is already being imported",
                       dfl_sema_text(sema, target));
        dfl_diag_help(sema->sink, d, "move what both files need into a third one");
        return NULL;
    }
    if (found == NULL && sema->nesting >= DFL_SEMA_MAX_IMPORT_DEPTH) {
        dfl_report(sema->sink, DFL_LIMIT_COUNT, span, "imports are nested more than %d deep", DFL_SEMA_MAX_IMPORT_DEPTH);
        return NULL;
    }
    return found != NULL ? found : dfl_module_open(sema, file);
}

/* Adds an import and its alias; reports E0202 if the alias is taken. */
static void add_import(dfl_sema *sema, dfl_module *module, const dfl_ast_node *node)
{
    dfl_module_import opened = { .node = node, .alias = node->more->alias.sym };
    dfl_module_import *kept;

    if (node->path->n > 0)
        opened.last = dfl_path_last(node->path)->sym;
    opened.module = load_import(sema, module, node);
    DFL_PUSH(sema->arena, &module->imports, opened);
    kept = DFL_NEW(sema->arena, dfl_module_import);
    *kept = opened;
    if (opened.alias != 0) {
        const dfl_module_import *old = dfl_symmap_get(&module->aliases, opened.alias);
        const dfl_decl *decl = dfl_symmap_get(&module->by_name, opened.alias);

        if (decl != NULL || (old != NULL && old->alias != 0))
            dfl_scope_report_twice(sema, node->more->alias.span,
                                   decl != NULL ? decl->node->name.span : old->node->more->alias.span, "declared",
                                   dfl_sema_text(sema, opened.alias));
        dfl_symmap_put(sema->arena, &module->aliases, opened.alias, kept);
    } else if (opened.last != 0 && dfl_symmap_get(&module->aliases, opened.last) == NULL) {
        dfl_symmap_put(sema->arena, &module->aliases, opened.last, kept);
    }
}

dfl_module *dfl_module_open(dfl_sema *sema, dfl_sema_file file)
{
    dfl_module *module = DFL_NEW(sema->arena, dfl_module);

    module->file = file;
    module->is_loading = true;
    module->is_root = sema->modules == NULL;
    module->next = sema->modules;
    sema->modules = module;
    sema->nesting++;
    for (const dfl_ast_node *node = file.file->items; node != NULL && dfl_sema_within_budget(sema); node = node->next) {
        switch ((int)node->kind) {
        case DFL_AST_IMPORT:
            add_import(sema, module, node);
            break;
        case DFL_AST_CHECK:
            DFL_PUSH(sema->arena, &module->checks, node);
            break;
        case DFL_AST_SYSTEM:
            declare(sema, module, node);
            for (const dfl_ast_node *m = node->body; m != NULL; m = m->next)
                if (m->kind == DFL_AST_MAPPING)
                    declare(sema, module, m);
            break;
        case DFL_AST_PARAM:
        case DFL_AST_LET:
        case DFL_AST_OP:
        case DFL_AST_WORKLOAD:
        case DFL_AST_MAPPING:
        case DFL_AST_SWEEP:
            declare(sema, module, node);
            break;
        case DFL_AST_OPTION:
            module->overlap_perfect |= dfl_module_take_option(sema, node, &module->option);
            break;
        default:
            break;
        }
    }
    sema->nesting--;
    module->is_loading = false;
    return module;
}

dfl_module *dfl_module_std_ops(dfl_sema *sema)
{
    dfl_sema_file file = { 0 };
    const char *why = NULL, *near = NULL;

    if (sema->std_ops_sought)
        return sema->std_ops;
    sema->std_ops_sought = true;
    if (sema->input->load == NULL || !sema->input->load(sema->input->context, NULL, "std.ops", false, &file, &why, &near))
        return NULL;
    for (sema->std_ops = sema->modules; sema->std_ops != NULL && sema->std_ops->file.source != file.source;)
        sema->std_ops = sema->std_ops->next;
    if (sema->std_ops == NULL)
        sema->std_ops = dfl_module_open(sema, file);
    return sema->std_ops;
}

const dfl_lint_levels *dfl_module_lints(const dfl_sema *sema, const dfl_module *module)
{
    static const dfl_lint_levels defaults;

    if (!module->is_root)
        return NULL;
    return sema->input->lints != NULL ? sema->input->lints : &defaults;
}

dfl_span dfl_module_root_span(const dfl_sema *sema)
{
    const dfl_source *source = sema->root != NULL ? sema->root->file.source : NULL;
    dfl_span range = { 0 };

    if (source != NULL)
        range = (dfl_span){ source->base, source->base + (uint32_t)source->len + 1 };
    return range;
}
