/* Stages of a pipeline over chips: `spatial layer/16 on node pipeline(schedule = one_f_one_b, interleave = 2)`. */
#include "sema/mapping/mapping_internal.h"

#include <string.h>

#include "sema/expr/eval.h"
#include "support/limits.h"

enum { N_SCHEDULES = DFL_SCHEDULE_JOINED + 1 };
enum { SCHEDULE, INTERLEAVE, N_ARGUMENTS };
static const char *const arguments[N_ARGUMENTS] = { [SCHEDULE] = "schedule", [INTERLEAVE] = "interleave" };

/* Reports a name that is none of the words `known`, arguments or schedules, with the most similar one. */
static void report_word(dfl_mapping_context *ctx, dfl_span at, const char *name, const char *const *known, uint32_t n)
{
    dfl_sema *sema = ctx->draft->sema;
    dfl_diag *d = known == arguments ? dfl_report(sema->sink, DFL_ARGUMENT_UNKNOWN, at, "`pipeline` has no argument `%s`", name)
                                     : dfl_report(sema->sink, DFL_NAME_UNKNOWN, at, "no schedule `%s`", name);
    dfl_sym words[N_SCHEDULES + N_ARGUMENTS], near;

    ctx->draft->broken = true;
    for (uint32_t i = 0; i < n; i++)
        words[i] = dfl_intern_z(sema->names, known[i]);
    near = dfl_suggest(sema->names, name, words, n);
    if (near != 0)
        dfl_diag_fix(sema->sink, d, at, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(sema->sink, d, n == 2 ? "`%s` and `%s` are known" : "`%s`, `%s`, `%s` and `%s` are known",
                      known[0], known[1], known[n > 2 ? 2 : 1], known[n - 1]);
}

/* Reads the word of a schedule. Returns whether it is one. */
static bool read_schedule(dfl_mapping_context *ctx, const dfl_expr *arg, dfl_schedule *out)
{
    const char *known[N_SCHEDULES];
    const char *word = arg->kind == DFL_EXPR_PATH ? dfl_sema_text(ctx->draft->sema, arg->path->text) : NULL;

    for (unsigned i = 0; i < N_SCHEDULES; i++) {
        known[i] = dfl_schedule_name((dfl_schedule)i);
        if (word != NULL && strcmp(word, known[i]) == 0) {
            *out = (dfl_schedule)i;
            return true;
        }
    }
    if (word != NULL) {
        report_word(ctx, arg->span, word, known, N_SCHEDULES);
        return false;
    }
    dfl_diag_help(ctx->draft->sema->sink,
                  dfl_report(ctx->draft->sema->sink, DFL_EXPR_TYPE, arg->span, "expected the name of a schedule"),
                  "write `schedule = gpipe`, `one_f_one_b`, `zero_bubble` or `joined`");
    ctx->draft->broken = true;
    return false;
}

/* Adds the decision about an open schedule: without a list, all but `joined`, which no machine runs. Returns its number. */
static uint32_t open_schedule(dfl_mapping_context *ctx, const dfl_expr *arg)
{
    int64_t *values = DFL_NEW_ARRAY(ctx->draft->sema->arena, int64_t, N_SCHEDULES);
    dfl_decision open = { .kind = DFL_DECISION_SCHEDULE, .span = arg->span, .rank = DFL_NONE, .axis = DFL_NONE,
                          .values = values };
    bool is_listed[N_SCHEDULES] = { false };

    if (arg->left != NULL && arg->left->kind != DFL_EXPR_SET)
        (void)read_schedule(ctx, arg->left, &(dfl_schedule){ 0 });
    for (const dfl_expr *a = arg->left != NULL ? arg->left->args : NULL; a != NULL; a = a->next) {
        dfl_schedule word;

        if (read_schedule(ctx, a, &word))
            is_listed[word] = true;
    }
    for (int i = 0; i < N_SCHEDULES; i++)
        if (arg->left != NULL ? is_listed[i] : i != DFL_SCHEDULE_JOINED)
            values[open.n++] = i;
    return dfl_mapping_add_decision(ctx, open);
}

/* Adds the decision about an open interleave. Returns its number. */
static uint32_t open_interleave(dfl_mapping_context *ctx, const dfl_ast_node *spread, const dfl_expr *arg)
{
    const dfl_hole *hole = dfl_mapping_lower_hole(ctx, arg, DFL_BY_PARTS);
    dfl_decision open = { .kind = DFL_DECISION_INTERLEAVE, .span = arg->span, .axis = DFL_NONE, .values = hole->choices,
                          .n = hole->n_choices };

    open.rank = spread->items != NULL && spread->items->path->n > 0 ? dfl_mapping_find_rank(ctx, spread->items->path) : DFL_NONE;
    return dfl_mapping_add_decision(ctx, open);
}

/* The position of an argument in `arguments`; N_ARGUMENTS after reporting. */
static uint32_t find_argument(dfl_mapping_context *ctx, const dfl_expr *arg, uint32_t position)
{
    const char *label = arg->label.sym != 0 ? dfl_sema_text(ctx->draft->sema, arg->label.sym) : NULL;

    for (uint32_t i = 0; i < N_ARGUMENTS; i++)
        if (label != NULL ? strcmp(label, arguments[i]) == 0 : i == position)
            return i;
    if (label != NULL) {
        report_word(ctx, arg->label.span, label, arguments, N_ARGUMENTS);
    } else {
        dfl_diag_help(ctx->draft->sema->sink,
                      dfl_report(ctx->draft->sema->sink, DFL_ARGUMENT_TOO_MANY, arg->span, "too many arguments for `pipeline`"),
                      "its arguments are `schedule` and `interleave`");
        ctx->draft->broken = true;
    }
    return N_ARGUMENTS;
}

const dfl_stages *dfl_mapping_lower_stages(dfl_mapping_context *ctx, const dfl_ast_node *spread)
{
    dfl_sema *sema = ctx->draft->sema;
    dfl_stages *out = DFL_NEW(sema->arena, dfl_stages);
    const dfl_expr *given[N_ARGUMENTS] = { NULL };
    uint32_t position = 0;
    bool unknown = false;

    *out = (dfl_stages){ .span = spread->span, .interleave = 1 };
    for (const dfl_expr *arg = spread->args; arg != NULL; arg = arg->next, position++) {
        uint32_t i = find_argument(ctx, arg, position);

        if (i < N_ARGUMENTS && given[i] != NULL) {
            dfl_scope_report_twice(sema, arg->span, given[i]->span, "given", arguments[i]);
            ctx->draft->broken = true;
        } else if (i < N_ARGUMENTS) {
            given[i] = arg;
        }
    }
    if (given[SCHEDULE] != NULL && given[SCHEDULE]->kind == DFL_EXPR_HOLE) {
        out->schedule_decision = open_schedule(ctx, given[SCHEDULE]);
    } else if (given[SCHEDULE] != NULL) {
        (void)read_schedule(ctx, given[SCHEDULE], &out->schedule);
    } else if (position == 0 || given[INTERLEAVE] != NULL) {
        dfl_diag_help(sema->sink, dfl_report(sema->sink, DFL_ARGUMENT_MISSING, spread->span, "`pipeline` needs a `schedule`"),
                      "write `pipeline(schedule = one_f_one_b)`; the others are `gpipe`, `zero_bubble` and `joined`");
        ctx->draft->broken = true;
    }
    if (given[INTERLEAVE] != NULL && given[INTERLEAVE]->kind == DFL_EXPR_HOLE)
        out->interleave_decision = open_interleave(ctx, spread, given[INTERLEAVE]);
    else if (given[INTERLEAVE] != NULL && !dfl_eval_int(sema, ctx->scope, given[INTERLEAVE], "the interleave", 1,
                                                        DFL_SEMA_MAX_COUNT, &out->interleave, &unknown))
        ctx->draft->broken |= !unknown;
    return out;
}

/* Whether a rank counts the iterations of a `repeat`. */
static bool is_repeat(const dfl_mapping_draft *draft, uint32_t rank)
{
    const dfl_workload_draft *w = &draft->workload->draft;
    const dfl_workload *ir = draft->workload->workload;

    for (size_t i = 0; i < w->carries.n; i++)
        if (w->carries.at[i].rank == rank)
            return true;
    for (uint32_t i = 0; ir != NULL && i < ir->n_carries; i++)
        if (ir->carries[i].rank == rank)
            return true;
    for (size_t t = 0; t < w->tensors.n; t++)
        for (uint32_t i = 0; i < w->tensors.at[t].n_lead; i++)
            if (w->tensors.at[t].lead[i] == rank)
                return true;
    return false;
}

void dfl_mapping_check_stages(dfl_mapping_context *ctx, const dfl_line *line)
{
    const dfl_workload_draft *w = &ctx->draft->workload->draft;
    dfl_sema *sema = ctx->draft->sema;
    const char *repeat = NULL;
    dfl_diag *d;

    if (is_repeat(ctx->draft, line->rank) || w->partial)
        return;
    for (uint32_t r = 0; r < w->ranks.n && repeat == NULL; r++)
        repeat = is_repeat(ctx->draft, r) ? dfl_sema_text(sema, w->ranks.at[r].name) : NULL;
    d = dfl_report(sema->sink, DFL_MAP_STAGES, line->span, "`%s` is no rank of a `repeat`",
                   dfl_sema_text(sema, w->ranks.at[line->rank].name));
    dfl_diag_label(sema->sink, d, w->ranks.at[line->rank].span, "declared here");
    if (repeat != NULL)
        dfl_diag_help(sema->sink, d, "stages consist of iterations: write `%s` here, or no `pipeline`: then the instances work "
                      "beside each other", repeat);
    else
        dfl_diag_help(sema->sink, d, "stages consist of iterations, as of `repeat 96 as layer`: without `pipeline`, the "
                      "instances work beside each other");
    ctx->draft->broken = true;
}
