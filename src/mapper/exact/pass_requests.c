/* The loops that are open before an einsum, as loops of its own. */
#include "mapper/exact/pass_requests.h"

#include <string.h>

#include "ir/shrink.h"
#include "mapper/exact/loop_match.h"

/* What is a little less need not be searched again. */
static const double allowance = 1 - 1e-4;

dfl_requester dfl_requester_make(dfl_arena *arena, const dfl_einsum_classes *k)
{
    const dfl_workload *w = k->m->workload;
    dfl_requester all = { .k = k, .along = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1),
                          .memory = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1) };

    dfl_rank_classes(w, all.along);
    return all;
}

/* ---- what is asked ---- */

/* For one einsum. */
typedef struct {
    const dfl_requester *all;
    dfl_arena *arena;
    const dfl_einsum_class *c;
    const dfl_problem *problem;
    uint32_t einsum;
    const struct dfl_join_way *way;
    const dfl_criteria *rest;    /* by pattern */
    const dfl_requests *known;
    dfl_requests *out;               /* what is not known, or not for as little */
} asking;

dfl_pass_request *dfl_requests_find(const dfl_requests *all, const dfl_pass_through_way *way)
{
    for (size_t i = 0; i < all->n; i++)
        if (memcmp(&all->at[i].way, way, sizeof *way) == 0)
            return &all->at[i];
    return NULL;
}

/* Whether rest `a` is no less than `b` for all patterns, but for the allowance. */
static bool is_covered(const asking *k, const dfl_criteria *a, const dfl_criteria *b)
{
    for (uint32_t p = 0; p < k->c->patterns.n; p++)
        for (uint32_t i = 0; i < DFL_COSTS; i++)
            if (a[p].at[i] < b[p].at[i])
                return false;
    return true;
}

static void add_way(const asking *k, const dfl_pass_through_way *w)
{
    const dfl_pass_request *known = dfl_requests_find(k->known, w);
    dfl_pass_request *out = dfl_requests_find(k->out, w), fresh = { .way = *w };

    if (known != NULL && is_covered(k, k->rest, known->rest))
        return;
    if (out == NULL) {
        fresh.rest = DFL_NEW_ARRAY(k->arena, dfl_criteria, k->c->patterns.n + 1);
        for (uint32_t p = 0; p < k->c->patterns.n; p++)
            fresh.rest[p] = known != NULL ? known->rest[p] : dfl_criteria_none();
        DFL_PUSH(k->arena, k->out, fresh);
        out = &k->out->at[k->out->n - 1];
    }
    for (uint32_t p = 0; p < k->c->patterns.n; p++)
        dfl_criteria_lower(&out->rest[p], &k->rest[p]);
}

/* ---- which loops can go on ---- */

enum { OPEN = 64, ANY = -2 };

/* Tensors that are made below a loop, and the dimension that it goes along in them: DFL_JOIN_NO_DIM, or ANY where that is not
   known. */
typedef struct {
    uint32_t n, tensor[OPEN];
    int32_t dim[OPEN];
} made;

static void add_made(made *all, uint32_t tensor, int32_t dim)
{
    if (all->n == OPEN)
        return;
    all->tensor[all->n] = tensor;
    all->dim[all->n++] = dim;
}

static const int32_t *find_made(const made *all, uint32_t tensor)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->tensor[i] == tensor)
            return &all->dim[i];
    return NULL;
}

/* The rank that is dimension `d` of an access, DFL_NONE = not one alone. */
static uint32_t rank_of(const dfl_access *a, int32_t d)
{
    uint32_t rank;

    return d >= 0 && dfl_index_is_bare(&a->index[d], &rank) ? rank : DFL_NONE;
}

/* Whether einsum `f` can stand below a loop of this name. */
static bool goes_along(const dfl_einsum *e, uint32_t name, made *all)
{
    uint32_t bound = dfl_einsum_has_rank(e, name) ? name : DFL_NONE;
    int32_t out = DFL_JOIN_NO_DIM;

    for (uint32_t i = 0; i < e->n_inputs && bound == DFL_NONE; i++) {
        const int32_t *dim = find_made(all, e->inputs[i].tensor);
        bound = dim != NULL ? rank_of(&e->inputs[i], *dim) : DFL_NONE;
    }
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const int32_t *dim = find_made(all, e->inputs[i].tensor);
        if (dim != NULL && *dim != ANY && (*dim < 0 || rank_of(&e->inputs[i], *dim) != bound))
            return false;
    }
    for (uint32_t d = 0; d < e->output.n_dims && bound != DFL_NONE; d++)
        if (rank_of(&e->output, (int32_t)d) == bound)
            out = (int32_t)d;
    add_made(all, e->output.tensor, bound == DFL_NONE ? ANY : out);
    return true;
}

/* Whether the einsums from this one to the last that reads something below open loop `l` can all stand below it. */
static bool can_go_on(const dfl_workload *w, uint32_t einsum, const struct dfl_join_way *way, uint32_t l)
{
    uint32_t last = einsum;
    made all = { .n = 0 };

    for (uint32_t i = 0; i < way->n_live; i++) {
        const dfl_join_alive *live = &way->live[i];
        const dfl_tensor *t = &w->tensors[live->tensor];
        if (live->depth > l && t->consumers[t->n_consumers - 1] > last)
            last = t->consumers[t->n_consumers - 1];
        if (live->kind == DFL_JOIN_MADE && live->within > l)
            add_made(&all, live->tensor, live->dim[l] == DFL_JOIN_WHOLE || live->dim[l] == DFL_JOIN_FIRST ? ANY : live->dim[l]);
    }
    for (uint32_t e = einsum; e <= last; e++)
        if (!goes_along(&w->einsums[e], way->name[l], &all))
            return false;
    return true;
}

/* ---- loops ---- */

/* Open loops from `l` on that are not skipped, each as a loop over a rank that can go along. */
static void ask_from(const asking *k, uint32_t l, uint32_t skipped, uint32_t used, dfl_pass_through_way *w)
{
    uint32_t n = w->n_loops;
    bool named = false;

    while (l < k->way->n_open && (skipped >> l & 1))
        l++;
    if (l == k->way->n_open) {
        if (n > 0)
            add_way(k, w);
        return;
    }
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        named |= k->problem->rank[r] == k->way->name[l];
    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        bool fits = named ? k->problem->rank[r] == k->way->name[l]
                          : k->all->along[k->problem->rank[r]] == k->all->along[k->way->name[l]];
        if (!fits || (used >> r & 1) || k->problem->extent[r] % k->way->trips[l] != 0)
            continue;
        w->rank[n] = (uint8_t)r;
        w->trips[n] = k->way->trips[l];
        w->n_loops++;
        ask_from(k, l + 1, skipped, used | 1u << r, w);
        w->n_loops--;
        w->rank[n] = 0;
        w->trips[n] = 0;
    }
}

/* The loops of one way, if something is alive below some of them that the einsum does not touch. */
static void ask(const asking *k)
{
    uint32_t may_skip = dfl_loop_match_may_skip(k->problem, k->way), around = 0;

    for (uint32_t i = 0; i < k->way->n_live; i++)
        if (dfl_problem_find_operand(k->problem, k->way->live[i].tensor) == k->problem->n_operands &&
            k->way->live[i].depth > around)
            around = k->way->live[i].depth;
    for (uint32_t l = 0; l < around; l++)
        if (!can_go_on(k->all->k->m->workload, k->einsum, k->way, l))
            return;
    for (uint32_t skipped = may_skip; around > 0; skipped = (skipped - 1) & may_skip) {
        dfl_pass_through_way w;
        memset(&w, 0, sizeof w);
        for (uint32_t o = 0; o < k->problem->n_operands; o++) {
            const dfl_join_alive *live = k->problem->operand[o].output ? NULL
                : dfl_join_find(k->way, k->problem->operand[o].tensor);
            if (live == NULL || live->kind == DFL_JOIN_APART)
                continue;
            w.known |= (uint8_t)(1u << o);
            w.memory[o] = live->memory;
            w.depth[o] = (uint8_t)(live->depth - __builtin_popcount(skipped & ((1u << live->depth) - 1)));
        }
        ask_from(k, 0, skipped, 0, &w);
        if (skipped == 0)
            break;
    }
}

/* By pattern what all else costs at least when the einsum comes behind states of this cost. */
static void find_rest(const dfl_requester *k, const dfl_einsum_class *c, uint32_t einsum, const dfl_join_before *before,
                      dfl_criteria *rest)
{
    for (uint32_t i = 0; i < before->way->n_live; i++)
        k->memory[before->way->live[i].tensor] = before->way->live[i].memory;
    for (uint32_t p = 0; p < c->patterns.n; p++) {
        dfl_criteria all = dfl_cost_to_go_after(k->bounds, einsum, k->memory, p);
        dfl_tile_goal goal;
        dfl_criteria_add(&all, &before->least);
        dfl_einsum_classes_aim(c, p, &goal);
        rest[p] = goal.rest;
        for (uint32_t i = 0; i < DFL_COSTS; i++) {
            double own = i >= DFL_COST_BUSY ? goal.busy[i - DFL_COST_BUSY] : 0, more = (all.at[i] + own) * allowance;
            rest[p].at[i] = more > rest[p].at[i] ? more : rest[p].at[i];
        }
    }
}

void dfl_requests_add(dfl_arena *arena, const dfl_requester *k, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                      const dfl_requests *known, dfl_requests *out)
{
    const dfl_einsum_class *c = &k->k->at.at[k->k->of[einsum]];
    dfl_criteria *rest = DFL_NEW_ARRAY(arena, dfl_criteria, c->patterns.n + 1);
    asking a = { .all = k, .arena = arena, .c = c, .problem = k->k->problems[einsum].at[0], .einsum = einsum, .rest = rest,
                 .known = known, .out = out };

    for (uint32_t i = 0; i < n_before; i++) {
        a.way = before[i].way;
        find_rest(k, c, einsum, &before[i], rest);
        ask(&a);
    }
}
