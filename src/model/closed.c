/*
 * Counts that are products. If one rank decides each group of a point, every loop divides what it cuts and nothing of
 * an index falls outside the shape, then the tiles at different positions and coordinates of a dimension's loops are
 * disjoint and equally large. A load, a step at which the tile is another one than before, moves all of it; how many
 * steps are loads does not depend on how instances share, and how instances share is a factor of the size. What the
 * point has to offer for this is found once (dfl_closed_find); the present sizes give the factors.
 */
#include "model/group.h"
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
static bool add_group(const dfl_setting *set, dfl_point *point, const dfl_group *g)
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
    for (uint32_t g = 0; g < point->n_groups && c->possible; g++)
        c->possible = add_group(set, point, &point->groups[g]);
    for (uint32_t i = 0; i < point->n; i++)
        c->possible &= set->paths->paths[c->einsum].steps[i].line->kind != DFL_LINE_TEMPORAL || (c->lines & bit(i));
}

void dfl_closed_share(dfl_moves *m)
{
    const dfl_closed *c = &m->point->closed;
    const dfl_sharing *how = &m->how;
    uint64_t spatial = m->point->spatial;

    m->joined = how->inside & c->dims;
    m->counted = m->joined | (spatial & ~(how->inside | how->first_only | (how->united & ~c->dims)));
    /* chunks that lie side by side; a loop in between leaves gaps, which a box would close */
    m->closed = c->possible && how->forward == DFL_NONE && !(how->box && (c->stride || m->joined));
}

/* Whether every loop divides what it cuts; takes over the sizes. */
static bool find_sizes(const dfl_setting *set, dfl_point *point)
{
    dfl_closed *c = &point->closed;
    const dfl_sizes *s = &set->sizes[c->einsum];

    c->run = set->run;
    c->even = c->possible && !(s->ragged & (c->lines | point->spatial));
    if (!c->even)
        return false;
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

bool dfl_moves_count(dfl_setting *set, dfl_moves *m)
{
    dfl_point *point = m->point;
    const dfl_closed *c = &point->closed;

    m->even = m->closed && (c->run == set->run ? c->even : find_sizes(set, point));
    if (!m->even && !dfl_moves_combine(set, m))
        return false;
    m->run = set->run;
    if (!m->even)
        return true;
    const dfl_sizes *s = &set->sizes[c->einsum];
    m->size = c->length * parts(s, m->counted);
    m->enter = m->leave = m->size * c->loads;
    m->present = m->size * (int64_t)s->steps[point->n];
    m->most = m->joined ? c->length * parts(s, m->joined) : c->length;
    m->late = false;
    m->active = m->whole = c->active;
    return true;
}
