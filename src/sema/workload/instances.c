/* Workloads with values for their parameters, made once for equal arguments. */
#include "sema/workload/workload.h"

#include <string.h>

#include "sema/files/made.h"

bool dfl_workload_refused(dfl_sema *s, const dfl_ast_ref *ref)
{
    dfl_diag *d;

    if (ref->path->n != 1 || strcmp(dfl_sema_text(s, ref->path->text), "train") != 0)
        return false;
    d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, ref->span, "training steps are parsed, but not derived");
    dfl_diag_help(s->sink, d, "write the backward einsums out");
    return true;
}

static void *instantiate(dfl_sema *s, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                         const dfl_lint_levels *lints, bool *broken)
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
    w->broken = *broken = w->build.broken;
    return w;
}

dfl_sized *dfl_workload_default(dfl_sema *s, dfl_decl *decl)
{
    return dfl_made_default(s, decl, instantiate);
}

dfl_sized *dfl_workload_of(dfl_sema *s, dfl_unit *unit, dfl_scope *from, const dfl_ast_ref *ref)
{
    if (dfl_workload_refused(s, ref))
        return NULL;
    return dfl_made_of(s, dfl_decl_need(s, unit, ref->path, DFL_AST_WORKLOAD), from, ref, instantiate);
}
