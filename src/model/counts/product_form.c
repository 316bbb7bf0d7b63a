/* Counts as products of trip counts and tile sizes, and as products of rank chains where some tile is ragged. */
#include "model/counts/product_form.h"

#include "model/counts/rank_chain.h"
#include "support/vec.h"

static uint64_t step_bit(uint32_t i) { return UINT64_C(1) << i; }

static bool has_one_index(const dfl_nest *nest, uint32_t rank) { return nest->workload->ranks[rank].extent == 1; }

/* The rank that moves an index, in *rank (DFL_NONE for a constant index), and its coefficient. False if several ranks
   do, or if some index falls outside the shape. */
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
static bool add_group(const dfl_nest *nest, dfl_footprint *footprint, dfl_group *g)
{
    dfl_product_form *c = &footprint->product;
    const dfl_group_reference *view = &g->references[0];
    uint32_t rank = DFL_NONE, inner = DFL_NONE;
    uint64_t steps = 0;
    int64_t coef = 1;

    if (!g->plain || view->n_gates)
        return false;
    if (g->dim != DFL_NO_DIM &&
        !find_one_rank(nest, footprint, &footprint->references[0].access->index[g->dim], (uint32_t)g->dim, &rank, &coef))
        return false;
    for (uint32_t k = 0; k < view->n_active; k++) {
        if (has_one_index(nest, view->active[k].rank))
            continue;
        if (rank != DFL_NONE)
            return false;
        rank = view->active[k].rank;
    }
    for (uint32_t k = 0; k < g->n_lines + g->n_spatial; k++) {
        uint32_t i = k < g->n_lines ? g->lines[k] : g->spatial[k - g->n_lines];
        const dfl_path_step *step = &nest->paths->paths[c->einsum].steps[i];
        if (step->rank == DFL_NONE || (k < g->n_lines ? g->driver[k] : dfl_nest_driver(nest, footprint->einsum, i)) != c->einsum)
            return false;
        if (has_one_index(nest, step->rank))
            continue;
        if (rank == DFL_NONE && g->dim == DFL_NO_DIM && footprint->holds_when_idle)
            rank = step->rank;
        if (step->rank != rank)
            return false;
        inner = inner == DFL_NONE || i > inner ? i : inner;
        steps |= step_bit(i);
    }
    g->rank = rank;
    for (uint32_t k = 0; k < g->n_lines; k++)
        c->lines |= step_bit(g->lines[k]);
    if (g->dim == DFL_NO_DIM)
        return true;
    c->dims |= steps;
    c->stride |= coef > 1;
    if (inner != DFL_NONE)
        c->tiles |= step_bit(inner);
    else if (rank != DFL_NONE)
        c->uncut *= nest->workload->ranks[rank].extent;
    return true;
}

void dfl_product_form_find(dfl_nest *nest, dfl_footprint *footprint)
{
    dfl_product_form *c = &footprint->product;
    dfl_i128 points;

    *c = (dfl_product_form){ .einsum = footprint->references[0].einsum, .uncut = 1, .possible = footprint->n_references == 1 };
    if (!c->possible || dfl_einsum_points(nest->workload, &nest->workload->einsums[c->einsum], &points) ||
        points >> DFL_PRODUCT_BITS) {
        c->possible = false;
        return;
    }
    while (points >> c->bits)
        c->bits++;
    for (uint32_t g = 0; g < footprint->n_groups && c->possible; g++)
        c->possible = add_group(nest, footprint, &footprint->groups[g]);
    for (uint32_t i = 0; i < footprint->n; i++)
        c->possible &= nest->paths->paths[c->einsum].steps[i].line->kind != DFL_LINE_TEMPORAL || (c->lines & step_bit(i));
}

/* The rank chain of a group under a way of sharing. */
static dfl_rank_chain *find_chain(dfl_nest *nest, const dfl_delta *m, const dfl_group *g)
{
    uint32_t einsum = m->footprint->product.einsum;
    dfl_rank_chain like = { .kind = DFL_RANK_CHAIN_ALL, .einsum = einsum, .extent = 1 };

    if (g->rank != DFL_NONE)
        like.extent = nest->workload->ranks[g->rank].extent;
    for (uint32_t k = 0; k < g->n_lines; k++)
        like.temporal |= step_bit(g->lines[k]);
    for (uint32_t k = 0; k < g->n_spatial; k++)
        like.spatial |= step_bit(g->spatial[k]);
    like.counted = m->counted & like.spatial;
    if (g->dim != DFL_NO_DIM) {
        like.kind = DFL_RANK_CHAIN_ELEMENTS;
        like.joined = m->joined & like.spatial;
    } else if (g->references[0].n_active > 0 && (like.counted | (m->how.united & like.spatial))) {
        like.kind = DFL_RANK_CHAIN_WORKING;
        like.united = m->how.united & like.spatial;
    }
    return dfl_rank_chain_of(nest, &like);
}

void dfl_product_form_share(dfl_nest *nest, dfl_delta *m)
{
    const dfl_footprint *footprint = m->footprint;
    const dfl_product_form *c = &footprint->product;
    const dfl_sharing *how = &m->how;

    m->joined = how->inside & c->dims;
    m->counted = m->joined | (footprint->spatial & ~(how->inside | how->first_only | (how->united & ~c->dims)));
    /* chunks lie side by side; a loop in between leaves gaps, which a bounding box would fill */
    m->has_product_form = c->possible && how->forward == DFL_NONE && !(how->box && (c->stride || m->joined));
    if (!m->has_product_form)
        return;
    m->chains = DFL_NEW_ARRAY(nest->arena, dfl_rank_chain *, footprint->n_groups + 1);
    m->at = DFL_NEW_ARRAY(nest->arena, const dfl_rank_chain_sum *, footprint->n_groups + 1);
    for (uint32_t g = 0; g < footprint->n_groups; g++)
        m->chains[g] = find_chain(nest, m, &footprint->groups[g]);
}

/* Takes over the present sizes into the product form. False if some loop does not divide what it cuts. */
static bool find_even_sizes(const dfl_nest *nest, dfl_footprint *footprint)
{
    dfl_product_form *c = &footprint->product;
    const dfl_loop_sizes *s = &nest->sizes[c->einsum];

    uint64_t ragged = s->ragged & (c->lines | footprint->spatial);
    if (ragged) {
        /* with only full tiles, each such loop is less than twice as long */
        c->bounded = c->bits + (uint32_t)__builtin_popcountll(ragged) <= DFL_PRODUCT_BITS;
        return false;
    }
    c->length = c->uncut;
    for (uint64_t left = c->tiles; left; left &= left - 1)
        c->length *= s->tile[__builtin_ctzll(left)];
    /* a loop outside the innermost one that moves the tile moves it, too: the inner loop returns to its first iteration */
    uint64_t moving = c->lines & c->dims & s->moving;
    uint32_t loaded = moving ? 64 - (uint32_t)__builtin_clzll(moving) : 0;
    loaded = loaded > footprint->restart ? loaded : footprint->restart;
    c->active = c->lines & s->moving & ((loaded < 64 ? UINT64_C(1) << loaded : 0) - 1);
    c->loads = (int64_t)s->steps[loaded];
    return true;
}

static int64_t count_instances(const dfl_loop_sizes *s, uint64_t steps)
{
    int64_t n = 1;

    for (uint64_t left = steps & s->moving; left; left &= left - 1)
        n *= s->trips[__builtin_ctzll(left)];
    return n;
}

bool dfl_product_form_disjoint(dfl_nest *nest, const dfl_delta *m, dfl_i128 *out)
{
    const dfl_footprint *footprint = m->footprint;
    const dfl_product_form *c = &footprint->product;
    int64_t n = 1;

    if (!m->is_even && !(m->has_product_form && c->bounded))
        return false;
    if (m->is_even)
        n = c->length * count_instances(&nest->sizes[c->einsum], c->dims & (m->counted | c->lines));
    for (uint32_t g = 0; g < footprint->n_groups && !m->is_even; g++) {
        if (!dfl_rank_chain_fill(nest, m->chains[g]))
            return false;
        n *= footprint->groups[g].dim == DFL_NO_DIM ? 1 : m->chains[g]->present;
    }
    *out = n;
    return true;
}

static inline void fill_even(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_loop_sizes *s, dfl_delta *m)
{
    const dfl_product_form *c = &footprint->product;

    m->run = nest->run;
    m->is_even = true;
    m->size = c->length * count_instances(s, m->counted);
    m->enter = m->leave = m->size * c->loads;
    m->present = m->size * (int64_t)s->steps[footprint->n];
    m->largest = m->joined ? c->length * count_instances(s, m->joined) : c->length;
    m->late = m->is_widened = false;
    m->peaks_first = true;
    m->active = m->whole = c->active;
}

void dfl_product_form_fill_all(dfl_nest *nest)
{
    for (dfl_footprint *footprint = nest->footprints; footprint; footprint = footprint->next)
        if (footprint->product.possible && find_even_sizes(nest, footprint))
            for (dfl_delta *m = footprint->deltas; m; m = m->next)
                if (m->has_product_form)
                    fill_even(nest, footprint, &nest->sizes[footprint->product.einsum], m);
}

/* ---- ragged sizes ---- */

static void multiply_sums(dfl_rank_chain_sum *p, const dfl_rank_chain_sum *q)
{
    p->enter *= q->enter;
    p->kept *= q->kept;
    p->leave *= q->leave;
    p->left_kept *= q->left_kept;
}

/* Product over the groups. There is at least one where a size is ragged. */
static dfl_rank_chain_sum multiply_groups(const dfl_delta *m)
{
    dfl_rank_chain_sum p = *m->at[0];

    for (uint32_t g = 1; g < m->footprint->n_groups; g++)
        multiply_sums(&p, m->at[g]);
    return p;
}

/* Counts a delta from the chains of its groups. False if some chain is not known. */
static bool combine_chains(dfl_nest *nest, dfl_delta *m)
{
    const dfl_footprint *footprint = m->footprint;
    int64_t present = 1, most = 1;

    m->late = m->is_widened = false; /* only results indexed by windows ask for these */
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        dfl_rank_chain *c = m->chains[g];
        if (!dfl_rank_chain_fill(nest, c))
            return false;
        m->at[g] = c->sums;
        present *= c->present;
        most *= c->largest;
    }
    m->present = present;
    m->largest = most;
    m->peaks_first = true;
    if (!m->moving)
        return true;
    m->active = m->whole = 0;
    dfl_rank_chain_sum all = multiply_groups(m);
    if (m->entering_by_step) {
        m->entering_by_step[footprint->n] = all.enter;
        m->leaving_by_step[footprint->n] = all.leave;
    }
    for (uint64_t left = footprint->product.lines & nest->sizes[footprint->product.einsum].moving; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        const dfl_rank_chain_sum **mine = &m->at[footprint->group_of_step[j]];
        ++*mine; /* the group of loop j: its advances */
        dfl_rank_chain_sum at = multiply_groups(m);
        ++*mine; /* the group of loop j from here on: positions at which inner loops advance */
        bool anew = j < footprint->restart;
        at.enter -= anew ? 0 : at.kept;
        at.leave -= anew ? 0 : at.left_kept;
        all.enter += at.enter;
        all.leave += at.leave;
        m->active |= at.enter != 0 || at.leave != 0 ? UINT64_C(1) << j : 0;
        m->whole |= anew || at.kept == 0 ? UINT64_C(1) << j : 0;
        if (m->entering_by_step) {
            m->entering_by_step[j] = at.enter;
            m->leaving_by_step[j] = at.leave;
        }
    }
    m->enter = all.enter;
    m->leave = all.leave;
    return true;
}

bool dfl_product_form_fill_ragged(dfl_nest *nest, dfl_delta *m)
{
    return m->has_product_form && m->footprint->product.bounded && combine_chains(nest, m);
}
