/* Construction of the keep tree. */
#include "model/counts/keep_tree.h"

#include "support/vec.h"

static bool is_below(const dfl_nest *nest, const dfl_body *body, uint32_t e)
{
    return dfl_body_within(nest->paths->paths[e].leaf, body);
}

static bool is_same_access(const dfl_access *a, const dfl_access *b)
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

typedef DFL_VEC(dfl_reference) references;

static void add_reference(dfl_nest *nest, references *list, uint32_t e, const dfl_access *a)
{
    dfl_reference v = { e, a };

    for (size_t i = list->n; i > 0 && list->at[i - 1].einsum == e; i--)
        if (is_same_access(list->at[i - 1].access, a))
            return;
    DFL_PUSH(nest->arena, list, v);
}

/* Collects the references of a keep: the producers and consumers of its tensor below the keep, in workload order. */
static void find_references(dfl_nest *nest, dfl_keep *keep)
{
    uint32_t tensor = keep->line->tensor;
    const dfl_tensor *t = &nest->workload->tensors[tensor];
    references list = { 0 };

    for (uint32_t i = 0, j = 0; i < t->n_producers || j < t->n_consumers;) {
        uint32_t makes = i < t->n_producers ? t->producers[i] : DFL_NONE;
        uint32_t reads = j < t->n_consumers ? t->consumers[j] : DFL_NONE, e = makes < reads ? makes : reads;
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        i += makes == e;
        j += reads == e;
        if (!is_below(nest, keep->body, e))
            continue;
        if (einsum->output.tensor == tensor)
            add_reference(nest, &list, e, &einsum->output);
        for (uint32_t a = 0; a < einsum->n_inputs; a++)
            if (einsum->inputs[a].tensor == tensor)
                add_reference(nest, &list, e, &einsum->inputs[a]);
    }
    keep->footprint = (dfl_footprint){ .einsum = list.n ? list.at[0].einsum : keep->body->einsums[0], .n = keep->step,
                                       .restart = nest->numbers->above[keep->body->id], .tensor = tensor, .references = list.at,
                                       .n_references = (uint32_t)list.n, .span = keep->line->span };
}

static void find_role(const dfl_nest *nest, dfl_keep *keep)
{
    const dfl_tensor *t = &nest->workload->tensors[keep->line->tensor];

    keep->producer = DFL_NONE;
    if (t->n_producers == 0)
        return;
    keep->produced = true;
    keep->producer = t->producers[0];
    for (uint32_t k = t->n_producers; k-- > 0;)
        if (is_below(nest, keep->body, t->producers[k])) {
            keep->producer = t->producers[k];
            keep->n_makers++;
        }
    keep->written = keep->n_makers > 0;
    keep->is_state = dfl_tensor_is_updated(t);
    const dfl_path *path = &nest->paths->paths[keep->producer];
    keep->exchanged = keep->written && ((path->has_exchange && dfl_body_within(path->exchange.branch, keep->body)) ||
                                        (keep->is_state && keep->footprint.n_references > keep->n_makers));
    if (!keep->exchanged)
        return;
    for (uint32_t i = 0; i < keep->step; i++) {
        const dfl_access *out = &nest->workload->einsums[keep->producer].output;
        bool indexes = false;
        for (uint32_t d = 0; d < out->n_dims; d++)
            for (uint32_t x = 0; x < out->index[d].n_terms; x++)
                indexes |= out->index[d].terms[x].rank == path->steps[i].rank;
        if (path->steps[i].line->kind == DFL_LINE_TEMPORAL && path->steps[i].rank != DFL_NONE && !indexes)
            keep->adding |= UINT64_C(1) << i;
    }
}

/* Reports E0609 and returns false unless the producer and all consumers of a tensor that stays in an array are spread
   over the array in the same way. */
static bool check_spread(dfl_nest *nest, const dfl_keep *keep)
{
    const dfl_path *path = &nest->paths->paths[keep->producer];

    for (uint32_t i = 0; i < keep->step; i++) {
        const dfl_line *line = path->steps[i].line;
        if (line->kind != DFL_LINE_SPATIAL ||
            !dfl_axis_encloses(nest->system, line->axis, nest->system->memories[keep->line->memory].element))
            continue;
        for (uint32_t v = 0; v < keep->footprint.n_references; v++)
            if ((nest->paths->paths[keep->footprint.references[v].einsum].steps[i].bind == DFL_BIND_IDLE) !=
                (path->steps[i].bind == DFL_BIND_IDLE)) {
                dfl_nest_refuse(nest, keep->line->span, "a tensor that is produced in one instance and read in others",
                                "keep it in a memory outside the array");
                return false;
            }
    }
    return true;
}

/* The innermost keep in a body around `inner`: the last such keep in the list of the tensor's keeps, backwards from
   `keep`. */
static uint32_t find_last_around(const dfl_keep_tree *keeps, uint32_t keep, const dfl_body *inner)
{
    while (keep != DFL_NONE && !dfl_body_within(inner, keeps->at[keep].body))
        keep = keeps->at[keep].before;
    return keep;
}

dfl_footprint *dfl_keep_tree_footprint(dfl_nest *nest, const dfl_keep *keep, uint32_t restart)
{
    dfl_footprint *footprint = DFL_NEW(nest->arena, dfl_footprint);

    *footprint = (dfl_footprint){ .einsum = keep->footprint.einsum, .n = keep->footprint.n, .restart = restart,
                                  .tensor = keep->footprint.tensor, .references = keep->footprint.references,
                                  .n_references = keep->footprint.n_references, .span = keep->footprint.span };
    return footprint;
}

/* Tells whether a keep is a home that holds its whole tensor at all steps. */
static bool is_resident(const dfl_nest *nest, const dfl_keep *keep)
{
    return keep->parent == DFL_NONE && nest->workload->tensors[keep->line->tensor].role != DFL_ROLE_INTERMEDIATE;
}

/* Finds the steps that refill the whole tile of a keep, and the steps at which an outer `fresh` keep flushes that tile. False
   after E0609. */
static bool find_restarts(dfl_nest *nest, dfl_keep_tree *keeps, dfl_keep *keep)
{
    uint32_t flush;

    keep->fresh = keep->line->mode == DFL_KEEP_FRESH && !is_resident(nest, keep);
    if (keep->fresh)
        keep->footprint.restart = keep->step;
    keep->flushed = &keep->footprint;
    flush = keep->footprint.restart;
    for (uint32_t up = keep->parent; keep->written && up != DFL_NONE; up = keeps->at[up].parent)
        if (keeps->at[up].fresh && keeps->at[up].step > flush)
            flush = keeps->at[up].step;
    if (flush == keep->footprint.restart)
        return true;
    keep->flushed = dfl_keep_tree_footprint(nest, keep, flush);
    if (!keep->exchanged)
        return true;
    dfl_nest_refuse(nest, keep->line->span, "a result that is read where it is produced, inside a `fresh` keep of it",
                    "make this keep `fresh`, too, or leave `fresh` out further out");
    return false;
}

bool dfl_keep_tree_make(dfl_nest *nest, dfl_keep_tree *out)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < nest->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < nest->mapping->bodies[b]->n_lines; i++)
            n += nest->mapping->bodies[b]->lines[i].kind == DFL_LINE_KEEP;
    *out = (dfl_keep_tree){ .at = DFL_NEW_ARRAY(nest->arena, dfl_keep, n),
                            .first = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->mapping->n_bodies + 1),
                            .latest = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->workload->n_tensors + 1) };
    for (uint32_t t = 0; t < nest->workload->n_tensors; t++)
        out->latest[t] = DFL_NONE;
    for (uint32_t b = 0; b < nest->mapping->n_bodies; b++) {
        const dfl_body *body = nest->mapping->bodies[b];
        out->first[b] = out->n;
        for (uint32_t i = 0; i < body->n_lines; i++) {
            dfl_keep *keep = &out->at[out->n];
            if (body->lines[i].kind != DFL_LINE_KEEP)
                continue;
            *keep = (dfl_keep){ .body = body, .line = &body->lines[i], .step = nest->numbers->step[b][i] };
            find_references(nest, keep);
            find_role(nest, keep);
            if (keep->footprint.n_references == 0)
                continue; /* no einsum below touches the tensor, so the keep stays empty (lint E0421) */
            keep->before = out->latest[keep->line->tensor];
            out->latest[keep->line->tensor] = out->n;
            keep->parent = find_last_around(out, keep->before, body);
            keep->box = keep->line->mode == DFL_KEEP_WINDOW;
            for (uint32_t up = keep->parent; keep->box && up != DFL_NONE; up = out->at[up].parent)
                out->at[up].box = !is_resident(nest, &out->at[up]) ||
                                  /* in an array each instance holds a part */
                                  dfl_memory_is_in_array(nest->system, out->at[up].line->memory);
            out->n++;
            if (keep->exchanged && !check_spread(nest, keep))
                return false;
            if (!find_restarts(nest, out, keep))
                return false;
        }
    }
    out->first[nest->mapping->n_bodies] = out->n;
    return true;
}

uint32_t dfl_keep_tree_innermost(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t einsum, uint32_t tensor)
{
    return find_last_around(keeps, keeps->latest[tensor], nest->paths->paths[einsum].leaf);
}

uint64_t dfl_keep_tree_steps_around(const dfl_nest *nest, uint32_t einsum, uint32_t n, uint32_t element)
{
    const dfl_path *path = &nest->paths->paths[einsum];
    uint64_t bits = 0;

    for (uint64_t left = nest->spatial[einsum] & dfl_nest_steps_below(n); left; left &= left - 1)
        if (dfl_axis_encloses(nest->system, path->steps[__builtin_ctzll(left)].line->axis, element))
            bits |= left & -left;
    return bits;
}

uint64_t dfl_keep_tree_steps_shared(const dfl_nest *nest, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce)
{
    const dfl_path *path = &nest->paths->paths[einsum];
    uint64_t bits = 0;

    for (uint64_t left = steps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        const dfl_axis *axis = &nest->system->axes[path->steps[i].line->axis];
        if (dfl_selects(reduce ? &axis->reduce : &axis->multicast, &nest->workload->tensors[tensor]))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

dfl_sharing dfl_keep_tree_sharing(const dfl_nest *nest, const dfl_keep *keep)
{
    uint64_t all = nest->spatial[keep->footprint.einsum] & dfl_nest_steps_below(keep->step);
    uint32_t element = nest->system->memories[keep->line->memory].element;
    uint64_t around = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step, element);

    return (dfl_sharing){ .inside = all & ~around, .forward = DFL_NONE, .box = keep->box };
}

