/* Counts as products of trip counts and tile sizes, and as products of rank chains if some tile is ragged. */
#include "model/counts/product_form.h"

#include "model/counts/rank_chain.h"
#include "support/vec.h"

static uint64_t step_bit(uint32_t i) { return UINT64_C(1) << i; }

static bool has_one_index(const dfl_nest *nest, uint32_t rank) { return nest->workload->ranks[rank].extent == 1; }

/* Sets *rank to the rank that moves an index (DFL_NONE for a constant index), and sets its coefficient. False if
   several ranks move the index, or if some index falls outside the shape. */
static bool find_one_rank(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_index *index, uint32_t dim,
                          uint32_t *rank, int64_t *coef)
{
    dfl_i128 last = index->offset;

    *rank = DFL_NONE;
    *coef = 1;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        if (has_one_index(nest, index->terms[t].rank))
            continue;
        if (*rank != DFL_NONE || index->terms[t].coef < 1)
            return false;
        *rank = index->terms[t].rank;
        *coef = index->terms[t].coef;
        last += (dfl_i128)*coef * (nest->workload->ranks[*rank].extent - 1);
    }
    return index->offset >= 0 && last < nest->workload->tensors[footprint->tensor].extents[dim];
}

/* Tells whether at most one rank decides a group. Adds the group to the product form of the footprint. */
static bool add_group(const dfl_nest *nest, dfl_footprint *footprint, dfl_group *group)
{
    dfl_product_form *form = &footprint->product;
    const dfl_group_reference *reference = &group->references[0];
    uint32_t rank = DFL_NONE, inner = DFL_NONE;
    uint64_t steps = 0;
    int64_t coef = 1;

    if (!group->plain || reference->n_gates || group->joint)
        return false;
    if (group->dim != DFL_NO_DIM &&
        !find_one_rank(nest, footprint, &footprint->references[0].access->index[group->dim], (uint32_t)group->dim, &rank, &coef))
        return false;
    for (uint32_t k = 0; k < reference->n_active; k++) {
        if (has_one_index(nest, reference->active[k].rank))
            continue;
        if (rank != DFL_NONE)
            return false;
        rank = reference->active[k].rank;
    }
    for (uint32_t k = 0; k < group->n_lines + group->n_spatial; k++) {
        uint32_t i = k < group->n_lines ? group->lines[k] : group->spatial[k - group->n_lines];
        const dfl_path_step *step = &nest->paths->paths[form->einsum].steps[i];
        uint32_t driver = k < group->n_lines ? group->driver[k] : dfl_nest_driver(nest, footprint->einsum, i);
        if (step->rank == DFL_NONE || driver != form->einsum)
            return false;
        if (has_one_index(nest, step->rank))
            continue;
        if (step->rank != rank)
            return false;
        inner = inner == DFL_NONE || i > inner ? i : inner;
        steps |= step_bit(i);
    }
    group->rank = rank;
    for (uint32_t k = 0; k < group->n_lines; k++)
        form->lines |= step_bit(group->lines[k]);
    if (group->dim == DFL_NO_DIM)
        return true;
    form->dims |= steps;
    form->stride |= coef > 1;
    if (inner != DFL_NONE)
        form->tiles |= step_bit(inner);
    else if (rank != DFL_NONE)
        form->uncut *= nest->workload->ranks[rank].extent;
    return true;
}

void dfl_product_form_find(dfl_nest *nest, dfl_footprint *footprint)
{
    dfl_product_form *form = &footprint->product;
    dfl_i128 points;

    *form = (dfl_product_form){ .einsum = footprint->references[0].einsum, .uncut = 1, .possible = footprint->n_references == 1 };
    if (!form->possible || dfl_einsum_points(nest->workload, &nest->workload->einsums[form->einsum], &points) ||
        points >> DFL_PRODUCT_BITS) {
        form->possible = false;
        return;
    }
    while (points >> form->bits)
        form->bits++;
    for (uint32_t g = 0; g < footprint->n_groups && form->possible; g++)
        form->possible = add_group(nest, footprint, &footprint->groups[g]);
    for (uint32_t i = 0; i < footprint->n; i++)
        form->possible &= nest->paths->paths[form->einsum].steps[i].line->kind != DFL_LINE_TEMPORAL ||
                          (form->lines & step_bit(i));
}

/* The rank chain of a group under a way of sharing. */
static dfl_rank_chain *find_chain(dfl_nest *nest, const dfl_delta *delta, const dfl_group *group)
{
    uint32_t einsum = delta->footprint->product.einsum;
    dfl_rank_chain like = { .kind = DFL_RANK_CHAIN_ALL, .einsum = einsum, .extent = 1 };

    if (group->rank != DFL_NONE)
        like.extent = nest->workload->ranks[group->rank].extent;
    for (uint32_t k = 0; k < group->n_lines; k++)
        like.temporal |= step_bit(group->lines[k]);
    for (uint32_t k = 0; k < group->n_spatial; k++)
        like.spatial |= step_bit(group->spatial[k]);
    like.counted = delta->counted & like.spatial;
    if (group->dim != DFL_NO_DIM) {
        like.kind = DFL_RANK_CHAIN_ELEMENTS;
        like.joined = delta->joined & like.spatial;
    } else if (group->references[0].n_active > 0 && (like.counted | (delta->how.united & like.spatial))) {
        like.kind = DFL_RANK_CHAIN_WORKING;
        like.united = delta->how.united & like.spatial;
    }
    return dfl_rank_chain_of(nest, &like);
}

void dfl_product_form_share(dfl_nest *nest, dfl_delta *delta)
{
    const dfl_footprint *footprint = delta->footprint;
    const dfl_product_form *form = &footprint->product;
    const dfl_sharing *how = &delta->how;

    delta->joined = how->inside & form->dims;
    delta->counted = delta->joined | (footprint->spatial & ~(how->inside | how->first_only | (how->united & ~form->dims)));
    /* chunks lie side by side; a loop in between leaves gaps, which a bounding box would fill */
    delta->has_product_form = form->possible && how->forward == DFL_NONE && !(how->box && (form->stride || delta->joined));
    if (!delta->has_product_form)
        return;
    delta->chains = DFL_NEW_ARRAY(nest->arena, dfl_rank_chain *, footprint->n_groups + 1);
    delta->at = DFL_NEW_ARRAY(nest->arena, const dfl_rank_chain_sum *, footprint->n_groups + 1);
    for (uint32_t g = 0; g < footprint->n_groups; g++)
        delta->chains[g] = find_chain(nest, delta, &footprint->groups[g]);
}

/* Copies the present sizes to the product form. False if some loop does not divide the piece that it cuts. */
static bool find_even_sizes(const dfl_nest *nest, dfl_footprint *footprint)
{
    dfl_product_form *form = &footprint->product;
    const dfl_loop_sizes *sizes = &nest->sizes[form->einsum];

    uint64_t ragged = sizes->ragged & (form->lines | footprint->spatial);
    if (ragged) {
        /* if all tiles are full, each of these loops becomes less than twice as long */
        form->bounded = form->bits + (uint32_t)__builtin_popcountll(ragged) <= DFL_PRODUCT_BITS;
        return false;
    }
    form->length = form->uncut;
    for (uint64_t left = form->tiles; left; left &= left - 1)
        form->length *= sizes->tile[__builtin_ctzll(left)];
    /* a loop outside of the innermost loop that moves the tile moves the tile, too: the inner loop returns to its first
       iteration */
    uint64_t moving = form->lines & form->dims & sizes->moving;
    uint32_t loaded = moving ? 64 - (uint32_t)__builtin_clzll(moving) : 0;
    loaded = loaded > footprint->restart ? loaded : footprint->restart;
    form->active = form->lines & sizes->moving & ((loaded < 64 ? UINT64_C(1) << loaded : 0) - 1);
    form->loads = (int64_t)sizes->steps[loaded];
    return true;
}

static int64_t count_instances(const dfl_loop_sizes *sizes, uint64_t steps)
{
    int64_t n = 1;

    for (uint64_t left = steps & sizes->moving; left; left &= left - 1)
        n *= sizes->trips[__builtin_ctzll(left)];
    return n;
}

bool dfl_product_form_disjoint(dfl_nest *nest, const dfl_delta *delta, dfl_i128 *out)
{
    const dfl_footprint *footprint = delta->footprint;
    const dfl_product_form *form = &footprint->product;
    int64_t n = 1;

    if (!delta->is_even && !(delta->has_product_form && form->bounded))
        return false;
    if (delta->is_even)
        n = form->length * count_instances(&nest->sizes[form->einsum], form->dims & (delta->counted | form->lines));
    for (uint32_t g = 0; g < footprint->n_groups && !delta->is_even; g++) {
        if (!dfl_rank_chain_fill(nest, delta->chains[g]))
            return false;
        n *= footprint->groups[g].dim == DFL_NO_DIM ? 1 : delta->chains[g]->present;
    }
    *out = n;
    return true;
}

static inline void fill_even(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_loop_sizes *sizes, dfl_delta *delta)
{
    const dfl_product_form *form = &footprint->product;

    delta->run = nest->run;
    delta->is_even = true;
    delta->size = form->length * count_instances(sizes, delta->counted);
    delta->enter = delta->leave = delta->size * form->loads;
    delta->present = delta->size * (int64_t)sizes->steps[footprint->n];
    delta->largest = delta->joined ? form->length * count_instances(sizes, delta->joined) : form->length;
    delta->late = delta->is_widened = false;
    delta->peaks_first = true;
    delta->active = delta->whole = form->active;
}

void dfl_product_form_fill_all(dfl_nest *nest)
{
    for (dfl_footprint *footprint = nest->footprints; footprint; footprint = footprint->next)
        if (footprint->product.possible && find_even_sizes(nest, footprint))
            for (dfl_delta *delta = footprint->deltas; delta; delta = delta->next)
                if (delta->has_product_form)
                    fill_even(nest, footprint, &nest->sizes[footprint->product.einsum], delta);
}

/* ---- ragged sizes ---- */

static void multiply_sums(dfl_rank_chain_sum *p, const dfl_rank_chain_sum *q)
{
    p->enter *= q->enter;
    p->kept *= q->kept;
    p->leave *= q->leave;
    p->left_kept *= q->left_kept;
}

/* Product over the groups. The product has at least one factor if a size is ragged. */
static dfl_rank_chain_sum multiply_groups(const dfl_delta *delta)
{
    dfl_rank_chain_sum p = *delta->at[0];

    for (uint32_t g = 1; g < delta->footprint->n_groups; g++)
        multiply_sums(&p, delta->at[g]);
    return p;
}

/* Counts a delta from the chains of its groups. False if the sums of some chain are unknown. */
static bool combine_chains(dfl_nest *nest, dfl_delta *delta)
{
    const dfl_footprint *footprint = delta->footprint;
    int64_t present = 1, most = 1;

    delta->late = delta->is_widened = false; /* only results indexed by windows use `late` and `is_widened` */
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        dfl_rank_chain *chain = delta->chains[g];
        if (!dfl_rank_chain_fill(nest, chain))
            return false;
        delta->at[g] = chain->sums;
        present *= chain->present;
        most *= chain->largest;
    }
    delta->present = present;
    delta->largest = most;
    delta->peaks_first = true;
    if (!delta->moving)
        return true;
    delta->active = delta->whole = 0;
    dfl_rank_chain_sum all = multiply_groups(delta);
    if (delta->entering_by_step) {
        delta->entering_by_step[footprint->n] = all.enter;
        delta->leaving_by_step[footprint->n] = all.leave;
    }
    for (uint64_t left = footprint->product.lines & nest->sizes[footprint->product.einsum].moving; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        const dfl_rank_chain_sum **mine = &delta->at[footprint->group_of_step[j]];
        ++*mine; /* for the group of loop j: positions at which j advances */
        dfl_rank_chain_sum at = multiply_groups(delta);
        ++*mine; /* for the group of loop j, all further loops: positions at which the inner loops advance */
        bool anew = j < footprint->restart;
        at.enter -= anew ? 0 : at.kept;
        at.leave -= anew ? 0 : at.left_kept;
        all.enter += at.enter;
        all.leave += at.leave;
        delta->active |= at.enter != 0 || at.leave != 0 ? UINT64_C(1) << j : 0;
        delta->whole |= anew || at.kept == 0 ? UINT64_C(1) << j : 0;
        if (delta->entering_by_step) {
            delta->entering_by_step[j] = at.enter;
            delta->leaving_by_step[j] = at.leave;
        }
    }
    delta->enter = all.enter;
    delta->leave = all.leave;
    return true;
}

bool dfl_product_form_fill_ragged(dfl_nest *nest, dfl_delta *delta)
{
    return delta->has_product_form && delta->footprint->product.bounded && combine_chains(nest, delta);
}

