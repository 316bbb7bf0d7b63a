/* Building the forest of keeps. */
#include "model/counts/keep_tree.h"

#include "support/vec.h"

static bool below(const dfl_setting *set, const dfl_body *body, uint32_t e)
{
    return dfl_body_within(set->paths->paths[e].leaf, body);
}

static bool same_access(const dfl_access *a, const dfl_access *b)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const dfl_index *x = &a->index[d], *y = &b->index[d];
        if (x->n_terms != y->n_terms || x->offset != y->offset)
            return false;
        for (uint32_t t = 0; t < x->n_terms; t++)
            if (x->terms[t].rank != y->terms[t].rank || x->terms[t].coef != y->terms[t].coef)
                return false;
    }
    return true;
}

typedef DFL_VEC(dfl_view) views;

static void add_view(dfl_setting *set, views *list, uint32_t e, const dfl_access *a)
{
    dfl_view v = { e, a };

    for (size_t i = list->n; i > 0 && list->at[i - 1].einsum == e; i--)
        if (same_access(list->at[i - 1].access, a))
            return;
    DFL_PUSH(set->arena, list, v);
}

/* Of producers and readers, which both stand in workload order, those below the keep in that order. */
static void find_views(dfl_setting *set, dfl_keep *k)
{
    uint32_t tensor = k->line->tensor;
    const dfl_tensor *t = &set->w->tensors[tensor];
    views list = { 0 };

    for (uint32_t i = 0, j = 0; i < t->n_producers || j < t->n_consumers;) {
        uint32_t makes = i < t->n_producers ? t->producers[i] : DFL_NONE;
        uint32_t reads = j < t->n_consumers ? t->consumers[j] : DFL_NONE, e = makes < reads ? makes : reads;
        const dfl_einsum *einsum = &set->w->einsums[e];
        i += makes == e;
        j += reads == e;
        if (!below(set, k->body, e))
            continue;
        if (einsum->output.tensor == tensor)
            add_view(set, &list, e, &einsum->output);
        for (uint32_t a = 0; a < einsum->n_inputs; a++)
            if (einsum->inputs[a].tensor == tensor)
                add_view(set, &list, e, &einsum->inputs[a]);
    }
    k->point = (dfl_point){ .einsum = list.n ? list.at[0].einsum : k->body->einsums[0], .n = k->step,
                            .restart = set->fold->above[k->body->id], .tensor = tensor, .views = list.at,
                            .n_views = (uint32_t)list.n, .span = k->line->span };
}

static void find_role(const dfl_setting *set, dfl_keep *k)
{
    const dfl_tensor *t = &set->w->tensors[k->line->tensor];

    k->producer = DFL_NONE;
    k->point.lenient = true;
    if (t->n_producers == 0)
        return;
    k->produced = true;
    k->producer = t->producers[0];
    k->written = below(set, k->body, k->producer);
    k->point.lenient = !k->written;
    const dfl_path *p = &set->paths->paths[k->producer];
    if (!k->written || !p->has_exchange || !dfl_body_within(p->exchange.branch, k->body))
        return;
    k->exchanged = true;
    for (uint32_t i = 0; i < k->step; i++) {
        const dfl_access *out = &set->w->einsums[k->producer].output;
        bool indexes = false;
        for (uint32_t d = 0; d < out->n_dims; d++)
            for (uint32_t x = 0; x < out->index[d].n_terms; x++)
                indexes |= out->index[d].terms[x].rank == p->steps[i].rank;
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].rank != DFL_NONE && !indexes)
            k->adding |= UINT64_C(1) << i;
    }
}

/* Producer and readers of a tensor that stays in an array must be spread over the array in the same way. */
static bool spread_alike(dfl_setting *set, const dfl_keep *k)
{
    const dfl_path *p = &set->paths->paths[k->producer];

    for (uint32_t i = 0; i < k->step; i++) {
        const dfl_line *line = p->steps[i].line;
        if (line->kind != DFL_LINE_SPATIAL || !dfl_axis_encloses(set->s, line->axis, set->s->memories[k->line->memory].element))
            continue;
        for (uint32_t v = 0; v < k->point.n_views; v++)
            if ((set->paths->paths[k->point.views[v].einsum].steps[i].bind == DFL_BIND_IDLE) !=
                (p->steps[i].bind == DFL_BIND_IDLE)) {
                dfl_setting_refuse(set, k->line->span, "a tensor that is made in one instance and read in others",
                                   "keep it in a memory outside the array");
                return false;
            }
    }
    return true;
}

/* Of a keep and those of its tensor before it the last one in a body around `inner`, which is the innermost. */
static uint32_t last_around(const dfl_keeps *keeps, uint32_t keep, const dfl_body *inner)
{
    while (keep != DFL_NONE && !dfl_body_within(inner, keeps->at[keep].body))
        keep = keeps->at[keep].before;
    return keep;
}

dfl_point *dfl_keep_point(dfl_setting *set, const dfl_keep *k, uint32_t restart)
{
    dfl_point *point = DFL_NEW(set->arena, dfl_point);

    *point = (dfl_point){ .einsum = k->point.einsum, .n = k->point.n, .restart = restart, .tensor = k->point.tensor,
                          .lenient = k->point.lenient, .views = k->point.views, .n_views = k->point.n_views,
                          .span = k->point.span };
    return point;
}

/* A home that holds its whole tensor at all times. */
static bool lasting(const dfl_setting *set, const dfl_keep *k)
{
    return k->parent == DFL_NONE && set->w->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE;
}

/* When the tile of a keep leaves and enters as a whole, and when updated elements leave that stay. False after E0609. */
static bool find_restarts(dfl_setting *set, dfl_keeps *keeps, dfl_keep *k)
{
    uint32_t flush;

    k->fresh = k->line->mode == DFL_KEEP_FRESH && !lasting(set, k);
    if (k->fresh)
        k->point.restart = k->step;
    k->flushed = &k->point;
    flush = k->point.restart;
    for (uint32_t up = k->parent; k->written && up != DFL_NONE; up = keeps->at[up].parent)
        if (keeps->at[up].fresh && keeps->at[up].step > flush)
            flush = keeps->at[up].step;
    if (flush == k->point.restart)
        return true;
    k->flushed = dfl_keep_point(set, k, flush);
    if (!k->exchanged)
        return true;
    dfl_setting_refuse(set, k->line->span, "a result that is read where it is made, inside a `fresh` keep of it",
                       "make this keep `fresh`, too, or leave `fresh` out further out");
    return false;
}

bool dfl_keeps_make(dfl_setting *set, dfl_keeps *out)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < set->m->n_bodies; b++)
        for (uint32_t i = 0; i < set->m->bodies[b]->n_lines; i++)
            n += set->m->bodies[b]->lines[i].kind == DFL_LINE_KEEP;
    *out = (dfl_keeps){ .at = DFL_NEW_ARRAY(set->arena, dfl_keep, n),
                        .first = DFL_NEW_ARRAY(set->arena, uint32_t, set->m->n_bodies + 1),
                        .latest = DFL_NEW_ARRAY(set->arena, uint32_t, set->w->n_tensors + 1) };
    for (uint32_t t = 0; t < set->w->n_tensors; t++)
        out->latest[t] = DFL_NONE;
    for (uint32_t b = 0; b < set->m->n_bodies; b++) {
        const dfl_body *body = set->m->bodies[b];
        out->first[b] = out->n;
        for (uint32_t i = 0; i < body->n_lines; i++) {
            dfl_keep *k = &out->at[out->n];
            if (body->lines[i].kind != DFL_LINE_KEEP)
                continue;
            *k = (dfl_keep){ .body = body, .line = &body->lines[i], .step = set->fold->step[b][i] };
            find_views(set, k);
            find_role(set, k);
            if (k->point.n_views == 0)
                continue; /* nothing below touches the tensor: the keep stays empty (lint E0421) */
            k->before = out->latest[k->line->tensor];
            out->latest[k->line->tensor] = out->n;
            k->parent = last_around(out, k->before, body);
            k->box = k->line->mode == DFL_KEEP_WINDOW;
            for (uint32_t up = k->parent; k->box && up != DFL_NONE; up = out->at[up].parent)
                out->at[up].box = !lasting(set, &out->at[up]);
            out->n++;
            if (k->exchanged && !spread_alike(set, k))
                return false;
            if (!find_restarts(set, out, k))
                return false;
        }
    }
    out->first[set->m->n_bodies] = out->n;
    return true;
}

uint32_t dfl_keep_innermost(const dfl_setting *set, const dfl_keeps *keeps, uint32_t einsum, uint32_t tensor)
{
    return last_around(keeps, keeps->latest[tensor], set->paths->paths[einsum].leaf);
}

uint64_t dfl_steps_around(const dfl_setting *set, uint32_t einsum, uint32_t n, uint32_t element)
{
    const dfl_path *p = &set->paths->paths[einsum];
    uint64_t bits = 0;

    for (uint64_t left = set->spatial[einsum] & dfl_steps_below(n); left; left &= left - 1)
        if (dfl_axis_encloses(set->s, p->steps[__builtin_ctzll(left)].line->axis, element))
            bits |= left & -left;
    return bits;
}

uint64_t dfl_steps_served(const dfl_setting *set, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce)
{
    const dfl_path *p = &set->paths->paths[einsum];
    uint64_t bits = 0;

    for (uint64_t left = steps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        const dfl_axis *axis = &set->s->axes[p->steps[i].line->axis];
        if (dfl_selects(reduce ? &axis->reduce : &axis->multicast, &set->w->tensors[tensor]))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

dfl_sharing dfl_keep_sharing(const dfl_setting *set, const dfl_keep *k)
{
    uint64_t all = set->spatial[k->point.einsum] & dfl_steps_below(k->step);
    uint64_t around = dfl_steps_around(set, k->point.einsum, k->step, set->s->memories[k->line->memory].element);

    return (dfl_sharing){ .inside = all & ~around, .forward = DFL_NONE, .box = k->box };
}
