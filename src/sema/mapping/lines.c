/* Lowering of the lines of a mapping: loops and keeps. */
#include "sema/mapping/mapping_internal.h"

#include <stdlib.h>

#include "lint/split.h"
#include "sema/expr/eval.h"
#include "support/limits.h"

/* Notes a construct that is evaluated only in plans over chips. */
static void refuse(dfl_mapping_context *ctx, dfl_span span, const char *what)
{
    if (ctx->draft->refused.start != 0)
        return;
    ctx->draft->refused = span;
    ctx->draft->refused_what = what;
}

/* Adds a structural choice after the lines `above`. */
static void add_choice(dfl_mapping_context *ctx, const dfl_lines *above, dfl_line_choices *out, dfl_line_choice choice)
{
    dfl_mapping_note_hole(ctx, choice.span);
    ctx->draft->n_choices++;
    choice.at = (uint32_t)above->n;
    DFL_PUSH(ctx->draft->sema->arena, out, choice);
}

/* Lowers one loop but for its rank. */
static dfl_line lower_loop(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_line_kind kind)
{
    dfl_line line, *out = &line;
    bool unknown;

    *out = (dfl_line){ .kind = kind, .span = node->span, .amount_span = node->value != NULL ? node->value->span : node->span,
                       .by = node->split == DFL_SPLIT_PARTS ? DFL_BY_PARTS : DFL_BY_SIZE, .amount = 1,
                       .cyclic = node->cyclic, .rank = DFL_NONE, .axis = DFL_NONE, .tensor = DFL_NONE, .memory = DFL_NONE };
    if (node->value != NULL && node->value->kind == DFL_EXPR_HOLE) {
        out->hole = dfl_mapping_lower_hole(ctx, node->value, out->by);
        out->by = DFL_BY_HOLE;
    } else if (node->value != NULL && !dfl_eval_int(ctx->draft->sema, ctx->scope, node->value,
                                                    out->by == DFL_BY_PARTS ? "a number of parts" : "a tile", 1,
                                                    DFL_SEMA_MAX_EXTENT, &out->amount, &unknown)) {
        ctx->draft->broken |= !unknown;
        out->amount = 1;
    }
    return line;
}

/* Whether an einsum of a list, or of the workload if the list is empty, has a rank. */
static bool have_rank(const dfl_workload *w, const dfl_id_list *einsums, uint32_t rank)
{
    for (uint32_t e = 0; e < w->n_einsums && einsums->n == 0; e++)
        if (dfl_einsum_has_rank(&w->einsums[e], rank))
            return true;
    for (size_t i = 0; i < einsums->n; i++)
        if (dfl_einsum_has_rank(&w->einsums[einsums->at[i]], rank))
            return true;
    return false;
}

/* The ranks of a loop that names them: of several that share a short name, those of the einsums of the line. */
static dfl_id_list find_ranks(dfl_mapping_context *ctx, const dfl_ast_node *loop, const dfl_id_list *only)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    dfl_id_list all = { 0 }, out = { 0 };

    dfl_mapping_add_ranks(ctx, loop->path, &all);
    for (size_t i = 0; i < all.n; i++)
        if (w == NULL || all.n == 1 || have_rank(w, only, all.at[i]))
            DFL_PUSH(ctx->draft->sema->arena, &out, all.at[i]);
    return out;
}

/* Appends the lines of a loop, one for each of its ranks. */
static void push_loop(dfl_mapping_context *ctx, const dfl_ast_node *loop, dfl_line line, const dfl_id_list *ranks, dfl_lines *out)
{
    if (ranks->n > 1) {
        line.loop = ++ctx->draft->loops;
        line.loop_name = loop->path->text;
    }
    for (size_t i = 0; i < ranks->n; i++) {
        line.rank = ranks->at[i];
        DFL_PUSH(ctx->draft->sema->arena, out, line);
    }
}

/* Reports an open rank where none is searched. */
static void report_ranks(dfl_mapping_context *ctx, dfl_span at, const char *what)
{
    dfl_diag_help(ctx->draft->sema->sink, dfl_report(ctx->draft->sema->sink, DFL_EVAL_HOLE_KIND, at, "%s", what),
                  "write the rank; `spatial ?/8 on gpu` leaves it open in a plan over chips");
    ctx->draft->broken = true;
}

void dfl_mapping_lower_temporal(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    const dfl_id_list all = { 0 };

    for (const dfl_ast_node *l = node->items; l != NULL; l = l->next) {
        dfl_id_list ranks;
        dfl_line line;

        if (l->path->n == 0 && l->split != DFL_SPLIT_NONE)
            report_ranks(ctx, l->args->span, "the rank of a temporal loop with a written number of parts is not searched");
        else if (l->path->n == 0)
            add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_TEMPORAL, .span = l->span, .axis = DFL_NONE,
                                                  .memory = DFL_NONE, .online = node->online });
        if (l->path->n == 0)
            continue;
        ranks = find_ranks(ctx, l, &all);
        line = lower_loop(ctx, l, DFL_LINE_TEMPORAL);
        line.online = node->online;
        push_loop(ctx, l, line, &ranks, out);
    }
}

/* Order of ranks or memories, for qsort. */
static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Lowers the open rank of a spatial line, `?/8` or `? in {m, h}/8`, to a decision; without a set, all ranks of the einsums that
   are no `repeat`. The line has the first of these ranks. False after a report, or if nothing is known in a template. */
static bool lower_ranks(dfl_mapping_context *ctx, const dfl_ast_node *loop, const dfl_id_list *only, dfl_line *line)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    const dfl_expr *set = loop->args->left;
    dfl_decision open = { .kind = DFL_DECISION_RANK, .span = loop->args->span, .rank = DFL_NONE, .axis = DFL_NONE };
    int64_t *ranks;
    uint32_t n = 0;

    if (w == NULL)
        return false;
    ranks = DFL_NEW_ARRAY(ctx->draft->sema->arena, int64_t, (size_t)w->n_ranks + (set != NULL ? set->n_args : 0) + 1);
    for (const dfl_expr *r = set != NULL ? set->args : NULL; r != NULL; r = r->next) {
        const uint32_t rank = r->kind == DFL_EXPR_PATH ? dfl_mapping_find_rank(ctx, r->path) : DFL_NONE;

        if (r->kind != DFL_EXPR_PATH)
            report_ranks(ctx, r->span, "expected the name of a rank");
        if (rank == DFL_NONE)
            return false;
        ranks[n++] = rank;
    }
    for (uint32_t r = 0; r < w->n_ranks && set == NULL; r++) {
        bool is_repeat = false;

        for (uint32_t c = 0; c < w->n_carries; c++)
            is_repeat |= w->carries[c].rank == r;
        if (!is_repeat && have_rank(w, only, r))
            ranks[n++] = r;
    }
    qsort(ranks, n, sizeof *ranks, compare_ids);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || ranks[i] != ranks[open.n - 1])
            ranks[open.n++] = ranks[i];
    if (open.n == 0) {
        report_ranks(ctx, loop->args->span, "no rank can be divided here");
        return false;
    }
    open.values = ranks;
    line->rank = (uint32_t)ranks[0];
    line->rank_decision = dfl_mapping_add_decision(ctx, open);
    return true;
}

void dfl_mapping_lower_spatial(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    dfl_id_list only = { 0 };

    for (const dfl_ast_paths *path = node->paths; path != NULL; path = path->next)
        (void)dfl_mapping_add_head(ctx, path->path, &only);
    dfl_id_list_sort(&only);
    for (const dfl_ast_node *g = node->items; g != NULL; g = g->next) {
        uint32_t axis = dfl_mapping_find_axis(ctx, g->path);

        const dfl_stages *stages = g->pipelined ? dfl_mapping_lower_stages(ctx, g) : NULL;

        if (g->pipelined)
            refuse(ctx, g->span, "a pipeline over an axis");
        for (const dfl_ast_node *l = g->items; l != NULL; l = l->next) {
            dfl_id_list ranks = { 0 };
            dfl_line line;

            if (g->pipelined && l->path->n == 0 && l->split != DFL_SPLIT_NONE) {
                report_ranks(ctx, l->args->span, "the rank of stages is not searched");
                continue;
            }
            if (l->path->n == 0 && l->split == DFL_SPLIT_NONE && axis != DFL_NONE)
                add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_SPATIAL, .span = l->span, .axis = axis,
                                                      .memory = DFL_NONE });
            if ((l->path->n == 0 && l->split == DFL_SPLIT_NONE) || axis == DFL_NONE)
                continue;
            line = lower_loop(ctx, l, DFL_LINE_SPATIAL);
            line.axis = axis;
            line.stages = stages;
            line.only = node->paths != NULL ? only.at : NULL;
            line.n_only = (uint32_t)only.n;
            if (l->path->n == 0 && lower_ranks(ctx, l, &only, &line))
                DFL_PUSH(ctx->draft->sema->arena, &ranks, line.rank);
            else if (stages != NULL && l->path->n > 0 && (line.rank = dfl_mapping_find_rank(ctx, l->path)) != DFL_NONE)
                DFL_PUSH(ctx->draft->sema->arena, &ranks, line.rank);
            else if (stages == NULL && l->path->n > 0)
                ranks = find_ranks(ctx, l, &only);
            if (stages != NULL && ranks.n > 0)
                dfl_mapping_check_stages(ctx, &line);
            push_loop(ctx, l, line, &ranks, out);
        }
    }
}

/* Adds the line of a keep. The keep of a table also keeps the rows that gathers read from the table. */
static void push_keep(dfl_mapping_context *ctx, dfl_line line, dfl_lines *out)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    uint32_t table = line.tensor;

    DFL_PUSH(ctx->draft->sema->arena, out, line);
    for (uint32_t t = 0; w != NULL && w->has_gathered && t < w->n_tensors; t++)
        if (w->tensors[t].gathered && w->tensors[t].table == table && t != table) {
            line.tensor = t;
            DFL_PUSH(ctx->draft->sema->arena, out, line);
        }
}

/* ---- split homes ---- */

/* A part of a home as it is written: for each tensor, over the first of these ranks that it has. */
typedef struct {
    dfl_home_split split;
    dfl_id_list ranks;
} home_loop;
typedef DFL_VEC(home_loop) home_splits;

static const char PARTS[] = "write parts or sizes, as in `split d/8 on node`";

/* Reports E0430 about a loop of `split`. */
static void report_split(dfl_mapping_context *ctx, dfl_span at, const char *what, const char *help)
{
    dfl_diag_help(ctx->draft->sema->sink, dfl_report(ctx->draft->sema->sink, DFL_MAP_HOME_SPLIT, at, "%s", what), "%s", help);
    ctx->draft->broken = true;
}

/* A part of a home from its loop; with an open amount, one part until that is decided. */
static dfl_home_split lower_split(dfl_mapping_context *ctx, const dfl_ast_node *loop, const dfl_id_list *ranks, uint32_t axis)
{
    const uint32_t rank = ranks->at[0];
    const dfl_line lowered = lower_loop(ctx, loop, DFL_LINE_KEEP), *line = &lowered;
    const dfl_workload *w = ctx->draft->workload->workload;
    const dfl_sym name = ranks->n > 1 || w == NULL ? loop->path->text : w->ranks[rank].name;
    dfl_home_split out = { .span = loop->span, .rank = rank, .axis = axis, .rank_name = name, .by = line->by,
                           .amount = line->amount };
    const dfl_hole *hole = line->hole;

    if (hole == NULL)
        return out;
    out.by = hole->by;
    out.amount = hole->by == DFL_BY_PARTS ? 1 : DFL_SEMA_MAX_EXTENT;
    out.decision = dfl_mapping_add_decision(ctx, (dfl_decision){ .kind = DFL_DECISION_SPLIT, .span = loop->value->span,
                                                                 .by = hole->by, .rank = rank, .axis = axis, .rank_name = name,
                                                                 .values = hole->choices, .n = hole->n_choices });
    return out;
}

/* Lowers the parts behind `split`. */
static home_splits lower_splits(dfl_mapping_context *ctx, const dfl_ast_node *spreads)
{
    const dfl_id_list all = { 0 };
    home_splits out = { 0 };

    for (const dfl_ast_node *g = spreads; g != NULL; g = g->next) {
        uint32_t axis = dfl_mapping_find_axis(ctx, g->path);

        if (g->pipelined)
            report_split(ctx, g->span, "the parts of a home are no stages of a pipeline", PARTS);
        for (const dfl_ast_node *l = g->items; l != NULL; l = l->next) {
            dfl_id_list ranks;

            if (l->path->n == 0 || l->cyclic) {
                report_split(ctx, l->span, l->cyclic ? "the parts of a home are not dealt round-robin"
                                                     : "the rank by which a home is split is not searched", PARTS);
                continue;
            }
            ranks = find_ranks(ctx, l, &all);
            if (ranks.n > 0 && axis != DFL_NONE)
                DFL_PUSH(ctx->draft->sema->arena, &out, ((home_loop){ lower_split(ctx, l, &ranks, axis), ranks }));
        }
    }
    return out;
}

/* The dimension of a table in which a rank selects the rows that are read; -1 = none. */
static int table_dimension(const dfl_workload *w, uint32_t table, uint32_t rank)
{
    for (uint32_t r = 0; r < w->n_tensors; r++)
        for (uint32_t d = 0; w->tensors[r].gathered && w->tensors[r].table == table && d < w->tensors[r].n_table_dims; d++)
            if (dfl_index_coef(&w->tensors[r].table_index[d], rank) != 0)
                return (int)d;
    return -1;
}

/* The dimension of a tensor that an access indexes with a rank; -1 = none. */
static int dimension_of(const dfl_workload *w, uint32_t tensor, uint32_t rank)
{
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t p = 0; p < t->n_producers + t->n_consumers; p++) {
        const dfl_einsum *e = &w->einsums[p < t->n_producers ? t->producers[p] : t->consumers[p - t->n_producers]];

        for (uint32_t i = 0; i <= e->n_inputs; i++) {
            const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;
            for (uint32_t d = 0; a->tensor == tensor && d < a->n_dims; d++)
                if (dfl_index_coef(&a->index[d], rank) != 0)
                    return (int)d;
        }
    }
    return table_dimension(w, tensor, rank);
}

/* Sets the rank of a split for a tensor: the first one of its loop that the tensor has. Returns whether there is one; false with
   DFL_NONE as the rank after a report: the name stands for ranks of several dimensions. */
static bool choose_rank(dfl_mapping_context *ctx, const home_loop *loop, uint32_t tensor, dfl_home_split *split)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    int dimension = -1;

    for (size_t i = 0; i < loop->ranks.n; i++) {
        const int d = dimension_of(w, tensor, loop->ranks.at[i]);

        if (d >= 0 && dimension >= 0 && d != dimension) {
            report_split(ctx, split->span, dfl_arena_printf(ctx->draft->sema->arena, "this name stands for ranks of several "
                         "dimensions of `%s`", dfl_sema_text(ctx->draft->sema, w->tensors[tensor].name)),
                         "write the full name of one of the ranks");
            split->rank = DFL_NONE;
            return false;
        }
        split->rank = d >= 0 && dimension < 0 ? loop->ranks.at[i] : split->rank;
        dimension = d >= 0 ? d : dimension;
    }
    return dimension >= 0;
}

/* Sets the splits of a home: those over ranks of the tensor. `named`: the text names the tensor itself, no group; then the
   lint split-unused reports the others. */
static void set_splits(dfl_mapping_context *ctx, const home_splits *all, bool named, dfl_line *line)
{
    const dfl_workload *w = ctx->draft->workload->workload;
    DFL_VEC(dfl_home_split) own = { 0 };

    for (size_t i = 0; w != NULL && i < all->n; i++) {
        dfl_home_split split = all->at[i].split;

        if (choose_rank(ctx, &all->at[i], line->tensor, &split))
            DFL_PUSH(ctx->draft->sema->arena, &own, split);
        else if (named && split.rank != DFL_NONE)
            dfl_lint_split_unused(ctx->draft->sema->sink, dfl_module_lints(ctx->draft->sema, ctx->module), split.span,
                                  dfl_sema_text(ctx->draft->sema, w->ranks[split.rank].name),
                                  dfl_sema_text(ctx->draft->sema, w->tensors[line->tensor].name));
    }
    line->splits = own.at;
    line->n_splits = (uint32_t)own.n;
}

/* ---- keeps ---- */

/* Lowers the memories of `keep T in M | N`, of which one is chosen. Returns the first of them, DFL_NONE after a report; sets
   `*decision`, 0 for one memory alone. */
static uint32_t lower_homes(dfl_mapping_context *ctx, const dfl_ast_node *kept, uint32_t *decision)
{
    dfl_decision open = { .kind = DFL_DECISION_HOME, .rank = DFL_NONE, .axis = DFL_NONE };
    int64_t *memories;
    uint32_t n = 0;

    *decision = 0;
    if (kept->items == NULL)
        return dfl_mapping_find_memory(ctx, kept->path);
    open.span = kept->items->span;
    for (const dfl_ast_node *home = kept->items; home != NULL; home = home->next, n++)
        open.span.end = home->span.end;
    memories = DFL_NEW_ARRAY(ctx->draft->sema->arena, int64_t, n);
    n = 0;
    for (const dfl_ast_node *home = kept->items; home != NULL; home = home->next) {
        const uint32_t memory = dfl_mapping_find_memory(ctx, home->path);

        if (memory == DFL_NONE)
            return DFL_NONE;
        memories[n++] = memory;
    }
    qsort(memories, n, sizeof *memories, compare_ids);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || memories[i] != memories[open.n - 1])
            memories[open.n++] = memories[i];
    open.values = memories;
    *decision = dfl_mapping_add_decision(ctx, open);
    return (uint32_t)memories[0];
}

void dfl_mapping_lower_keep(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out, dfl_line_choices *choices)
{
    static const dfl_keep_mode modes[] = {
        [DFL_KMODE_NONE] = DFL_KEEP_EXACT, [DFL_KMODE_FRESH] = DFL_KEEP_FRESH, [DFL_KMODE_WINDOW] = DFL_KEEP_WINDOW,
    };

    const home_splits splits = lower_splits(ctx, node->body);

    if (splits.n > 0)
        refuse(ctx, node->body->span, "the split of a home");
    for (const dfl_ast_node *g = node->items; g != NULL; g = g->next) {
        uint32_t decision;
        const uint32_t memory = lower_homes(ctx, g, &decision);

        for (const dfl_ast_paths *t = g->paths; t != NULL; t = t->next) {
            dfl_line line = { .kind = DFL_LINE_KEEP, .span = t->path->span, .amount_span = t->path->span,
                              .rank = DFL_NONE, .axis = DFL_NONE, .memory = memory, .memory_decision = decision,
                              .mode = modes[g->mode] };
            dfl_id_list tensors = { 0 };

            if (t->path->n == 0 && memory != DFL_NONE)
                add_choice(ctx, out, choices, (dfl_line_choice){ .kind = DFL_LINE_KEEP, .span = t->path->span, .axis = DFL_NONE,
                                                      .memory = memory, .mode = modes[g->mode] });
            if (t->path->n == 0)
                continue;
            dfl_mapping_add_tensors(ctx, t->path, &tensors);
            for (size_t i = 0; i < tensors.n && memory != DFL_NONE; i++) {
                line.tensor = tensors.at[i];
                if (splits.n > 0)
                    set_splits(ctx, &splits, tensors.n == 1, &line);
                push_keep(ctx, line, out);
            }
        }
    }
}
