#include "sema/workload/elaborate.h"

#include "sema/expr/memo.h"
#include "sema/names/module.h"
#include "sema/workload/training.h"
#include "sema/workload/workload_internal.h"

/* Callback of type dfl_elaborate: elaborates the workload of a declaration with values for its parameters. */
static void *elaborate(dfl_sema *sema, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                       const dfl_lint_levels *lints, bool *broken)
{
    dfl_elaborated_workload *workload = dfl_workload_elaborate_training(sema, decl, args, missing, elaborate, broken);
    dfl_instance self = { .span = decl->node->name.span, .decl = decl, .parent = DFL_NONE };
    dfl_workload_context ctx = { .sema = sema, .family = "", .scope = args };

    if (workload != NULL)
        return workload;
    workload = DFL_NEW(sema->arena, dfl_elaborated_workload);
    ctx.workload = workload;
    ctx.draft = &workload->draft;
    workload->decl = decl;
    workload->args = args;
    workload->missing = missing;
    workload->draft = (dfl_workload_draft){ .arena = sema->arena,
                                            .sink = sema->sink,
                                            .names = sema->names,
                                            .new_names = sema->names,
                                            .lints = lints,
                                            .lint_range = dfl_module_root_span(sema),
                                            .name = decl->name,
                                            .span = decl->node->name.span };
    workload->instances.at = DFL_NEW_ARRAY(sema->arena, dfl_instance, 1);
    workload->instances.cap = 1;
    DFL_PUSH(sema->arena, &workload->instances, self);
    dfl_workload_elaborate_body(&ctx, decl, args, decl->node->name.span);
    workload->instances.at[0].last_einsum = (uint32_t)workload->draft.einsums.n;
    workload->workload = dfl_workload_finish(&workload->draft, missing == NULL);
    workload->broken = *broken = workload->draft.broken;
    return workload;
}

dfl_elaborated_workload *dfl_workload_elaborate_default(dfl_sema *sema, dfl_decl *decl)
{
    return dfl_memo_default(sema, decl, elaborate);
}

dfl_elaborated_workload *dfl_workload_elaborate(dfl_sema *sema, dfl_module *module, dfl_scope *from, const dfl_ast_ref *ref)
{
    if (dfl_workload_refuse_training(sema, ref))
        return NULL;
    return dfl_memo_reference(sema, dfl_decl_need(sema, module, ref->path, DFL_AST_WORKLOAD), from, ref, elaborate);
}
