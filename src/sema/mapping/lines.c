/* Lines of a mapping: loops and keeps. */
#include "sema/mapping/mapping.h"

#include <stdlib.h>

static dfl_sema *sema(const dfl_place_in *p) { return p->d->s; }

void dfl_draft_hole(dfl_place_in *p, dfl_span span)
{
    if (!p->d->has_holes)
        p->d->hole_span = span;
    p->d->has_holes = true;
}

/* A place for what a search chooses, below the lines so far. */
static void choose(dfl_place_in *p, const dfl_lines *above, dfl_line_choices *out, dfl_line_choice choice)
{
    dfl_draft_hole(p, choice.span);
    p->d->n_choices++;
    choice.at = (uint32_t)above->n;
    DFL_PUSH(sema(p)->arena, out, choice);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* `?`, or `? in {8, 16}`: the set must hold sizes. */
static const dfl_hole *hole(dfl_place_in *p, const dfl_expr *e, dfl_by by)
{
    dfl_hole *h = DFL_NEW(sema(p)->arena, dfl_hole);
    dfl_values values = { 0 };
    int64_t *choices;
    bool unknown;

    h->by = by;
    dfl_draft_hole(p, e->span);
    if (e->left == NULL)
        return h;
    if (!dfl_eval_domain(sema(p), p->scope, e->left, &values, &unknown))
        p->d->broken |= !unknown;
    choices = DFL_NEW_ARRAY(sema(p)->arena, int64_t, values.n + 1);
    for (size_t i = 0; i < values.n; i++) {
        const dfl_quantity *q = &values.at[i].quantity;

        if (values.at[i].kind != DFL_VALUE_QUANTITY)
            continue;
        if (!q->exact || !dfl_dim_is_none(q->dim) || q->integer < 1 || q->integer > INT64_MAX / 2) {
            dfl_report(sema(p)->sink, DFL_EXPR_TYPE, e->left->span, "a hole takes whole numbers above zero");
            p->d->broken = true;
            return h;
        }
        choices[h->n_choices++] = (int64_t)q->integer;
    }
    qsort(choices, h->n_choices, sizeof *choices, by_size);
    for (uint32_t i = 0, n = h->n_choices, last = h->n_choices = 0; i < n; i++)
        if (i == 0 || choices[i] != choices[last])
            choices[last = h->n_choices++] = choices[i];
    h->choices = choices;
    return h;
}

/* One loop; false when it yields no line. */
static bool loop(dfl_place_in *p, const dfl_ast_node *n, dfl_line_kind kind, dfl_line *out)
{
    bool unknown;

    *out = (dfl_line){ .kind = kind, .span = n->span, .amount_span = n->value != NULL ? n->value->span : n->span,
                       .by = n->split == DFL_SPLIT_PARTS ? DFL_BY_PARTS : DFL_BY_SIZE, .amount = 1,
                       .cyclic = n->cyclic, .axis = DFL_NONE, .tensor = DFL_NONE, .memory = DFL_NONE };
    out->rank = dfl_draft_rank(p, n->path);
    if (n->value != NULL && n->value->kind == DFL_EXPR_HOLE) {
        out->hole = hole(p, n->value, out->by);
        out->by = DFL_BY_HOLE;
    } else if (n->value != NULL && !dfl_eval_int(sema(p), p->scope, n->value,
                                                 out->by == DFL_BY_PARTS ? "a number of parts" : "a tile", 1,
                                                 INT64_MAX / 2, &out->amount, &unknown)) {
        p->d->broken |= !unknown;
        out->amount = 1;
    }
    return out->rank != DFL_NONE;
}

void dfl_draft_temporal(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices)
{
    for (const dfl_ast_node *l = n->items; l != NULL; l = l->next) {
        dfl_line line;

        if (l->path->n == 0)
            choose(p, out, choices, (dfl_line_choice){ .kind = DFL_LINE_TEMPORAL, .span = l->span, .axis = DFL_NONE,
                                                  .memory = DFL_NONE, .online = n->online });
        if (l->path->n == 0 || !loop(p, l, DFL_LINE_TEMPORAL, &line))
            continue;
        line.online = n->online;
        DFL_PUSH(sema(p)->arena, out, line);
    }
}

void dfl_draft_spatial(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices)
{
    dfl_ids only = { 0 };

    for (const dfl_ast_paths *path = n->paths; path != NULL; path = path->next)
        (void)dfl_draft_head(p, path->path, NULL, &only);
    dfl_ids_sort(&only);
    for (const dfl_ast_node *g = n->items; g != NULL; g = g->next) {
        uint32_t axis = dfl_draft_axis(p, g->path);

        if (g->pipelined && p->d->refused.start == 0)
            p->d->refused = g->span;
        for (const dfl_ast_node *l = g->items; l != NULL; l = l->next) {
            dfl_line line;

            if (l->path->n == 0 && axis != DFL_NONE)
                choose(p, out, choices, (dfl_line_choice){ .kind = DFL_LINE_SPATIAL, .span = l->span, .axis = axis,
                                                      .memory = DFL_NONE });
            if (l->path->n == 0 || !loop(p, l, DFL_LINE_SPATIAL, &line) || axis == DFL_NONE)
                continue;
            line.axis = axis;
            line.only = n->paths != NULL ? only.at : NULL;
            line.n_only = (uint32_t)only.n;
            DFL_PUSH(sema(p)->arena, out, line);
        }
    }
}

void dfl_draft_keep(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices)
{
    static const dfl_keep_mode modes[] = {
        [DFL_KMODE_NONE] = DFL_KEEP_EXACT, [DFL_KMODE_FRESH] = DFL_KEEP_FRESH, [DFL_KMODE_WINDOW] = DFL_KEEP_WINDOW,
    };

    for (const dfl_ast_node *g = n->items; g != NULL; g = g->next) {
        uint32_t memory = dfl_draft_memory(p, g->path);

        for (const dfl_ast_paths *t = g->paths; t != NULL; t = t->next) {
            dfl_line line = { .kind = DFL_LINE_KEEP, .span = t->path->span, .amount_span = t->path->span,
                              .rank = DFL_NONE, .axis = DFL_NONE, .memory = memory, .mode = modes[g->mode] };

            if (t->path->n == 0 && memory != DFL_NONE)
                choose(p, out, choices, (dfl_line_choice){ .kind = DFL_LINE_KEEP, .span = t->path->span, .axis = DFL_NONE,
                                                      .memory = memory, .mode = modes[g->mode] });
            if (t->path->n == 0)
                continue;
            line.tensor = dfl_draft_tensor(p, t->path);
            if (line.tensor != DFL_NONE && memory != DFL_NONE)
                DFL_PUSH(sema(p)->arena, out, line);
        }
    }
}
