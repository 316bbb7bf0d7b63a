#include "mapper/join/skeleton_tree.h"

#include <stdlib.h>
#include <string.h>

#include "mapper/problem/limits.h"

/* Skeletons with loops of others come from a walk of their own that ends each order of keeps once for each number of shared
   gaps; else the walk has those of one node one after another. */
static int by_walk(const void *a, const void *b)
{
    const dfl_candidate *x = *(const dfl_candidate *const *)a, *y = *(const dfl_candidate *const *)b;

    if (x->form->through != y->form->through)
        return x->form->through ? 1 : -1;
    if (x->form->through && x->form->shared_gaps != y->form->shared_gaps)
        return x->form->shared_gaps < y->form->shared_gaps ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void dfl_skeleton_tree_sort(const dfl_candidate **list, uint32_t n) { qsort(list, n, sizeof *list, by_walk); }

static bool is_equal_keep(const dfl_template_keep *a, const dfl_template_keep *b)
{
    return a->operand == b->operand && a->place == b->place && a->home == b->home;
}

/* Axes that are entered in a gap, as a mask. */
static uint32_t axes_at(const dfl_candidate *c, uint32_t gap)
{
    uint32_t axes = 0;

    for (uint32_t a = 0; a < c->problem->n_axes; a++)
        axes |= (uint32_t)(c->form->axis_gap[a] == gap) << a;
    return axes;
}

/* Whether the keeps of both are the same but for their order: the places of each operand are. */
static bool have_equal_keeps(const dfl_tiling_template *a, const dfl_tiling_template *b)
{
    uint32_t of_a[DFL_PROBLEM_OPERANDS] = { 0 }, of_b[DFL_PROBLEM_OPERANDS] = { 0 };

    for (uint32_t i = 0; i < a->n_keeps; i++) {
        of_a[a->keep[i].operand] |= (a->keep[i].home ? 0x10001u : 1u) << a->keep[i].place;
        of_b[b->keep[i].operand] |= (b->keep[i].home ? 0x10001u : 1u) << b->keep[i].place;
    }
    return memcmp(of_a, of_b, sizeof of_a) == 0;
}

/* Keeps that two skeletons of one node begin with; 0 also if there is none, which `*is_related` says. Which transfers can
   overlap with other einsums depends on the keeps around shared gaps, so these must be the same. */
static uint32_t count_common(const dfl_candidate *a, const dfl_candidate *b, bool *is_related)
{
    const dfl_tiling_template *x = a->form, *y = b->form;
    uint32_t n = 0;

    *is_related = a->problem == b->problem && x->form == NULL && y->form == NULL && x->n_keeps == y->n_keeps &&
                  x->through == y->through && x->shared_gaps == y->shared_gaps && x->home_gaps == y->home_gaps &&
                  x->own_allow == y->own_allow && !dfl_problem_slides(a->problem) && have_equal_keeps(x, y);
    while (*is_related && n < x->n_keeps && is_equal_keep(&x->keep[n], &y->keep[n]) && x->allow[n] == y->allow[n] &&
           axes_at(a, n) == axes_at(b, n))
        n++;
    *is_related &= n >= x->shared_gaps;
    return *is_related ? n : 0;
}

typedef struct {
    dfl_arena *arena;
    const uint32_t *common;   /* by place in the list: keeps in common with the one before */
    const dfl_candidate *const *list;
    uint32_t first;           /* number of list[0] */
    dfl_skeleton_tree *out;
} tree_maker;

static uint32_t add_node(tree_maker *k, uint32_t from, uint32_t n, uint32_t kept)
{
    const dfl_skeleton_node node = { .first = k->first + from, .n = n, .kept = kept, .child = DFL_NONE, .next = DFL_NONE };

    DFL_PUSH(k->arena, k->out, node);
    return (uint32_t)k->out->n - 1;
}

/* Adds the node of related skeletons and all nodes below. */
static uint32_t add_range(tree_maker *k, uint32_t from, uint32_t n)
{
    uint32_t kept = k->list[from]->form->n_keeps, node, last = DFL_NONE, begin = from;

    for (uint32_t i = from + 1; i < from + n; i++)
        kept = k->common[i] < kept ? k->common[i] : kept;
    node = add_node(k, from, n, kept);
    for (uint32_t i = from + 1; i <= from + n && n > 1; i++) {
        uint32_t child;
        if (i < from + n && k->common[i] > kept)
            continue;
        child = add_range(k, begin, i - begin);
        if (last == DFL_NONE)
            k->out->at[node].child = child;
        else
            k->out->at[last].next = child;
        last = child;
        begin = i;
    }
    return node;
}

void dfl_skeleton_tree_add(dfl_arena *arena, const dfl_candidate *const *list, uint32_t n, uint32_t first,
                           dfl_skeleton_tree *out)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    uint32_t *common = DFL_NEW_ARRAY(work, uint32_t, (size_t)n + 1);
    tree_maker k = { .arena = arena, .common = common, .list = list, .first = first, .out = out };
    uint32_t begin = 0, last = DFL_NONE;

    for (uint32_t i = 1; i <= n; i++) {
        bool is_related = false;
        uint32_t node;
        if (i < n)
            common[i] = count_common(list[i - 1], list[i], &is_related);
        if (is_related)
            continue;
        node = add_range(&k, begin, i - begin);
        if (last != DFL_NONE)
            out->at[last].next = node;
        last = node;
        begin = i;
    }
    dfl_arena_free(work);
}
