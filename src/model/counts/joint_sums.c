#include "model/counts/joint_sums.h"

#include "model/counts/joint_states.h"
#include "model/sets/rank_piece.h"

static void add_change(dfl_joint_walk *walk, dfl_i128 *to, dfl_i128 part, dfl_i128 times)
{
    walk->overflow |= dfl_mul(part, times, &part);
    walk->overflow |= dfl_add(*to, part, to);
}

/* Bit set: steps whose instances share a transfer and may hold an element together. */
static uint64_t find_united(const dfl_joint_walk *walk, const dfl_sharing *how)
{
    uint64_t united = 0;

    for (uint32_t i = 0; i < walk->n_steps; i++)
        if (walk->steps[i].kind == DFL_JOINT_KEPT)
            united |= UINT64_C(1) << walk->steps[i].step;
    return united & ~how->inside;
}

/* Adds the change in all states to `out`. */
static void add_states(dfl_joint_walk *walk, const dfl_joint_states *set, const dfl_sharing *how, dfl_position_change *change,
                       void *context, dfl_group_change *out)
{
    const uint64_t united = find_united(walk, how);
    int64_t pos[DFL_MAX_STEPS] = { 0 }, prev[DFL_MAX_STEPS] = { 0 };

    for (size_t n = 0; n < set->all.n && dfl_budget_ok(walk->budget); n++) {
        const dfl_joint_state *state = &set->all.at[n];
        dfl_group_change at = { 0 };
        for (uint32_t i = 0; i < walk->n_steps; i++) {
            pos[walk->steps[i].step] = state->row[walk->key + i];
            prev[walk->steps[i].step] = state->row[walk->key + walk->n_steps + i];
        }
        change(context, pos, prev, united, walk->compare, &at);
        add_change(walk, &out->enter, at.enter, state->times);
        add_change(walk, &out->kept, at.kept, state->times);
        add_change(walk, &out->leave, at.leave, state->times);
        add_change(walk, &out->left_kept, at.left_kept, state->times);
        out->late |= at.late;
    }
}

/* Tells whether all references of the group have equal indices inside the shape, so that a translation of the ranks moves
   all of them alike and no element leaves the shape. */
static bool moves_alike(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group)
{
    for (uint32_t d = 0; d < group->n_dims; d++) {
        const dfl_index *first = &footprint->references[0].access->index[group->dims[d]];
        dfl_i128 lo = first->offset, hi = first->offset;
        for (uint32_t t = 0; t < first->n_terms; t++) {
            dfl_i128 reach = (dfl_i128)first->terms[t].coef * (nest->workload->ranks[first->terms[t].rank].extent - 1);
            lo += reach < 0 ? reach : 0;
            hi += reach > 0 ? reach : 0;
        }
        if (lo < 0 || hi >= nest->workload->tensors[footprint->tensor].extents[group->dims[d]])
            return false;
        for (uint32_t v = 1; v < footprint->n_references; v++) {
            const dfl_index *index = &footprint->references[v].access->index[group->dims[d]];
            if (index->n_terms != first->n_terms || index->offset != first->offset)
                return false;
            for (uint32_t t = 0; t < index->n_terms; t++)
                if (index->terms[t].rank != first->terms[t].rank || index->terms[t].coef != first->terms[t].coef)
                    return false;
        }
    }
    return true;
}

/* Whether values of all conditions fit: the largest magnitude stays below 2^61. */
static bool has_small_values(const dfl_group *group, uint32_t n_references)
{
    for (uint32_t v = 0; v < n_references; v++) {
        const dfl_joint_access *joint = &group->references[v].joint;
        for (uint32_t c = 0; c < joint->n_where; c++) {
            dfl_i128 sum = joint->fixed[c] < 0 ? -(dfl_i128)joint->fixed[c] : joint->fixed[c];
            for (uint32_t k = 0; k < joint->n_ranks; k++) {
                const dfl_i128 reach = (dfl_i128)joint->slopes[c * joint->n_ranks + k] * group->references[v].ranks[k].extent;
                sum += reach < 0 ? -reach : reach;
            }
            if (sum >> 61)
                return false;
        }
    }
    return true;
}

/* The ranks that decide the sets, one after another for each reference, and the drivers of the loops behind them. */
static void collect_sources(dfl_joint_walk *walk, const dfl_nest *nest)
{
    const dfl_group *group = walk->group;
    uint32_t most = group->n_lines + 1, n_conditions = 0;

    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        most += group->references[v].joint.n_ranks + group->references[v].n_active;
        n_conditions += group->references[v].joint.n_where;
    }
    walk->sources = DFL_NEW_ARRAY(walk->arena, dfl_joint_source, most);
    walk->conditions = DFL_NEW_ARRAY(walk->arena, dfl_joint_condition, n_conditions + 1);
    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_group_reference *r = &group->references[v];
        for (uint32_t c = 0; c < r->joint.n_where; c++)
            walk->conditions[walk->n_conditions++] = (dfl_joint_condition){ v, c, walk->n_sources };
        for (uint32_t k = 0; k < r->joint.n_ranks; k++)
            walk->sources[walk->n_sources++] = (dfl_joint_source){ .rank = &r->ranks[k], .reference = v, .k = k };
        for (uint32_t k = 0; k < r->n_active; k++)
            walk->sources[walk->n_sources++] = (dfl_joint_source){ .rank = &r->active[k], .reference = v, .k = DFL_NONE };
    }
    for (uint32_t k = 0; k < group->n_lines; k++) {
        const uint32_t e = group->driver[k], rank = nest->paths->paths[e].steps[group->lines[k]].rank;
        const uint64_t cuts = dfl_rank_piece_cuts(nest, e, rank, group->lines[k] + 1);
        dfl_rank_source *own = DFL_NEW(walk->arena, dfl_rank_source);
        uint32_t *step = DFL_NEW_ARRAY(walk->arena, uint32_t, (uint32_t)__builtin_popcountll(cuts) + 1);
        *own = (dfl_rank_source){ .einsum = e, .rank = rank, .extent = nest->workload->ranks[rank].extent, .step = step,
                                  .tile = DFL_NEW_ARRAY(walk->arena, int64_t, (uint32_t)__builtin_popcountll(cuts) + 1) };
        for (uint64_t left = cuts; left; left &= left - 1) {
            step[own->n_cuts] = (uint32_t)__builtin_ctzll(left);
            own->tile[own->n_cuts] = nest->sizes[e].tile[step[own->n_cuts]];
            own->n_cuts++;
        }
        walk->sources[walk->n_sources++] = (dfl_joint_source){ .rank = own, .at_zero = true, .reference = DFL_NONE,
                                                               .k = DFL_NONE };
    }
}

static bool is_gate(const dfl_joint_walk *walk, uint32_t step)
{
    for (uint32_t v = 0; v < walk->footprint->n_references; v++)
        for (uint32_t k = 0; k < walk->group->references[v].n_gates; k++)
            if (walk->group->references[v].gates[k] == step)
                return true;
    return false;
}

/* Whether the sets at different coordinates of a step have no element in common: the step cuts a rank of the indices, and these
   tell the ranks of an element. Their union is then as large as their sum, and so are the unions of what enters and stays. */
static bool divides_sets(const dfl_joint_walk *walk, const dfl_sharing *how, uint32_t step)
{
    bool divides = !how->box && how->forward == DFL_NONE;

    for (uint32_t d = 0; d < walk->group->n_dims; d++)
        divides &= walk->footprint->references[0].access->index[walk->group->dims[d]].n_terms == 1;
    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_group_reference *r = &walk->group->references[v];
        bool cuts = false;
        for (uint32_t k = 0; k < r->joint.n_indexing; k++)
            cuts |= dfl_joint_cut(&r->ranks[k], step) != DFL_NONE;
        divides &= cuts;
    }
    return divides;
}

/* A spatial step under a way of sharing and a restriction. */
static dfl_joint_step make_spatial(const dfl_joint_walk *walk, const dfl_sharing *how, uint32_t k)
{
    const uint32_t i = walk->group->spatial[k];
    const uint64_t bit = UINT64_C(1) << i, ranged = walk->only != NULL ? walk->only->ranged : 0;
    dfl_joint_step out = { .step = i, .parts = walk->group->parts[k], .kind = DFL_JOINT_FREE };
    uint64_t kept = 0;

    for (uint32_t n = 0; n < walk->group->n_spatial; n++)
        kept |= UINT64_C(1) << walk->group->spatial[n];
    kept &= how->united | how->inside | how->first_only;
    if (how->inside & bit)
        out.kind = DFL_JOINT_KEPT;
    else if (how->first_only & bit)
        out.kind = DFL_JOINT_FIXED;
    else if ((how->united & bit) && !divides_sets(walk, how, i))
        out.kind = DFL_JOINT_KEPT;
    if (out.kind == DFL_JOINT_FIXED)
        out.at = walk->only != NULL && (walk->only->pinned & bit) ? walk->only->at[i] : 0;
    out.exact = out.kind == DFL_JOINT_FREE && (ranged & bit) && ((ranged & kept) || (ranged & (ranged - 1)));
    if (how->forward == i && (out.kind == DFL_JOINT_FREE || out.kind == DFL_JOINT_FIXED)) {
        out.at = out.kind == DFL_JOINT_FIXED ? out.at : -1;
        out.kind = DFL_JOINT_FORWARD;
    }
    return out;
}

/* The steps of the group, the outermost first, and the places of their marks. */
static void collect_steps(dfl_joint_walk *walk, const dfl_sharing *how)
{
    const dfl_group *group = walk->group;
    uint32_t line = 0, spatial = 0;

    walk->steps = DFL_NEW_ARRAY(walk->arena, dfl_joint_step, group->n_lines + group->n_spatial + 1);
    while (line < group->n_lines || spatial < group->n_spatial) {
        const bool is_line = spatial == group->n_spatial ||
                             (line < group->n_lines && group->lines[line] < group->spatial[spatial]);
        dfl_joint_step step = { .kind = DFL_JOINT_LOOP, .level = line, .driver = walk->n_sources - group->n_lines + line };
        if (is_line)
            step.step = group->lines[line++];
        else
            step = make_spatial(walk, how, spatial++);
        step.gate = is_gate(walk, step.step);
        walk->steps[walk->n_steps++] = step;
    }
    dfl_joint_walk_layout(walk);
}

/* The sums of one loop level: at the positions of the loops outside it, or, if loop `advancing` is not DFL_NONE, at its
   advances. */
static void take_level(dfl_joint_walk *walk, uint32_t level, uint32_t advancing, bool compare, const dfl_sharing *how,
                       dfl_position_change *change, void *context, dfl_group_change *out)
{
    dfl_joint_states set;

    walk->level = level;
    walk->advancing = advancing;
    walk->compare = compare;
    set = dfl_joint_walk_start(walk);
    for (uint32_t i = 0; i < walk->n_steps; i++)
        set = dfl_joint_walk_pass(walk, &set, i);
    add_states(walk, &set, how, change, context, out);
}

bool dfl_joint_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_position_change *change, void *context, dfl_group_sums *out)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(nest->arena));
    dfl_joint_walk walk = { .arena = arena, .budget = dfl_arena_budget(nest->arena), .footprint = footprint, .group = group,
                            .only = only };

    if (!group->joint || !moves_alike(nest, footprint, group) || !has_small_values(group, footprint->n_references)) {
        dfl_arena_free(arena);
        return false;
    }
    collect_sources(&walk, nest);
    collect_steps(&walk, how);
    for (uint32_t level = 0; level <= group->n_lines; level++) {
        const bool compare = level < group->n_lines || how->anew;
        dfl_group_change *at = &out->hold[level];
        take_level(&walk, level, DFL_NONE, compare, how, change, context, at);
        if (!compare) /* only a loop of another group advances, so the set of this group stays */
            at->kept = at->leave = at->left_kept = at->enter;
        if (level < group->n_lines)
            take_level(&walk, level + 1, level, true, how, change, context, &out->adv[level + 1]);
    }
    out->present = out->hold[group->n_lines].enter;
    out->overflow |= walk.overflow;
    dfl_arena_free(arena);
    return true;
}
