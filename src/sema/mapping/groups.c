/*
 * Groups of names, which declared names shadow. Einsums: `forward`, `backward` and `update`, the phases of a training step.
 * Tensors: `weights`; `gradients`, of weights; `moments`, the states of the optimizer with the master copy; `activations`, all
 * others but states. A workload without training has the groups `forward`, `weights` and `activations`.
 */
#include "sema/mapping/mapping_internal.h"

#include <string.h>

enum { N_TENSOR_GROUPS = 4 };
static const char *const phases[] = { [DFL_PHASE_FORWARD] = "forward", [DFL_PHASE_BACKWARD] = "backward",
                                      [DFL_PHASE_UPDATE] = "update" };
static const char *const tensor_groups[N_TENSOR_GROUPS] = { "weights", "gradients", "moments", "activations" };

/* The index of a word in a list of words; `n` if the list lacks it. */
static uint32_t find_word(const char *const *words, uint32_t n, const char *word)
{
    uint32_t i = 0;

    while (i < n && strcmp(words[i], word) != 0)
        i++;
    return i;
}

/* The index of the group of a tensor in `tensor_groups`; N_TENSOR_GROUPS = none. */
static uint32_t group_of(const dfl_workload *w, const dfl_tensor *t)
{
    if (t->part == DFL_PART_MOMENT)
        return 2;
    if (t->part == DFL_PART_GRADIENT && t->of != DFL_NONE && w->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return 1;
    if (t->part == DFL_PART_PLAIN && t->role == DFL_ROLE_WEIGHT)
        return 0;
    return t->part == DFL_PART_PLAIN && t->role == DFL_ROLE_STATE ? N_TENSOR_GROUPS : 3;
}

/* Whether the workload is derived by `train`. */
static bool is_trained(const dfl_workload *w)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase != DFL_PHASE_FORWARD)
            return true;
    return false;
}

bool dfl_mapping_help_tensor_group(dfl_mapping_context *ctx, dfl_diag *d, const dfl_ast_path *path)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    dfl_sema *sema = ctx->draft->sema;
    const char *word = dfl_sema_text(sema, path->text);
    dfl_sym groups[N_TENSOR_GROUPS], near;

    if (find_word(tensor_groups, N_TENSOR_GROUPS, word) < N_TENSOR_GROUPS) {
        dfl_diag_help(sema->sink, d, "only a training step has `%s`: `workload step = train(W, optimizer = adam(fp32));`", word);
        return true;
    }
    for (uint32_t i = 0; i < N_TENSOR_GROUPS; i++)
        groups[i] = dfl_intern_z(sema->names, tensor_groups[i]);
    near = dfl_suggest(sema->names, word, groups, N_TENSOR_GROUPS);
    if (near == 0 && strncmp(word, "grad", 4) == 0)
        near = groups[1];
    if (near != 0)
        dfl_diag_fix(sema->sink, d, path->span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else if (strcmp(word, "all") == 0 || strcmp(word, "full") == 0 || (w != NULL && path->n == 1 && is_trained(w)))
        dfl_diag_help(sema->sink, d, "the groups of tensors are `weights`, `gradients`, `moments` (the state of the optimizer) "
                      "and `activations`; behind `recompute`, `forward` stands for all results of the forward pass");
    else
        return false;
    return true;
}

bool dfl_mapping_add_einsum_group(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    uint32_t phase = find_word(phases, DFL_PHASE_UPDATE + 1, dfl_sema_text(ctx->draft->sema, name));

    if (phase > DFL_PHASE_UPDATE || (w != NULL && phase != DFL_PHASE_FORWARD && !is_trained(w)))
        return false;
    for (uint32_t e = 0; w != NULL && e < w->n_einsums; e++)
        if ((uint32_t)w->einsums[e].phase == phase)
            DFL_PUSH(ctx->draft->sema->arena, out, e);
    return w != NULL || ctx->draft->template;
}

bool dfl_mapping_is_tensor_group(const dfl_mapping_draft *draft, dfl_sym name)
{
    return find_word(tensor_groups, N_TENSOR_GROUPS, dfl_sema_text(draft->sema, name)) != N_TENSOR_GROUPS;
}

bool dfl_mapping_add_tensor_group(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    uint32_t group = find_word(tensor_groups, N_TENSOR_GROUPS, dfl_sema_text(ctx->draft->sema, name));

    if (group == N_TENSOR_GROUPS || (w != NULL && (group == 1 || group == 2) && !is_trained(w)))
        return false;
    for (uint32_t t = 0; w != NULL && t < w->n_tensors; t++)
        if (group_of(w, &w->tensors[t]) == group)
            DFL_PUSH(ctx->draft->sema->arena, out, t);
    return w != NULL || ctx->draft->template;
}
