/* Workloads with values for their parameters, made once for equal arguments. */
#include "sema/work.h"

#include <string.h>

bool dfl_workload_refused(dfl_sema *s, const dfl_ast_ref *ref)
{
    dfl_diag *d;

    if (ref->path.n != 1 || strcmp(dfl_sema_text(s, ref->path.text), "train") != 0)
        return false;
    d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, ref->span, "training steps are parsed, but not derived");
    dfl_diag_help(s->sink, d, "write the backward einsums out");
    return true;
}

static dfl_sized *instantiate(dfl_sema *s, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                              const dfl_lint_levels *lints)
{
    dfl_sized *w = DFL_NEW(s->arena, dfl_sized);
    dfl_instance self = { .span = decl->node->name.span, .decl = decl, .parent = DFL_NONE };
    dfl_work c = { .s = s, .w = w, .b = &w->build, .family = "", .scope = args };

    w->decl = decl;
    w->args = args;
    w->missing = missing;
    w->build = (dfl_build){ .arena = s->arena, .sink = s->sink, .names = s->names, .new_names = s->names, .lints = lints,
                            .lint_range = dfl_sema_root_range(s),
                            .name = decl->name, .span = decl->node->name.span };
    w->instances.at = DFL_NEW_ARRAY(s->arena, dfl_instance, 1);
    w->instances.cap = 1;
    DFL_PUSH(s->arena, &w->instances, self);
    dfl_work_apply_body(&c, decl, args);
    w->instances.at[0].last_einsum = (uint32_t)w->build.einsums.n;
    w->workload = dfl_build_finish(&w->build, missing == NULL);
    w->broken = w->build.broken;
    return w;
}

static dfl_sized *find(const dfl_decl *decl, const dfl_scope *args, uint32_t hash)
{
    dfl_sized *w = dfl_symmap_get(&decl->cache, hash);

    while (w != NULL && !dfl_args_equal(w->args, args, decl->node->more->params))
        w = w->next;
    return w;
}

static void keep(dfl_sema *s, dfl_decl *decl, dfl_sized *w, uint32_t hash)
{
    w->next = dfl_symmap_get(&decl->cache, hash);
    dfl_symmap_put(s->arena, &decl->cache, hash, w);
}

dfl_sized *dfl_workload_default(dfl_sema *s, dfl_decl *decl)
{
    dfl_scope *args = dfl_scope_new(s, NULL, decl->unit);
    const dfl_ast_node *missing;
    dfl_sized *w;
    uint32_t hash;

    if (decl->broken)
        return NULL;
    if (!dfl_args_bind(s, args, decl->node->more->params, NULL, args, decl, &missing)) {
        decl->checked = decl->broken = true;
        return NULL;
    }
    hash = dfl_args_hash(args, decl->node->more->params);
    w = find(decl, args, hash);
    if (w == NULL) {
        w = instantiate(s, decl, args, missing, dfl_sema_lints(s, decl->unit));
        keep(s, decl, w, hash);
    }
    decl->checked = true;
    decl->broken = w->broken;
    return w;
}

dfl_sized *dfl_workload_of(dfl_sema *s, dfl_unit *unit, dfl_scope *from, const dfl_ast_ref *ref)
{
    dfl_decl *decl = dfl_workload_refused(s, ref) ? NULL : dfl_decl_need(s, unit, &ref->path, DFL_AST_WORKLOAD);
    const dfl_ast_node *missing;
    dfl_scope *args;
    dfl_sized *w;
    uint32_t hash;

    if (decl == NULL || (!decl->checked && dfl_workload_default(s, decl) == NULL) || decl->broken)
        return NULL;
    args = dfl_scope_new(s, NULL, decl->unit);
    if (!dfl_args_bind(s, args, decl->node->more->params, ref, from, decl, &missing))
        return NULL;
    hash = dfl_args_hash(args, decl->node->more->params);
    w = find(decl, args, hash);
    if (w == NULL) {
        size_t before = dfl_sink_count(s->sink);

        w = instantiate(s, decl, args, missing, NULL);
        keep(s, decl, w, hash);
        dfl_sema_blame(s, before, ref->span, "with the values given here");
    }
    return w->broken ? NULL : w;
}
