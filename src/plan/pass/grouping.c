#include "plan/pass/grouping.h"

#include <string.h>

#include "plan/layout/lines.h"
#include "plan/pass/group_space.h"

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

/* Makes the groups found branches of their own, behind all others. */
static void set_branches(const dfl_group_space *g, const dfl_groups *found, dfl_plan_branches *branches)
{
    for (uint32_t k = 0; k < found->n; k++) {
        for (uint32_t i = 0; i < g->n_members; i++)
            if (found->groups[k] & DFL_EINSUM_BIT(g->node_of[g->members[i]]))
                branches->of[g->members[i]] = branches->n;
        branches->n++;
    }
    branches->n_found += found->n;
}

/* The groups of a problem, of the memo table or of a search. Those of a search are kept unless a limit has cut it short. */
static dfl_groups find_groups(dfl_arena *arena, const dfl_group_problem *problem, const dfl_memo_key *key, dfl_memo *memo)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    const dfl_groups *before = memo != NULL ? dfl_memo_find(memo, key, budget) : NULL;
    const uint64_t start = budget != NULL ? budget->steps_used : 0;
    dfl_groups found = before != NULL ? *before : dfl_groups_find(arena, problem), *kept;

    if (before != NULL && budget != NULL)
        found.proven = budget->why == DFL_STOP_NONE;
    if (before != NULL || memo == NULL || !found.proven || !dfl_memo_has_room(memo, key))
        return found;
    kept = DFL_NEW(dfl_memo_arena(memo), dfl_groups);
    *kept = found;
    if (found.groups != NULL) {
        kept->groups = DFL_NEW_ARRAY(dfl_memo_arena(memo), dfl_einsum_set, (size_t)found.n + 1);
        memcpy(kept->groups, found.groups, found.n * sizeof *found.groups);
    }
    dfl_memo_keep(memo, key, kept, budget != NULL ? budget->steps_used - start : 0);
    return found;
}

/* Divides the einsums of one segment, which starts with einsum `first`. */
static bool divide(const dfl_plan_work *work, uint32_t first, bool *is_done, dfl_plan_branches *branches)
{
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    const dfl_einsum *start = &w->einsums[first];
    const uint32_t room = find_room(f);
    dfl_group_space *g = dfl_group_space_new(work, room != DFL_NONE ? f->system->memories[room].size_bits : -1);
    dfl_groups found;

    for (uint32_t e = first; e < w->n_einsums; e++) {
        if (branches->open[e] != branches->open[first] || w->einsums[e].phase != start->phase ||
            dfl_frame_repeat(f, &w->einsums[e]) != dfl_frame_repeat(f, start) || f->side[e] != f->side[first] ||
            dfl_chunk_splits(f, e, first))
            continue;
        is_done[e] = true;
        if (!dfl_group_space_add(g, e))
            return dfl_frame_refuse(f, w->einsums[e].span, "a search of the groups of more than 128 einsums",
                                    "write groups of some of them");
    }
    dfl_group_space_finish(g);
    const dfl_group_problem problem = { .n = g->n, .most = f->mapping->options.groups, .before = g->before,
                                        .cost = dfl_group_space_seconds, .context = g, .floors = g->floors,
                                        .n_floors = g->n_floors };
    found = find_groups(f->arena, &problem, &g->key, work->memo);
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
