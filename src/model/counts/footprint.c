/*
 * Split of a footprint into independent groups. Dimensions, ranks and gates that depend on a common loop belong to one
 * group.
 */
#include "model/counts/footprint.h"

#include "model/sets/rank_piece.h"
#include "support/vec.h"

typedef struct {
    uint64_t lines;
    uint64_t ties; /* bit set: connections with other sets that do not come from a common step */
    uint32_t dim;  /* dimension of the tensor; DFL_NONE for steps that only decide whether an instance has work */
} step_set;

typedef DFL_VEC(step_set) step_sets;

static void add_step_set(dfl_nest *nest, step_sets *all, uint64_t lines, uint64_t ties, uint32_t dim)
{
    step_set j = { lines, ties, dim };

    for (size_t i = 0; dim == DFL_NONE && i < all->n; i++)
        if ((lines & ~all->at[i].lines) == 0 && (ties & ~all->at[i].ties) == 0)
            return; /* some entry already has all of these steps */
    DFL_PUSH(nest->arena, all, j);
}

/* Tells whether a set is part of a group: it has a step or a dimension. */
static bool is_group(const step_set *a) { return a->lines || a->dim != DFL_NONE; }

static bool is_connected(const step_set *a, const step_set *b) { return (a->lines & b->lines) || (a->ties & b->ties); }

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

static bool has_term(const dfl_index *index, uint32_t rank)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (index->terms[t].rank == rank)
            return true;
    return false;
}

/* Bit set: the dimensions that some reference of an einsum indexes with a rank. */
static uint64_t find_dimensions_of(const dfl_footprint *footprint, uint32_t e, uint32_t rank)
{
    uint64_t dims = 0;

    for (uint32_t v = 0; v < footprint->n_references; v++)
        for (uint32_t d = 0; footprint->references[v].einsum == e && d < footprint->references[v].access->n_dims && d < 64; d++)
            dims |= has_term(&footprint->references[v].access->index[d], rank) ? UINT64_C(1) << d : 0;
    return dims;
}

/* Adds the connections that the ranks of an einsum make: a bit for every rank that indexes several dimensions or occurs in
   a condition. `ties` receives the bits of the dimensions, `conditions` those of the conditions. False after E0609: more
   than 64 connections. */
static bool tie_dimensions(dfl_nest *nest, const dfl_footprint *footprint, uint32_t e, uint32_t *n_ties, uint64_t *ties,
                           uint64_t *conditions)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];

    for (uint32_t k = 0; k < einsum->n_ranks; k++) {
        uint64_t dims = find_dimensions_of(footprint, e, einsum->ranks[k]);
        bool limited = false;
        for (uint32_t c = 0; c < einsum->n_where; c++)
            limited |= has_term(&einsum->where[c].sum, einsum->ranks[k]);
        if (!limited && (dims & (dims - 1)) == 0)
            continue;
        if (*n_ties == 64) {
            dfl_nest_refuse(nest, footprint->span, "a tensor whose accesses have more than 64 ranks under conditions",
                            "keep the tensor in the branches of its readers");
            return false;
        }
        uint64_t bit = UINT64_C(1) << (*n_ties)++;
        for (; dims; dims &= dims - 1)
            ties[__builtin_ctzll(dims)] |= bit;
        for (uint32_t c = 0; c < einsum->n_where; c++)
            conditions[c] |= has_term(&einsum->where[c].sum, einsum->ranks[k]) ? bit : 0;
    }
    return true;
}

/* Tells whether reference `v` is the first one of its einsum. */
static bool is_first_reference(const dfl_footprint *footprint, uint32_t v)
{
    for (uint32_t u = 0; u < v; u++)
        if (footprint->references[u].einsum == footprint->references[v].einsum)
            return false;
    return true;
}

/* Adds the sets of the dimensions and of the conditions. False after E0609. */
static bool collect_dimensions(dfl_nest *nest, const dfl_footprint *footprint, step_sets *all)
{
    uint32_t n_dims = footprint->references[0].access->n_dims, n_ties = 0;
    uint64_t *lines = DFL_NEW_ARRAY(nest->arena, uint64_t, 2 * n_dims + 1), *ties = lines + n_dims;

    for (uint32_t v = 0; v < footprint->n_references; v++) {
        uint32_t e = footprint->references[v].einsum;
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        for (uint32_t d = 0; d < n_dims; d++) {
            const dfl_index *index = &footprint->references[v].access->index[d];
            for (uint32_t k = 0; k < index->n_terms; k++)
                dfl_rank_piece_steps(nest, e, index->terms[k].rank, footprint->n, &lines[d]);
        }
        if (!is_first_reference(footprint, v))
            continue;
        uint64_t *conditions = DFL_NEW_ARRAY(nest->arena, uint64_t, einsum->n_where + 1);
        if (!tie_dimensions(nest, footprint, e, &n_ties, ties, conditions))
            return false;
        for (uint32_t c = 0; c < einsum->n_where; c++) {
            uint64_t bits = 0;
            for (uint32_t t = 0; t < einsum->where[c].sum.n_terms; t++)
                dfl_rank_piece_steps(nest, e, einsum->where[c].sum.terms[t].rank, footprint->n, &bits);
            add_step_set(nest, all, bits, conditions[c], DFL_NONE);
        }
    }
    for (uint32_t d = 0; d < n_dims; d++)
        add_step_set(nest, all, lines[d], ties[d], d);
    return true;
}

static bool collect_step_sets(dfl_nest *nest, const dfl_footprint *footprint, step_sets *all)
{
    if (!collect_dimensions(nest, footprint, all))
        return false;
    for (uint32_t v = 0; v < footprint->n_references; v++) {
        uint32_t e = footprint->references[v].einsum;
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        for (uint32_t k = 0; k < einsum->n_ranks; k++) {
            uint64_t bits = 0;
            dfl_rank_piece_steps(nest, e, einsum->ranks[k], footprint->n, &bits);
            if (bits)
                add_step_set(nest, all, bits, 0, DFL_NONE);
        }
        for (uint64_t gates = find_gates(nest, e, footprint->n); gates; gates &= gates - 1)
            add_step_set(nest, all, gates & -gates, 0, DFL_NONE);
        for (uint32_t c = e, n = footprint->n; (n = find_trigger(nest, &c, n)) > 0;)
            for (uint32_t d = 0; d < nest->workload->einsums[c].output.n_dims; d++) {
                uint64_t bits = 0;
                if (find_trigger_rank(nest, c, d, n, &bits) != DFL_NONE)
                    add_step_set(nest, all, bits, 0, DFL_NONE);
            }
    }
    for (uint32_t i = 0; i < footprint->n; i++) {
        const dfl_path_step *step = &nest->paths->paths[footprint->einsum].steps[i];
        uint32_t driver = step->line->kind == DFL_LINE_KEEP ? DFL_NONE : dfl_nest_driver(nest, footprint->einsum, i);
        uint64_t bits = UINT64_C(1) << i;
        if (driver == DFL_NONE)
            continue;
        dfl_rank_piece_steps(nest, driver, nest->paths->paths[driver].steps[i].rank, i, &bits);
        add_step_set(nest, all, bits, 0, DFL_NONE);
    }
    return true;
}

static void merge_step_sets(step_sets *all)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->n; i++)
            for (size_t k = i + 1; k < all->n; k++)
                if (is_connected(&all->at[i], &all->at[k]) &&
                    (all->at[i].lines != all->at[k].lines || all->at[i].ties != all->at[k].ties)) {
                    all->at[i].lines |= all->at[k].lines;
                    all->at[i].ties |= all->at[k].ties;
                    all->at[k] = (step_set){ all->at[i].lines, all->at[i].ties, all->at[k].dim };
                    changed = true;
                }
    }
}

static bool is_in_dimension(const dfl_access *a, int32_t dim, uint32_t rank)
{
    return dim != DFL_NO_DIM && has_term(&a->index[dim], rank);
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

/* Adds a rank to a list, unless the list has it. */
static void add_rank(uint32_t *ranks, uint32_t *n, uint32_t rank)
{
    for (uint32_t k = 0; k < *n; k++)
        if (ranks[k] == rank)
            return;
    ranks[(*n)++] = rank;
}

static int64_t find_coef(const dfl_index *index, uint32_t rank)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (index->terms[t].rank == rank)
            return index->terms[t].coef;
    return 0;
}

/* Whether a condition of the einsum belongs to a group: it has a rank in a dimension of the group, or a rank that a step
   of the group cuts, or shares a rank with a condition that belongs to the group. */
static bool *find_conditions(dfl_nest *nest, const dfl_footprint *footprint, uint32_t v, const dfl_group *group, uint64_t lines)
{
    const dfl_reference *reference = &footprint->references[v];
    const dfl_einsum *einsum = &nest->workload->einsums[reference->einsum];
    bool *belongs = DFL_NEW_ARRAY(nest->arena, bool, einsum->n_where + 1), changed = true;

    for (uint32_t c = 0; c < einsum->n_where; c++)
        for (uint32_t t = 0; t < einsum->where[c].sum.n_terms; t++) {
            uint32_t rank = einsum->where[c].sum.terms[t].rank;
            uint64_t bits = 0;
            dfl_rank_piece_steps(nest, reference->einsum, rank, footprint->n, &bits);
            belongs[c] |= (bits & lines) != 0;
            for (uint32_t d = 0; d < group->n_dims; d++)
                belongs[c] |= has_term(&reference->access->index[group->dims[d]], rank);
        }
    while (changed) {
        changed = false;
        for (uint32_t c = 0; c < einsum->n_where; c++)
            for (uint32_t b = 0; b < einsum->n_where && !belongs[c]; b++)
                for (uint32_t t = 0; belongs[b] && t < einsum->where[c].sum.n_terms; t++)
                    if (has_term(&einsum->where[b].sum, einsum->where[c].sum.terms[t].rank))
                        belongs[c] = changed = true;
    }
    return belongs;
}

/* Sets the indices and conditions of a reference in a group. Returns whether the reference has a condition there. */
static bool attach_joint(dfl_nest *nest, const dfl_footprint *footprint, uint32_t v, const dfl_group *group, uint64_t lines,
                         dfl_group_reference *out)
{
    const dfl_reference *reference = &footprint->references[v];
    const dfl_einsum *einsum = &nest->workload->einsums[reference->einsum];
    const dfl_index *index = reference->access->index;
    bool *belongs = find_conditions(nest, footprint, v, group, lines);
    uint32_t *ranks = DFL_NEW_ARRAY(nest->arena, uint32_t, einsum->n_ranks + 1), n = 0, n_where = 0;

    for (uint32_t d = 0; d < group->n_dims; d++)
        for (uint32_t t = 0; t < index[group->dims[d]].n_terms; t++)
            add_rank(ranks, &n, index[group->dims[d]].terms[t].rank);
    out->joint.n_indexing = n;
    for (uint32_t c = 0; c < einsum->n_where; c++)
        for (uint32_t t = 0; belongs[c] && t < einsum->where[c].sum.n_terms; t++)
            add_rank(ranks, &n, einsum->where[c].sum.terms[t].rank);
    int64_t *extents = DFL_NEW_ARRAY(nest->arena, int64_t, group->n_dims + 1);
    int64_t *coefs = DFL_NEW_ARRAY(nest->arena, int64_t, (size_t)group->n_dims * n + 1);
    int64_t *offsets = DFL_NEW_ARRAY(nest->arena, int64_t, group->n_dims + 1);
    int64_t *slopes = DFL_NEW_ARRAY(nest->arena, int64_t, (size_t)einsum->n_where * n + 1);
    int64_t *fixed = DFL_NEW_ARRAY(nest->arena, int64_t, einsum->n_where + 1);
    dfl_rank_source *sources = DFL_NEW_ARRAY(nest->arena, dfl_rank_source, n + 1);
    for (uint32_t d = 0; d < group->n_dims; d++) {
        extents[d] = nest->workload->tensors[footprint->tensor].extents[group->dims[d]];
        offsets[d] = index[group->dims[d]].offset;
        for (uint32_t k = 0; k < n; k++)
            coefs[d * n + k] = find_coef(&index[group->dims[d]], ranks[k]);
    }
    for (uint32_t c = 0; c < einsum->n_where; c++) {
        if (!belongs[c])
            continue;
        fixed[n_where] = einsum->where[c].sum.offset;
        for (uint32_t k = 0; k < n; k++)
            slopes[n_where * n + k] = find_coef(&einsum->where[c].sum, ranks[k]);
        n_where++;
    }
    for (uint32_t k = 0; k < n; k++)
        sources[k] = make_source(nest, reference->einsum, ranks[k], 0, footprint->n);
    out->joint.n_ranks = n;
    out->joint.n_dims = group->n_dims;
    out->joint.extents = extents;
    out->joint.coefs = coefs;
    out->joint.offsets = offsets;
    out->joint.n_where = n_where;
    out->joint.slopes = slopes;
    out->joint.fixed = fixed;
    out->ranks = sources;
    return n_where > 0;
}

/* Sets the joint form of all references if the group needs it. False after E0609. */
static bool find_joint(dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group, uint64_t lines)
{
    dfl_group_reference *references = DFL_NEW_ARRAY(nest->arena, dfl_group_reference, footprint->n_references + 1);
    const dfl_access *first = footprint->references[0].access;
    bool restricted = false;
    dfl_i128 shape = 1;

    group->joint = group->n_dims > 1;
    for (uint32_t v = 0; v < footprint->n_references; v++) {
        references[v] = group->references[v];
        group->joint |= attach_joint(nest, footprint, v, group, lines, &references[v]);
        restricted |= nest->demands[footprint->references[v].einsum] != NULL;
    }
    for (uint32_t d = 0; d < group->n_dims; d++)
        if (dfl_mul(shape, nest->workload->tensors[footprint->tensor].extents[group->dims[d]], &shape) ||
            shape >> DFL_INDEX_BITS) {
            if (group->n_dims == 1)
                break;
            dfl_nest_refuse(nest, first->span, "dimensions with a common rank and more than 2^61 elements",
                            "use smaller extents");
            return false;
        }
    group->shape = (int64_t)shape;
    if (!group->joint)
        return true;
    if (restricted) {
        dfl_nest_refuse(nest, first->span, "a restricted producer with a condition, or with one rank in two dimensions",
                        "give each einsum a branch without loops over ranks of its consumers above it");
        return false;
    }
    group->references = references;
    group->plain = false;
    return true;
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
        if (group->joint)
            resize_sources(nest, group->references[v].ranks, group->references[v].joint.n_ranks);
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
    return find_joint(nest, footprint, group, lines);
}

/* Sets the dimensions of the group of set `i`. */
static void find_dimensions(dfl_nest *nest, const step_sets *all, size_t i, dfl_group *group)
{
    uint32_t *dims, n = 0;

    for (size_t k = 0; k < all->n; k++)
        n += all->at[k].dim != DFL_NONE && (k == i || is_connected(&all->at[i], &all->at[k]));
    dims = DFL_NEW_ARRAY(nest->arena, uint32_t, n + 1);
    for (size_t k = 0; k < all->n; k++)
        if (all->at[k].dim != DFL_NONE && (k == i || is_connected(&all->at[i], &all->at[k])))
            dims[group->n_dims++] = all->at[k].dim;
    group->dims = dims;
    group->dim = n > 0 ? (int32_t)dims[0] : DFL_NO_DIM;
}

bool dfl_footprint_split(dfl_nest *nest, dfl_footprint *footprint)
{
    step_sets all = { 0 };
    uint32_t n = 0;

    if (!collect_step_sets(nest, footprint, &all))
        return false;
    merge_step_sets(&all);
    footprint->group_of_step = DFL_NEW_ARRAY(nest->arena, uint32_t, footprint->n + 1);
    for (uint32_t i = 0; i < footprint->n; i++)
        footprint->group_of_step[i] = DFL_NONE;
    bool *first = DFL_NEW_ARRAY(nest->arena, bool, all.n + 1); /* the first set of its group */
    for (size_t i = 0; i < all.n; i++) {
        first[i] = is_group(&all.at[i]);
        for (size_t k = 0; k < i; k++)
            first[i] &= !(is_group(&all.at[k]) && is_connected(&all.at[i], &all.at[k]));
        n += first[i];
    }
    footprint->groups = DFL_NEW_ARRAY(nest->arena, dfl_group, n + 1);
    footprint->n_groups = 0;
    for (size_t i = 0; i < all.n; i++) {
        if (!first[i])
            continue;
        find_dimensions(nest, &all, i, &footprint->groups[footprint->n_groups]);
        if (!fill_group(nest, footprint, footprint->n_groups, all.at[i].lines))
            return false;
        footprint->n_groups++;
    }
    return true;
}
