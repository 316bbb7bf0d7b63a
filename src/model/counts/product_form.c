/*
 * Counts that are products. If one rank decides each group of a point, every loop divides what it cuts and nothing of
 * an index falls outside the shape, then the tiles at different positions and coordinates of a dimension's loops are
 * disjoint and equally large. A load, a step at which the tile is another one than before, moves all of it; how many
 * steps are loads does not depend on how instances share, and how instances share is a factor of the size. What the
 * point has to offer for this is found once (dfl_closed_find); the present sizes give the factors.
 */
#include "model/counts/product_form.h"

#include "model/counts/rank_chain.h"
#include "support/vec.h"

enum { MOST_BITS = 62 }; /* no product passes the number of points of the einsum */

static uint64_t bit(uint32_t i) { return UINT64_C(1) << i; }

static bool single(const dfl_setting *set, uint32_t rank) { return set->w->ranks[rank].extent == 1; }

/* The rank that the index moves with, in *rank, DFL_NONE for a constant; false where there are several, or something
   falls outside the shape. */
static bool one_rank(const dfl_setting *set, const dfl_point *point, const dfl_index *index, uint32_t dim, uint32_t *rank,
                     int64_t *coef)
{
    dfl_i128 last = index->offset;

    *rank = DFL_NONE;
    *coef = 1;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        if (single(set, index->terms[t].rank))
            continue;
        if (*rank != DFL_NONE || index->terms[t].coef < 1)
            return false;
        *rank = index->terms[t].rank;
        *coef = index->terms[t].coef;
        last += (dfl_i128)*coef * (set->w->ranks[*rank].extent - 1);
    }
    return index->offset >= 0 && last < set->w->tensors[point->tensor].extents[dim];
}

/* Whether one rank decides the group; adds its steps and what it says of the point. */
static bool add_group(const dfl_setting *set, dfl_point *point, dfl_group *g)
{
    dfl_closed *c = &point->closed;
    const dfl_group_view *view = &g->views[0];
    uint32_t rank = DFL_NONE, inner = DFL_NONE;
    uint64_t steps = 0;
    int64_t coef = 1;

    if (!g->plain || view->n_gates)
        return false;
    if (g->dim != DFL_NO_DIM &&
        !one_rank(set, point, &point->views[0].access->index[g->dim], (uint32_t)g->dim, &rank, &coef))
        return false;
    for (uint32_t k = 0; k < view->n_active; k++) {
        if (single(set, view->active[k].rank))
            continue;
        if (rank != DFL_NONE)
            return false;
        rank = view->active[k].rank;
    }
    for (uint32_t k = 0; k < g->n_lines + g->n_spatial; k++) {
        uint32_t i = k < g->n_lines ? g->lines[k] : g->spatial[k - g->n_lines];
        const dfl_path_step *step = &set->paths->paths[c->einsum].steps[i];
        if (step->rank == DFL_NONE || (k < g->n_lines ? g->driver[k] : dfl_place_driver(set, point->einsum, i)) != c->einsum)
            return false;
        if (single(set, step->rank))
            continue;
        if (rank == DFL_NONE && g->dim == DFL_NO_DIM && point->lenient)
            rank = step->rank;
        if (step->rank != rank)
            return false;
        inner = inner == DFL_NONE || i > inner ? i : inner;
        steps |= bit(i);
    }
    g->rank = rank;
    for (uint32_t k = 0; k < g->n_lines; k++)
        c->lines |= bit(g->lines[k]);
    if (g->dim == DFL_NO_DIM)
        return true;
    c->dims |= steps;
    c->stride |= coef > 1;
    if (inner != DFL_NONE)
        c->tiles |= bit(inner);
    else if (rank != DFL_NONE)
        c->uncut *= set->w->ranks[rank].extent;
    return true;
}

void dfl_closed_find(dfl_setting *set, dfl_point *point)
{
    dfl_closed *c = &point->closed;
    dfl_i128 points;

    *c = (dfl_closed){ .einsum = point->views[0].einsum, .uncut = 1, .possible = point->n_views == 1 };
    if (!c->possible || dfl_einsum_points(set->w, &set->w->einsums[c->einsum], &points) || points >> MOST_BITS) {
        c->possible = false;
        return;
    }
    while (points >> c->bits)
        c->bits++;
    for (uint32_t g = 0; g < point->n_groups && c->possible; g++)
        c->possible = add_group(set, point, &point->groups[g]);
    for (uint32_t i = 0; i < point->n; i++)
        c->possible &= set->paths->paths[c->einsum].steps[i].line->kind != DFL_LINE_TEMPORAL || (c->lines & bit(i));
}

/* What the group's loops make of its rank. */
static dfl_chain *chain_of(dfl_setting *set, const dfl_moves *m, const dfl_group *g)
{
    uint32_t einsum = m->point->closed.einsum;
    dfl_chain like = { .kind = DFL_CHAIN_ALL, .einsum = einsum, .extent = 1 };

    if (g->rank != DFL_NONE)
        like.extent = set->w->ranks[g->rank].extent;
    for (uint32_t k = 0; k < g->n_lines; k++)
        like.temporal |= bit(g->lines[k]);
    for (uint32_t k = 0; k < g->n_spatial; k++)
        like.spatial |= bit(g->spatial[k]);
    like.counted = m->counted & like.spatial;
    if (g->dim != DFL_NO_DIM) {
        like.kind = DFL_CHAIN_ELEMENTS;
        like.joined = m->joined & like.spatial;
    } else if (g->views[0].n_active > 0 && (like.counted | (m->how.united & like.spatial))) {
        like.kind = DFL_CHAIN_WORKING;
        like.united = m->how.united & like.spatial;
    }
    return dfl_chain_of(set, &like);
}

void dfl_closed_share(dfl_setting *set, dfl_moves *m)
{
    const dfl_point *point = m->point;
    const dfl_closed *c = &point->closed;
    const dfl_sharing *how = &m->how;

    m->joined = how->inside & c->dims;
    m->counted = m->joined | (point->spatial & ~(how->inside | how->first_only | (how->united & ~c->dims)));
    /* chunks that lie side by side; a loop in between leaves gaps, which a box would close */
    m->closed = c->possible && how->forward == DFL_NONE && !(how->box && (c->stride || m->joined));
    if (!m->closed)
        return;
    m->chains = DFL_NEW_ARRAY(set->arena, dfl_chain *, point->n_groups + 1);
    m->at = DFL_NEW_ARRAY(set->arena, const dfl_chain_sum *, point->n_groups + 1);
    for (uint32_t g = 0; g < point->n_groups; g++)
        m->chains[g] = chain_of(set, m, &point->groups[g]);
}

/* Whether every loop divides what it cuts; takes over the sizes. */
static bool find_sizes(const dfl_setting *set, dfl_point *point)
{
    dfl_closed *c = &point->closed;
    const dfl_sizes *s = &set->sizes[c->einsum];

    uint64_t ragged = s->ragged & (c->lines | point->spatial);
    if (ragged) {
        /* full tiles only would be less than twice as long for each such loop */
        c->bounded = c->bits + (uint32_t)__builtin_popcountll(ragged) <= MOST_BITS;
        return false;
    }
    c->length = c->uncut;
    for (uint64_t left = c->tiles; left; left &= left - 1)
        c->length *= s->tile[__builtin_ctzll(left)];
    /* loops outside the innermost that moves the tile move it, too: the inner one goes back to its first iteration */
    uint64_t moving = c->lines & c->dims & s->moving;
    uint32_t loaded = moving ? 64 - (uint32_t)__builtin_clzll(moving) : 0;
    loaded = loaded > point->restart ? loaded : point->restart;
    c->active = c->lines & s->moving & ((loaded < 64 ? UINT64_C(1) << loaded : 0) - 1);
    c->loads = (int64_t)s->steps[loaded];
    return true;
}

static int64_t parts(const dfl_sizes *s, uint64_t steps)
{
    int64_t n = 1;

    for (uint64_t left = steps & s->moving; left; left &= left - 1)
        n *= s->trips[__builtin_ctzll(left)];
    return n;
}

bool dfl_closed_apart(dfl_setting *set, const dfl_moves *m, dfl_i128 *out)
{
    const dfl_point *point = m->point;
    const dfl_closed *c = &point->closed;
    int64_t n = 1;

    if (!m->even && !(m->closed && c->bounded))
        return false;
    if (m->even)
        n = c->length * parts(&set->sizes[c->einsum], c->dims & (m->counted | c->lines));
    for (uint32_t g = 0; g < point->n_groups && !m->even; g++) {
        if (!dfl_chain_fill(set, m->chains[g]))
            return false;
        n *= point->groups[g].dim == DFL_NO_DIM ? 1 : m->chains[g]->present;
    }
    *out = n;
    return true;
}

static inline void fill_even(const dfl_setting *set, const dfl_point *point, const dfl_sizes *s, dfl_moves *m)
{
    const dfl_closed *c = &point->closed;

    m->run = set->run;
    m->even = true;
    m->size = c->length * parts(s, m->counted);
    m->enter = m->leave = m->size * c->loads;
    m->present = m->size * (int64_t)s->steps[point->n];
    m->most = m->joined ? c->length * parts(s, m->joined) : c->length;
    m->late = m->widened = false;
    m->falling = true;
    m->active = m->whole = c->active;
}

void dfl_closed_fill(dfl_setting *set)
{
    for (dfl_point *point = set->points; point; point = point->next)
        if (point->closed.possible && find_sizes(set, point))
            for (dfl_moves *m = point->moves; m; m = m->next)
                if (m->closed)
                    fill_even(set, point, &set->sizes[point->closed.einsum], m);
}

/* ---- chains ---- */

static void times(dfl_chain_sum *p, const dfl_chain_sum *q)
{
    p->enter *= q->enter;
    p->kept *= q->kept;
    p->leave *= q->leave;
    p->left_kept *= q->left_kept;
}

/* Over the groups, of which there is one at least where something is ragged. */
static dfl_chain_sum product(const dfl_moves *m)
{
    dfl_chain_sum p = *m->at[0];

    for (uint32_t g = 1; g < m->point->n_groups; g++)
        times(&p, m->at[g]);
    return p;
}

/* As dfl_moves_combine, from chains; false if not all of them are known. */
static bool combine(dfl_setting *set, dfl_moves *m)
{
    const dfl_point *point = m->point;
    int64_t present = 1, most = 1;

    m->late = m->widened = false; /* of interest for windows only */
    for (uint32_t g = 0; g < point->n_groups; g++) {
        dfl_chain *c = m->chains[g];
        if (!dfl_chain_fill(set, c))
            return false;
        m->at[g] = c->sums;
        present *= c->present;
        most *= c->most;
    }
    m->present = present;
    m->most = most;
    m->falling = true;
    if (!m->moving)
        return true;
    m->active = m->whole = 0;
    dfl_chain_sum all = product(m);
    if (m->by_enter) {
        m->by_enter[point->n] = all.enter;
        m->by_leave[point->n] = all.leave;
    }
    for (uint64_t left = point->closed.lines & set->sizes[point->closed.einsum].moving; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        const dfl_chain_sum **mine = &m->at[point->line_group[j]];
        ++*mine; /* this loop advances */
        dfl_chain_sum at = product(m);
        ++*mine; /* it stands still while loops inside advance */
        bool anew = j < point->restart;
        at.enter -= anew ? 0 : at.kept;
        at.leave -= anew ? 0 : at.left_kept;
        all.enter += at.enter;
        all.leave += at.leave;
        m->active |= at.enter != 0 || at.leave != 0 ? UINT64_C(1) << j : 0;
        m->whole |= anew || at.kept == 0 ? UINT64_C(1) << j : 0;
        if (m->by_enter) {
            m->by_enter[j] = at.enter;
            m->by_leave[j] = at.leave;
        }
    }
    m->enter = all.enter;
    m->leave = all.leave;
    return true;
}

bool dfl_closed_chains(dfl_setting *set, dfl_moves *m)
{
    return m->closed && m->point->closed.bounded && combine(set, m);
}
