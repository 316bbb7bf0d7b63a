/* Tensors in the selections of a system: `holds`, `operand_reuse`, `multicast`, `reduce`. */
#include "sema/mapping/mapping_internal.h"

#include <string.h>

/* The tensor of the workload, or else the role, whose name is most similar to `name`; 0 if none is similar. */
static dfl_sym suggest_holder(dfl_mapping_draft *draft, dfl_sym name)
{
    dfl_sym near = dfl_lookup_suggest(dfl_mapping_tensor_names(draft), name);

    return near != 0 ? near : dfl_role_suggest(draft->sema, name);
}

/* Reports the names in one selection that are no names of tensors; `what`: attribute with the selection; `span`: the
   place of its part. */
static void check_names(dfl_mapping_draft *draft, const dfl_selection *sel, dfl_span span, const char *what, dfl_span use)
{
    for (uint32_t i = 0; i < sel->n_names; i++) {
        dfl_diag *diag;
        dfl_sym near;

        if (dfl_lookup_find(dfl_mapping_tensor_names(draft), sel->names[i]) != NULL || draft->workload->draft.partial)
            continue;
        draft->broken = true;
        if (sel->spans != NULL)
            span = sel->spans[i];
        if (dfl_sink_has(draft->sema->sink, DFL_SYS_HOLDS_UNKNOWN, span))
            continue;
        diag = dfl_report(draft->sema->sink, DFL_SYS_HOLDS_UNKNOWN, span,
                          "`%s` of the system names `%s`, which is no tensor of `%s`", what,
                          dfl_sema_text(draft->sema, sel->names[i]), dfl_sema_text(draft->sema, draft->workload->decl->name));
        dfl_diag_label(draft->sema->sink, diag, use, "the system runs `%s` here",
                       dfl_sema_text(draft->sema, draft->workload->decl->name));
        near = dfl_sink_drops(draft->sema->sink) ? 0 : suggest_holder(draft, sel->names[i]);
        if (near != 0)
            dfl_diag_fix(draft->sema->sink, diag, span, dfl_sema_text(draft->sema, near), DFL_FIX_MAYBE);
    }
}

void dfl_mapping_check_selections(dfl_mapping_draft *draft, const dfl_system *system, dfl_span use)
{
    for (uint32_t i = 0; i < system->n_memories; i++)
        check_names(draft, &system->memories[i].holds, system->memories[i].span, "holds", use);
    for (uint32_t i = 0; i < system->n_computes; i++)
        check_names(draft, &system->computes[i].operand_reuse, system->computes[i].span, "operand_reuse", use);
    for (uint32_t i = 0; i < system->n_axes; i++) {
        check_names(draft, &system->axes[i].multicast, system->axes[i].span, "multicast", use);
        check_names(draft, &system->axes[i].reduce, system->axes[i].span, "reduce", use);
    }
}

/* A copy of the selection, with each name replaced by the full names of all tensors that end with the name. */
static dfl_selection resolve_names(dfl_mapping_draft *draft, dfl_selection sel)
{
    DFL_VEC(dfl_sym) full = { 0 };
    const dfl_workload_draft *workload = &draft->workload->draft;

    for (uint32_t i = 0; i < sel.n_names; i++) {
        const char *wanted = dfl_sema_text(draft->sema, sel.names[i]);
        size_t len = strlen(wanted);

        for (size_t t = 0; t < workload->tensors.n; t++) {
            const char *name = dfl_sema_text(draft->sema, workload->tensors.at[t].name);
            size_t n = strlen(name);

            if (n >= len && strcmp(name + n - len, wanted) == 0 && (n == len || name[n - len - 1] == '.'))
                DFL_PUSH(draft->sema->arena, &full, workload->tensors.at[t].name);
        }
    }
    sel.names = full.at;
    sel.n_names = (uint32_t)full.n;
    sel.spans = NULL;
    return sel;
}

/* Whether a selection of the system names a tensor. */
static bool has_names(const dfl_system *system)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_memories; i++)
        n += system->memories[i].holds.n_names;
    for (uint32_t i = 0; i < system->n_computes; i++)
        n += system->computes[i].operand_reuse.n_names;
    for (uint32_t i = 0; i < system->n_axes; i++)
        n += system->axes[i].multicast.n_names + system->axes[i].reduce.n_names;
    return n > 0;
}

const dfl_system *dfl_mapping_resolve_selections(dfl_mapping_draft *draft, const dfl_system *system)
{
    dfl_system *out;
    dfl_memory *memories;
    dfl_compute *computes;
    dfl_axis *axes;

    if (!has_names(system))
        return system;
    out = DFL_NEW(draft->sema->arena, dfl_system);
    memories = DFL_NEW_ARRAY(draft->sema->arena, dfl_memory, system->n_memories);
    computes = DFL_NEW_ARRAY(draft->sema->arena, dfl_compute, system->n_computes);
    axes = DFL_NEW_ARRAY(draft->sema->arena, dfl_axis, system->n_axes);
    for (uint32_t i = 0; i < system->n_memories; i++) {
        memories[i] = system->memories[i];
        memories[i].holds = resolve_names(draft, memories[i].holds);
    }
    for (uint32_t i = 0; i < system->n_computes; i++) {
        computes[i] = system->computes[i];
        computes[i].operand_reuse = resolve_names(draft, computes[i].operand_reuse);
    }
    for (uint32_t i = 0; i < system->n_axes; i++) {
        axes[i] = system->axes[i];
        axes[i].multicast = resolve_names(draft, axes[i].multicast);
        axes[i].reduce = resolve_names(draft, axes[i].reduce);
    }
    *out = *system;
    out->memories = memories;
    out->computes = computes;
    out->axes = axes;
    return out;
}
