/* Parts of a workload, cut out and put back. */
#include "mapper/problem/segment.h"

#include <stdlib.h>
#include <string.h>

#include "mapper/problem/transform.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_line) line_vec;
typedef DFL_VEC(uint32_t) id_vec;
typedef DFL_VEC(dfl_segment) part_vec;

/* ---- which ---- */

static void add_einsums(dfl_arena *arena, const dfl_body *b, id_vec *out)
{
    if (b->kind == DFL_BODY_LEAF)
        DFL_PUSH(arena, out, b->einsums[0]);
    for (uint32_t c = 0; c < b->n_children; c++)
        add_einsums(arena, b->children[c], out);
}

static bool has_loops(const dfl_body *b)
{
    for (uint32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].kind != DFL_LINE_KEEP)
            return true;
    return false;
}

const dfl_segment *dfl_segments_find(dfl_arena *arena, const dfl_mapping *base, uint32_t *n)
{
    const dfl_body *root = base->root;
    part_vec out = { .n = 0 };

    for (uint32_t i = 0; i < root->n_children && root->kind == DFL_BODY_FUSE && !has_loops(root); i++)
        for (uint32_t many = 1; many <= 2 && i + many <= root->n_children && many < root->n_children; many++) {
            id_vec einsums = { .n = 0 };
            for (uint32_t c = i; c < i + many; c++)
                add_einsums(arena, root->children[c], &einsums);
            if (einsums.n > 1)
                DFL_PUSH(arena, &out, ((dfl_segment){ base, i, many, einsums.at, (uint32_t)einsums.n }));
        }
    *n = (uint32_t)out.n;
    return out.at;
}

/* ---- the problem ---- */

static uint32_t number_in(const dfl_segment *part, uint32_t einsum)
{
    uint32_t i = 0;

    while (i < part->n_einsums && part->einsums[i] != einsum)
        i++;
    return i < part->n_einsums ? i : DFL_NONE;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Those of the einsums that are in the part, by its numbers. */
static const uint32_t *those_in(dfl_arena *arena, const dfl_segment *part, const uint32_t *einsums, uint32_t *n)
{
    id_vec out = { .n = 0 };

    for (uint32_t i = 0; i < *n; i++)
        if (number_in(part, einsums[i]) != DFL_NONE)
            DFL_PUSH(arena, &out, number_in(part, einsums[i]));
    *n = (uint32_t)out.n;
    if (out.n > 0)
        qsort(out.at, out.n, sizeof *out.at, by_number);
    return out.at;
}

static dfl_workload *cut_out(dfl_arena *arena, const dfl_workload *given, const dfl_segment *part)
{
    dfl_workload *w = DFL_NEW(arena, dfl_workload);
    dfl_einsum *einsums = DFL_NEW_ARRAY(arena, dfl_einsum, (size_t)part->n_einsums + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)given->n_tensors + 1);

    *w = *given;
    for (uint32_t i = 0; i < part->n_einsums; i++)
        einsums[i] = given->einsums[part->einsums[i]];
    for (uint32_t t = 0; t < given->n_tensors; t++) {
        tensors[t] = given->tensors[t];
        tensors[t].producers = those_in(arena, part, tensors[t].producers, &tensors[t].n_producers);
        tensors[t].consumers = those_in(arena, part, tensors[t].consumers, &tensors[t].n_consumers);
    }
    w->einsums = einsums;
    w->n_einsums = part->n_einsums;
    w->tensors = tensors;
    return w;
}

/* Whether line `i` of the root of the base is for the part alone: it exchanges the tensor, and it is not written. */
static bool is_own(const dfl_mapping *given, const dfl_segment *part, uint32_t i)
{
    const dfl_tensor *t = &given->workload->tensors[part->base->root->lines[i].tensor];
    bool own = i >= given->root->n_lines && t->n_producers > 0 && t->n_consumers > 0 && t->role != DFL_ROLE_OUTPUT;

    for (uint32_t k = 0; k < t->n_producers; k++)
        own &= number_in(part, t->producers[k]) != DFL_NONE;
    for (uint32_t k = 0; k < t->n_consumers; k++)
        own &= number_in(part, t->consumers[k]) != DFL_NONE;
    return own;
}

const dfl_mapping *dfl_segment_problem(dfl_arena *arena, const dfl_mapping *given, const dfl_segment *part)
{
    dfl_mapping *out = dfl_mapping_copy(arena, given);
    const dfl_body *base = part->base->root;
    dfl_workload *w = cut_out(arena, given->workload, part);
    uint32_t *all = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_einsums + 1);
    line_vec lines = { .n = 0 };

    for (uint32_t e = 0; e < w->n_einsums; e++)
        all[e] = e;
    for (uint32_t i = 0; i < base->n_lines; i++) {
        uint32_t t = base->lines[i].tensor;
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first &= base->lines[k].tensor != t;
        if (first && w->tensors[t].n_producers + w->tensors[t].n_consumers > 0 && !is_own(given, part, i))
            DFL_PUSH(arena, &lines, base->lines[i]);
    }
    out->workload = w;
    out->root->lines = lines.at;
    out->root->n_lines = (uint32_t)lines.n;
    dfl_body_open_end(arena, out->root);
    out->root->einsums = all;
    out->root->n_einsums = w->n_einsums;
    return out;
}

/* ---- and back ---- */

static const uint32_t *numbers_of(dfl_arena *arena, const dfl_segment *part, const uint32_t *einsums, uint32_t n)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = part->einsums[einsums[i]];
    qsort(out, n, sizeof *out, by_number);
    return out;
}

dfl_mapping *dfl_segment_put(dfl_arena *arena, const dfl_mapping *given, const dfl_segment *part, const dfl_mapping *found)
{
    dfl_mapping *out = dfl_mapping_copy(arena, part->base), *in = dfl_mapping_copy(arena, found);
    dfl_body *root = out->root, *top = in->root;
    dfl_body **children = DFL_NEW_ARRAY(arena, dfl_body *, (size_t)root->n_children + 1);
    uint32_t n = 0;

    for (uint32_t b = 0; b < in->n_bodies; b++)
        in->bodies[b]->einsums = numbers_of(arena, part, in->bodies[b]->einsums, in->bodies[b]->n_einsums);
    for (uint32_t i = 0; i < part->base->root->n_lines; i++)
        if (!is_own(given, part, i))
            root->lines[n++] = part->base->root->lines[i];
    root->n_lines = n;
    n = 0;
    for (uint32_t i = 0; i < top->n_lines; i++)
        if (top->lines[i].kind != DFL_LINE_KEEP ||
            !dfl_lines_keep(root->lines, root->n_lines, top->lines[i].tensor, top->lines[i].memory))
            top->lines[n++] = top->lines[i];
    top->n_lines = n;
    n = 0;
    for (uint32_t c = 0; c < root->n_children; c++)
        if (c == part->first)
            children[n++] = top;
        else if (c < part->first || c >= part->first + part->n)
            children[n++] = root->children[c];
    root->children = children;
    root->n_children = n;
    dfl_mapping_number(arena, out);
    return out;
}
