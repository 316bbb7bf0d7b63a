#include "plan/pass/grouping.h"

#include <math.h>
#include <string.h>

#include "groups/groups.h"
#include "plan/layout/lines.h"
#include "plan/pass/engines.h"

/* Einsums of one brace, pass and repeat. A node is an einsum with the copies of its result. */
typedef struct {
    const dfl_plan_work *work;
    uint32_t n;                      /* nodes */
    uint32_t *members; uint32_t n_members; /* einsums, in workload order */
    uint32_t *node_of;               /* [einsum]: its node; DFL_NONE = not in the segment */
    dfl_einsum_set working;          /* nodes with an einsum that is no copy */
    dfl_einsum_set before[DFL_GROUPS_MOST];
    double floor[DFL_GROUPS_MOST];
    dfl_i128 room;                   /* bits of weights that the memory on the chip holds; -1 = any */
    uint32_t *mark;                  /* [einsum]: 1 = in the group that is evaluated */
    uint32_t *again;                 /* the same of the recomputed ones alone */
    bool has_again;                  /* some are recomputed */
    bool *counted;                   /* [tensor]: weights of the group that is evaluated */
    dfl_engines busy;
} segment;

/* The memory on a chip that holds the weights of a group: the outermost one inside of the home that has a size, or DFL_NONE. */
static uint32_t find_room(const dfl_frame *f)
{
    const dfl_system *s = f->system;

    for (uint32_t m = f->home + 1; m < s->n_memories; m++)
        if (dfl_memory_outside(s, f->home, m) && s->memories[m].element == s->memories[f->home].element &&
            s->memories[m].size_bits >= 0)
            return m;
    return DFL_NONE;
}

/* Adds the weights that an einsum reads in one pass and that are not `counted` ([tensor]) yet. True on overflow. */
static bool add_weights(const dfl_plan_work *work, uint32_t einsum, bool *counted, dfl_i128 *sum)
{
    const dfl_workload *w = work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    bool overflow = false;

    for (uint32_t k = 0; k < e->n_inputs; k++) {
        const uint32_t t = e->inputs[k].tensor;

        if (w->tensors[t].role != DFL_ROLE_WEIGHT || counted[t])
            continue;
        counted[t] = true;
        overflow |= dfl_add(*sum, work->times[einsum].reads[k].bits, sum);
    }
    return overflow;
}

/* Whether the weights that the group reads fit on the chip. An einsum by itself, copies apart, may read its weights in parts. */
static bool fits(segment *g, dfl_einsum_set group)
{
    dfl_i128 sum = 0;
    bool overflow = false;

    if (g->room < 0 || (group & g->working & ((group & g->working) - 1)) == 0)
        return true;
    memset(g->counted, 0, g->work->frame->workload->n_tensors * sizeof *g->counted);
    for (uint32_t i = 0; i < g->n_members; i++)
        if (g->mark[g->members[i]] == 1)
            overflow |= add_weights(g->work, g->members[i], g->counted, &sum);
    return !overflow && sum <= g->room;
}

/* The time of the einsums of a mark ([einsum]: 1 = runs) as one branch. */
static double marked_seconds(segment *g, const uint32_t *mark, bool is_again)
{
    const dfl_plan_exchanges *x = g->work->exchanges;

    dfl_engines_clear(&g->busy);
    for (uint32_t i = 0; i < g->n_members; i++)
        if (mark[g->members[i]] == 1)
            dfl_engines_add(g->work, mark, is_again, g->members[i], &g->busy);
    for (uint32_t i = 0; i < x->n; i++)
        if (g->node_of[x->at[i].einsum] != DFL_NONE && mark[x->at[i].einsum] == 1)
            dfl_engines_add_exchange(g->work, i, &g->busy);
    return fmax(dfl_engines_chip(g->work, &g->busy), dfl_engines_network(g->work, &g->busy));
}

/* The time of a group, and of its recomputed einsums in the backward pass; INFINITY if its weights do not fit. */
static double group_seconds(void *context, dfl_einsum_set group)
{
    segment *g = context;

    for (uint32_t i = 0; i < g->n_members; i++) {
        const uint32_t e = g->members[i];

        g->mark[e] = (group & DFL_EINSUM_BIT(g->node_of[e])) != 0;
        g->again[e] = g->mark[e] == 1 && dfl_frame_is_again(g->work->frame, e);
    }
    if (!fits(g, group))
        return INFINITY;
    return marked_seconds(g, g->mark, false) + (g->has_again ? marked_seconds(g, g->again, true) : 0);
}

/* The node of which an einsum only copies the result; DFL_NONE if it is no such copy. */
static uint32_t copied_node(const segment *g, uint32_t einsum)
{
    const dfl_workload *w = g->work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    const dfl_tensor *t = e->n_inputs == 1 ? &w->tensors[e->inputs[0].tensor] : NULL;

    return t != NULL && dfl_einsum_is_copy(e) && t->n_producers == 1 && t->producers[0] < einsum ? g->node_of[t->producers[0]]
                                                                                                 : DFL_NONE;
}

/* Adds an einsum as a node, or to the node whose result it copies: the space keeps copies with their einsums, since each copy
   apart would double the down-sets. False if there are too many nodes. */
static bool add_member(segment *g, uint32_t einsum)
{
    const dfl_workload *w = g->work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    uint32_t node = copied_node(g, einsum);

    if (node == DFL_NONE) {
        if (g->n == DFL_GROUPS_MOST)
            return false;
        node = g->n++;
    }
    g->working |= dfl_einsum_is_copy(e) ? 0 : DFL_EINSUM_BIT(node);
    g->node_of[einsum] = node;
    g->members[g->n_members++] = einsum;
    g->has_again |= dfl_frame_is_again(g->work->frame, einsum);
    g->floor[node] += g->work->times[einsum].least_seconds / (double)g->work->frame->system->n_computes;
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &w->tensors[e->inputs[i].tensor];

        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] < einsum && g->node_of[t->producers[k]] != DFL_NONE && g->node_of[t->producers[k]] != node)
                g->before[node] |= DFL_EINSUM_BIT(g->node_of[t->producers[k]]);
    }
    for (uint32_t k = 0; k < w->tensors[e->output.tensor].n_producers; k++) { /* sums in their order */
        const uint32_t other = w->tensors[e->output.tensor].producers[k];

        if (other < einsum && g->node_of[other] != DFL_NONE && g->node_of[other] != node)
            g->before[node] |= DFL_EINSUM_BIT(g->node_of[other]);
    }
    return true;
}

/* Makes the groups found branches of their own, behind all others. */
static void set_branches(const segment *g, const dfl_groups *found, dfl_plan_branches *branches)
{
    for (uint32_t k = 0; k < found->n; k++) {
        for (uint32_t i = 0; i < g->n_members; i++)
            if (found->groups[k] & DFL_EINSUM_BIT(g->node_of[g->members[i]]))
                branches->of[g->members[i]] = branches->n;
        branches->n++;
    }
    branches->n_found += found->n;
}

/* Divides the einsums of one segment, which starts with einsum `first`. */
static bool divide(const dfl_plan_work *work, uint32_t first, bool *is_done, dfl_plan_branches *branches)
{
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    const dfl_einsum *start = &w->einsums[first];
    segment *g = DFL_NEW(f->arena, segment);
    dfl_group_problem problem = { .most = f->mapping->options.groups, .before = g->before, .cost = group_seconds, .context = g,
                                  .floor = g->floor };
    dfl_groups found;

    g->work = work;
    g->room = find_room(f) != DFL_NONE ? f->system->memories[find_room(f)].size_bits : -1;
    g->members = DFL_NEW_ARRAY(f->arena, uint32_t, w->n_einsums);
    g->node_of = DFL_NEW_ARRAY(f->arena, uint32_t, w->n_einsums);
    g->mark = DFL_NEW_ARRAY(f->arena, uint32_t, w->n_einsums);
    g->again = DFL_NEW_ARRAY(f->arena, uint32_t, w->n_einsums);
    g->counted = DFL_NEW_ARRAY(f->arena, bool, w->n_tensors);
    g->busy = dfl_engines_new(work);
    memset(g->node_of, 0xff, w->n_einsums * sizeof *g->node_of);
    for (uint32_t e = first; e < w->n_einsums; e++) {
        if (branches->open[e] != branches->open[first] || w->einsums[e].phase != start->phase ||
            dfl_frame_repeat(f, &w->einsums[e]) != dfl_frame_repeat(f, start) || f->side[e] != f->side[first] ||
            dfl_chunk_splits(f, e, first))
            continue;
        is_done[e] = true;
        if (!add_member(g, e))
            return dfl_frame_refuse(f, w->einsums[e].span, "a search of the groups of more than 128 einsums",
                                    "write groups of some of them");
    }
    problem.n = g->n;
    found = dfl_groups_find(f->arena, &problem);
    if (!found.proven)
        return dfl_frame_refuse(f, start->span, "a search of groups that is too large to be proven", "write some of the groups");
    if (found.groups == NULL) {
        dfl_diag *d = dfl_report(f->sink, DFL_MAP_CAPACITY, f->mapping->span, "the weights of a chip do not fit it in %u group%s",
                                 f->mapping->options.groups, f->mapping->options.groups == 1 ? "" : "s");
        dfl_diag_help(f->sink, d, "allow more groups, or divide the weights among more chips");
        return false;
    }
    set_branches(g, &found, branches);
    return true;
}

/* Refuses a written branch of several einsums, copies apart, whose weights do not fit on the chip together. */
static bool check_room(const dfl_plan_work *work, const dfl_plan_branches *branches)
{
    const dfl_frame *f = work->frame;
    const uint32_t n = f->workload->n_einsums, room = find_room(f);
    bool *counted = DFL_NEW_ARRAY(f->arena, bool, f->workload->n_tensors);

    for (uint32_t b = 0; room != DFL_NONE && branches->has_braces && b < branches->n; b++) {
        uint32_t first = DFL_NONE, members = 0;
        dfl_i128 sum = 0;
        bool overflow = false;
        dfl_diag *d;

        memset(counted, 0, f->workload->n_tensors * sizeof *counted);
        for (uint32_t e = 0; e < n; e++) {
            if (branches->of[e] != b)
                continue;
            first = first == DFL_NONE ? e : first;
            members += !dfl_einsum_is_copy(&f->workload->einsums[e]);
            overflow |= add_weights(work, e, counted, &sum);
        }
        if (members < 2 || (!overflow && sum <= f->system->memories[room].size_bits))
            continue;
        d = dfl_report(f->sink, DFL_MAP_CAPACITY, branches->places[first],
                       "the weights of this brace need %.4g GB of `%s`, which has %.4g GB", dfl_i128_double(sum) / 8e9,
                       dfl_sym_text(f->names, f->system->memories[room].name),
                       (double)f->system->memories[room].size_bits / 8e9);
        dfl_diag_label(f->sink, d, f->system->memories[room].size_span, "the size of `%s`",
                       dfl_sym_text(f->names, f->system->memories[room].name));
        dfl_diag_help(f->sink, d, "write smaller braces, or `...;` in it for a search");
        return false;
    }
    return true;
}

/* Numbers the branches without gaps, in their order. */
static void renumber(const dfl_frame *f, dfl_plan_branches *branches)
{
    const uint32_t n = f->workload->n_einsums;
    uint32_t *number = DFL_NEW_ARRAY(f->arena, uint32_t, branches->n), next = 0;

    for (uint32_t e = 0; e < n; e++)
        number[branches->of[e]] = 1;
    for (uint32_t b = 0; b < branches->n; b++)
        number[b] = number[b] == 1 ? next++ : 0;
    for (uint32_t e = 0; e < n; e++)
        branches->of[e] = number[branches->of[e]];
    branches->n = next;
}

bool dfl_grouping_find(const dfl_plan_work *work, dfl_plan_branches *branches, dfl_chip_time *times)
{
    const dfl_frame *f = work->frame;
    bool *is_done = DFL_NEW_ARRAY(f->arena, bool, f->workload->n_einsums);

    if (!check_room(work, branches))
        return false;
    if (branches->n_open == 0)
        return true;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (branches->open[e] > 0 && !is_done[e] && !divide(work, e, is_done, branches))
            return false;
    renumber(f, branches);
    return dfl_chip_times_set_branches(f, branches, times);
}
