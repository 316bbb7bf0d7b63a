/*
 * Split of a footprint into independent groups. Dimensions, ranks and gates that depend on a common loop belong to one
 * group.
 */
#include "model/counts/footprint.h"

#include "model/sets/rank_piece.h"
#include "support/vec.h"

typedef struct {
    uint64_t lines;
    uint32_t dim; /* dimension of the tensor; DFL_NONE for steps that only decide whether an instance has work */
} step_set;

typedef DFL_VEC(step_set) step_sets;

static void add_step_set(dfl_nest *nest, step_sets *all, uint64_t lines, uint32_t dim)
{
    step_set j = { lines, dim };

    for (size_t i = 0; dim == DFL_NONE && i < all->n; i++)
        if ((lines & ~all->at[i].lines) == 0)
            return; /* some entry already has all of these steps */
    DFL_PUSH(nest->arena, all, j);
}

/* Steps of an einsum that works only in the first iteration of the step, or only at coordinate 0. */
static uint64_t find_gates(const dfl_nest *nest, uint32_t e, uint32_t n)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint64_t bits = 0;

    for (uint32_t k = 0; k < nest->n_gates[e]; k++)
        if (nest->gates[e][k] < n)
            bits |= UINT64_C(1) << nest->gates[e][k];
    for (uint64_t left = nest->spatial[e] & dfl_nest_steps_below(n); left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (path->steps[i].bind == DFL_BIND_IDLE && dfl_nest_driver(nest, e, i) != DFL_NONE)
            bits |= left & -left;
    }
    return bits;
}

/* Replaces einsum *e by its trigger (nest.h). Returns the number of steps that decide whether the trigger is idle; 0 if
   *e has no trigger. */
static uint32_t find_trigger(const dfl_nest *nest, uint32_t *e, uint32_t n)
{
    uint32_t steps = nest->trigger_steps[*e] < n ? nest->trigger_steps[*e] : n;

    *e = nest->trigger[*e];
    return *e == DFL_NONE ? 0 : steps;
}

/* The rank of restricted dimension `d` of a trigger, and the steps that decide the piece of this rank. DFL_NONE if the
   dimension is not restricted. */
static uint32_t find_trigger_rank(const dfl_nest *nest, uint32_t c, uint32_t d, uint32_t n, uint64_t *lines)
{
    uint32_t rank;

    if (!nest->demands[c] || !nest->demands[c][d].is_restricted ||
        !dfl_index_is_bare(&nest->workload->einsums[c].output.index[d], &rank))
        return DFL_NONE;
    dfl_rank_piece_steps(nest, c, rank, n, lines);
    return *lines ? rank : DFL_NONE;
}

static void collect_step_sets(dfl_nest *nest, const dfl_footprint *footprint, step_sets *all)
{
    for (uint32_t d = 0; d < footprint->references[0].access->n_dims; d++) {
        uint64_t bits = 0;
        for (uint32_t v = 0; v < footprint->n_references; v++) {
            const dfl_index *index = &footprint->references[v].access->index[d];
            for (uint32_t k = 0; k < index->n_terms; k++)
                dfl_rank_piece_steps(nest, footprint->references[v].einsum, index->terms[k].rank, footprint->n, &bits);
        }
        add_step_set(nest, all, bits, d);
    }
    for (uint32_t v = 0; v < footprint->n_references; v++) {
        uint32_t e = footprint->references[v].einsum;
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        for (uint32_t k = 0; k < einsum->n_ranks; k++) {
            uint64_t bits = 0;
            dfl_rank_piece_steps(nest, e, einsum->ranks[k], footprint->n, &bits);
            if (bits)
                add_step_set(nest, all, bits, DFL_NONE);
        }
        for (uint64_t gates = find_gates(nest, e, footprint->n); gates; gates &= gates - 1)
            add_step_set(nest, all, gates & -gates, DFL_NONE);
        for (uint32_t c = e, n = footprint->n; (n = find_trigger(nest, &c, n)) > 0;)
            for (uint32_t d = 0; d < nest->workload->einsums[c].output.n_dims; d++) {
                uint64_t bits = 0;
                if (find_trigger_rank(nest, c, d, n, &bits) != DFL_NONE)
                    add_step_set(nest, all, bits, DFL_NONE);
            }
    }
    for (uint32_t i = 0; i < footprint->n; i++) {
        const dfl_path_step *step = &nest->paths->paths[footprint->einsum].steps[i];
        uint32_t driver = step->line->kind == DFL_LINE_KEEP ? DFL_NONE : dfl_nest_driver(nest, footprint->einsum, i);
        uint64_t bits = UINT64_C(1) << i;
        if (driver == DFL_NONE)
            continue;
        dfl_rank_piece_steps(nest, driver, nest->paths->paths[driver].steps[i].rank, i, &bits);
        add_step_set(nest, all, bits, DFL_NONE);
    }
}

static void merge_step_sets(step_sets *all)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->n; i++)
            for (size_t k = i + 1; k < all->n; k++)
                if ((all->at[i].lines & all->at[k].lines) && all->at[i].lines != all->at[k].lines) {
                    all->at[i].lines |= all->at[k].lines;
                    all->at[k].lines = all->at[i].lines;
                    changed = true;
                }
    }
}

static bool is_in_dimension(const dfl_access *a, int32_t dim, uint32_t rank)
{
    for (uint32_t t = 0; dim != DFL_NO_DIM && t < a->index[dim].n_terms; t++)
        if (a->index[dim].terms[t].rank == rank)
            return true;
    return false;
}

static dfl_rank_source make_source(dfl_nest *nest, uint32_t e, uint32_t rank, int64_t coef, uint32_t n)
{
    uint64_t cuts = dfl_rank_piece_cuts(nest, e, rank, n);
    uint32_t n_cuts = (uint32_t)__builtin_popcountll(cuts), *step = DFL_NEW_ARRAY(nest->arena, uint32_t, n_cuts + 1);

    for (uint32_t k = 0; cuts; cuts &= cuts - 1)
        step[k++] = (uint32_t)__builtin_ctzll(cuts);
    return (dfl_rank_source){ .einsum = e, .rank = rank, .n = n, .coef = coef, .extent = nest->workload->ranks[rank].extent,
                              .is_restricted = nest->demands[e] != NULL, .has_gaps = dfl_rank_piece_has_gaps(nest, e, rank),
                              .n_cuts = n_cuts, .step = step, .tile = DFL_NEW_ARRAY(nest->arena, int64_t, n_cuts + 1) };
}

static int64_t magnitude(int64_t coef) { return coef < 0 ? -coef : coef; }

/* Sorts terms by the absolute value of their coefficients, smallest first, so that gaps in sums of intervals close
   early. */
static void sort_terms(dfl_rank_source *terms, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && magnitude(terms[k].coef) < magnitude(terms[k - 1].coef); k--) {
            dfl_rank_source swap = terms[k];
            terms[k] = terms[k - 1];
            terms[k - 1] = swap;
        }
}

/* Sets the terms of each reference in a group, and the conditions that make the reference idle: ranks without a piece,
   and gates. */
static void attach_references(dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group, uint64_t lines)
{
    dfl_group_reference *references = DFL_NEW_ARRAY(nest->arena, dfl_group_reference, footprint->n_references);

    for (uint32_t v = 0; v < footprint->n_references; v++) {
        uint32_t e = footprint->references[v].einsum;
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        const dfl_index *index = group->dim == DFL_NO_DIM ? NULL : &footprint->references[v].access->index[group->dim];
        dfl_rank_source *terms = DFL_NEW_ARRAY(nest->arena, dfl_rank_source, index ? index->n_terms + 1 : 1);
        uint32_t most = einsum->n_ranks;
        for (uint32_t c = e, n = footprint->n; (n = find_trigger(nest, &c, n)) > 0;)
            most += nest->workload->einsums[c].output.n_dims;
        dfl_rank_source *active = DFL_NEW_ARRAY(nest->arena, dfl_rank_source, most + 1);
        uint32_t *gates = DFL_NEW_ARRAY(nest->arena, uint32_t, (uint32_t)__builtin_popcountll(lines) + 1);
        dfl_group_reference *reference = &references[v];
        reference->offset = index ? index->offset : 0;
        for (uint32_t k = 0; index && k < index->n_terms; k++)
            terms[reference->n_terms++] = make_source(nest, e, index->terms[k].rank, index->terms[k].coef, footprint->n);
        sort_terms(terms, reference->n_terms);
        for (uint32_t k = 0; k < einsum->n_ranks; k++) {
            uint64_t bits = 0;
            dfl_rank_piece_steps(nest, e, einsum->ranks[k], footprint->n, &bits);
            if ((bits & lines) && !is_in_dimension(footprint->references[v].access, group->dim, einsum->ranks[k]))
                active[reference->n_active++] = make_source(nest, e, einsum->ranks[k], 0, footprint->n);
        }
        for (uint32_t c = e, n = footprint->n; (n = find_trigger(nest, &c, n)) > 0;)
            for (uint32_t d = 0; d < nest->workload->einsums[c].output.n_dims; d++) {
                uint64_t bits = 0;
                uint32_t rank = find_trigger_rank(nest, c, d, n, &bits);
                if (bits & lines)
                    active[reference->n_active++] = make_source(nest, c, rank, 0, n);
            }
        for (uint64_t bits = find_gates(nest, e, footprint->n) & lines; bits; bits &= bits - 1)
            gates[reference->n_gates++] = (uint32_t)__builtin_ctzll(bits);
        reference->terms = terms;
        reference->active = active;
        reference->gates = gates;
    }
    group->references = references;
}

static void resize_sources(const dfl_nest *nest, const dfl_rank_source *sources, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < sources[k].n_cuts; i++)
            sources[k].tile[i] = nest->sizes[sources[k].einsum].tile[sources[k].step[i]];
}

void dfl_footprint_resize_group(const dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group)
{
    for (uint32_t k = 0; k < group->n_spatial; k++)
        group->parts[k] = nest->sizes[group->owner[k]].trips[group->spatial[k]];
    for (uint32_t v = 0; v < footprint->n_references; v++) {
        resize_sources(nest, group->references[v].terms, group->references[v].n_terms);
        resize_sources(nest, group->references[v].active, group->references[v].n_active);
    }
    group->run = nest->run;
}

static bool fill_group(dfl_nest *nest, dfl_footprint *footprint, uint32_t at, uint64_t lines)
{
    dfl_group *group = &footprint->groups[at];

    group->plain = true;
    for (uint32_t i = 0; i < footprint->n; i++) {
        if (!(lines >> i & 1))
            continue;
        uint32_t driver = dfl_nest_driver(nest, footprint->einsum, i);
        const dfl_path_step *step = &nest->paths->paths[driver].steps[i];
        footprint->group_of_step[i] = at;
        if (group->n_lines >= DFL_MAX_GROUP || group->n_spatial >= DFL_MAX_GROUP) {
            dfl_nest_refuse(nest, step->line->span, "a dimension cut by more than 16 loops", "merge some of the loops");
            return false;
        }
        if (step->line->kind == DFL_LINE_SPATIAL) {
            group->owner[group->n_spatial] = driver;
            group->spatial[group->n_spatial++] = i;
            footprint->spatial |= UINT64_C(1) << i;
        } else {
            group->driver[group->n_lines] = driver;
            group->lines[group->n_lines++] = i;
        }
    }
    for (uint32_t v = 0; v < footprint->n_references; v++)
        if (nest->demands[footprint->references[v].einsum] || nest->n_gates[footprint->references[v].einsum])
            group->plain = false;
    for (uint32_t k = 0; k < group->n_lines; k++)
        if (nest->demands[group->driver[k]])
            group->plain = false;
    attach_references(nest, footprint, group, lines);
    return true;
}

bool dfl_footprint_split(dfl_nest *nest, dfl_footprint *footprint)
{
    step_sets all = { 0 };

    collect_step_sets(nest, footprint, &all);
    merge_step_sets(&all);
    footprint->group_of_step = DFL_NEW_ARRAY(nest->arena, uint32_t, footprint->n + 1);
    for (uint32_t i = 0; i < footprint->n; i++)
        footprint->group_of_step[i] = DFL_NONE;
    uint64_t done = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < all.n; i++) {
        n += !(all.at[i].lines & done) && (all.at[i].lines || all.at[i].dim != DFL_NONE);
        done |= all.at[i].lines;
    }
    footprint->groups = DFL_NEW_ARRAY(nest->arena, dfl_group, n + 1);
    footprint->n_groups = 0;
    done = 0;
    for (size_t i = 0; i < all.n; i++) {
        uint64_t lines = all.at[i].lines;
        dfl_group *group = &footprint->groups[footprint->n_groups];
        if (lines && (done & lines))
            continue;
        done |= lines;
        group->dim = DFL_NO_DIM;
        for (size_t k = 0; k < all.n; k++) {
            if (all.at[k].dim == DFL_NONE || (lines ? all.at[k].lines != lines : k != i))
                continue;
            if (group->dim != DFL_NO_DIM) {
                dfl_nest_refuse(nest, footprint->references[0].access->span, "a tensor with one rank in two of its dimensions",
                                "loop over this rank below the keeps of the tensor only");
                return false;
            }
            group->dim = (int32_t)all.at[k].dim;
        }
        if (!fill_group(nest, footprint, footprint->n_groups, lines))
            return false;
        footprint->n_groups++;
    }
    return true;
}

