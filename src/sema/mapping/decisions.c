/* Recomputed tensors, and decisions about them: `recompute ?`, `recompute ? in {A, B}`, `recompute none | A, B | forward`. */
#include "sema/mapping/mapping_internal.h"

#include <string.h>

/* Appends the tensors that a name stands for: those that it names, or the results of a group of einsums. */
static void add_recomputed(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    dfl_id_list einsums = { 0 };
    bool declared = path->members != NULL || dfl_lookup_find(dfl_mapping_tensor_names(ctx->draft), path->text) != NULL;

    if (declared || !dfl_mapping_add_einsum_group(ctx, path->text, &einsums)) {
        dfl_mapping_add_tensors(ctx, path, out);
        return;
    }
    for (size_t i = 0; w != NULL && i < einsums.n; i++)
        DFL_PUSH(ctx->draft->sema->arena, out, w->einsums[einsums.at[i]].output.tensor);
}

/* Appends the tensors of one set: `none`, or those that its paths name. */
static void add_set(dfl_mapping_context *ctx, const dfl_ast_paths *paths, dfl_id_list *out)
{
    for (const dfl_ast_paths *t = paths; t != NULL; t = t->next) {
        const bool is_word = t->path->members == NULL && strcmp(dfl_sema_text(ctx->draft->sema, t->path->text), "none") == 0;

        if (!is_word || dfl_lookup_find(dfl_mapping_tensor_names(ctx->draft), t->path->text) != NULL)
            add_recomputed(ctx, t->path, out);
        else if (paths->next != NULL)
            dfl_diag_help(ctx->draft->sema->sink,
                          dfl_report(ctx->draft->sema->sink, DFL_SYNTAX_UNEXPECTED, t->path->span, "`none` in a list of tensors"),
                          "write `none | A` for a choice between nothing and a set, or leave `none` out");
    }
    dfl_id_list_sort(out);
}

/* Appends the intermediates of the forward pass that a pass backwards can make again: all but those that a layer begins with. */
static void add_all(dfl_mapping_context *ctx, dfl_id_list *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;

    for (uint32_t t = 0; w != NULL && t < w->n_tensors; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        bool is_made = tensor->part == DFL_PART_PLAIN && tensor->role == DFL_ROLE_INTERMEDIATE && tensor->n_producers > 0 &&
                       w->einsums[tensor->producers[0]].phase == DFL_PHASE_FORWARD;

        for (uint32_t c = 0; c < w->n_carries; c++)
            is_made &= w->carries[c].to != t;
        if (is_made)
            DFL_PUSH(ctx->draft->sema->arena, out, t);
    }
}

/* Lowers `recompute ?`: each of the tensors is recomputed or not, a decision of its own. */
static void lower_each(dfl_mapping_context *ctx, const dfl_ast_node *node)
{
    dfl_arena *arena = ctx->draft->sema->arena;
    dfl_id_list among = { 0 };

    if (node->paths != NULL)
        add_set(ctx, node->paths, &among);
    else
        add_all(ctx, &among);
    for (size_t i = 0; i < among.n; i++) {
        dfl_tensor_set *sets = DFL_NEW_ARRAY(arena, dfl_tensor_set, 2);

        sets[1] = (dfl_tensor_set){ &among.at[i], 1 };
        (void)dfl_mapping_add_decision(ctx, (dfl_decision){ .kind = DFL_DECISION_RECOMPUTE, .span = node->span, .rank = DFL_NONE,
                                                            .axis = DFL_NONE, .n = 2, .sets = sets });
    }
}

/* Lowers `recompute A | B, C | none`: one of the sets. */
static void lower_one_of(dfl_mapping_context *ctx, const dfl_ast_node *items)
{
    dfl_arena *arena = ctx->draft->sema->arena;
    dfl_decision one = { .kind = DFL_DECISION_RECOMPUTE, .span = items->span, .rank = DFL_NONE, .axis = DFL_NONE };
    dfl_tensor_set *sets;

    for (const dfl_ast_node *set = items; set != NULL; set = set->next)
        one.n++;
    one.sets = sets = DFL_NEW_ARRAY(arena, dfl_tensor_set, one.n);
    for (const dfl_ast_node *set = items; set != NULL; set = set->next, sets++) {
        dfl_id_list tensors = { 0 };

        one.span.end = set->span.end;
        add_set(ctx, set->paths, &tensors);
        *sets = (dfl_tensor_set){ tensors.at, (uint32_t)tensors.n };
        if (set->value != NULL) {
            dfl_diag_help(ctx->draft->sema->sink,
                          dfl_report(ctx->draft->sema->sink, DFL_SYNTAX_UNEXPECTED, set->span, "`?` is no alternative"),
                          "write `recompute ?;` alone, or sets of tensors, as in `recompute none | A, B | forward;`");
            ctx->draft->broken = true;
        }
    }
    (void)dfl_mapping_add_decision(ctx, one);
}

void dfl_mapping_lower_recompute(dfl_mapping_context *ctx, const dfl_ast_node *node, bool is_inside, dfl_id_list *out)
{
    if (node->items != NULL && is_inside) {
        dfl_diag_help(ctx->draft->sema->sink,
                      dfl_report(ctx->draft->sema->sink, DFL_EVAL_UNSUPPORTED, node->span,
                                 "recomputed tensors are searched only outside of braces"),
                      "write the choice above the branches");
        ctx->draft->broken = true;
    } else if (node->items == NULL) {
        add_set(ctx, node->paths, out);
    } else if (node->items->next == NULL) {
        lower_each(ctx, node->items);
    } else {
        lower_one_of(ctx, node->items);
    }
}
