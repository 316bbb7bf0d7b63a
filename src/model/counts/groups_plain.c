/*
 * Groups that need no walking. If one rank decides the group, every loop divides it evenly and nothing of the index
 * falls outside the shape, then the sets at different positions and coordinates are disjoint and equally large, and
 * every sum is a product of iteration and part counts. A group without a dimension always holds {0}.
 */
#include "model/counts/groups.h"

static const dfl_path_step *step_at(const dfl_setting *set, const dfl_point *point, uint32_t i)
{
    return &set->paths->paths[point->views[0].einsum].steps[i];
}

/* The one rank of the group that all its loops cut, or DFL_NONE. */
static uint32_t only_rank(const dfl_setting *set, const dfl_point *point, const dfl_group *g)
{
    const dfl_view *view = &point->views[0];
    const dfl_group_view *own = &g->views[0];

    if (point->n_views != 1 || !g->plain || own->n_gates)
        return DFL_NONE;
    if (g->dim == DFL_NO_DIM && point->lenient && own->n_active == 0 && g->n_lines + g->n_spatial > 0)
        return step_at(set, point, g->n_lines > 0 ? g->lines[0] : g->spatial[0])->rank;
    if (g->dim == DFL_NO_DIM)
        return own->n_active == 1 ? own->active[0].rank : DFL_NONE;
    const dfl_index *index = &view->access->index[g->dim];
    if (index->n_terms != 1 || index->terms[0].coef < 1 || own->n_active > 0)
        return DFL_NONE;
    dfl_i128 last = index->offset + (dfl_i128)index->terms[0].coef * (set->w->ranks[index->terms[0].rank].extent - 1);
    if (index->offset < 0 || last >= set->w->tensors[point->tensor].extents[g->dim])
        return DFL_NONE;
    return index->terms[0].rank;
}

/* Whether every loop divides what it cuts; gives the length of the innermost piece. */
static bool even(const dfl_setting *set, const dfl_point *point, const dfl_group *g, uint32_t rank, int64_t *len)
{
    uint32_t t = 0, s = 0;

    *len = set->w->ranks[rank].extent;
    while (t < g->n_lines || s < g->n_spatial) {
        uint32_t i = s == g->n_spatial || (t < g->n_lines && g->lines[t] < g->spatial[s]) ? g->lines[t++] : g->spatial[s++];
        const dfl_path_step *step = step_at(set, point, i);
        if (step->rank != rank || *len % step->tile != 0)
            return false;
        *len = step->tile;
    }
    return true;
}

static void put(dfl_pair *to, dfl_i128 enter, bool stays)
{
    to->enter = to->leave = enter;
    to->kept = to->left_kept = stays ? enter : 0;
}

bool dfl_group_plain(const dfl_setting *set, const dfl_point *point, const dfl_group *g, const dfl_sharing *how,
                     dfl_sums *out)
{
    uint32_t rank = only_rank(set, point, g);
    bool dim = g->dim != DFL_NO_DIM;
    dfl_i128 size, count = 1;
    int64_t len;

    if (rank == DFL_NONE || how->forward != DFL_NONE || !even(set, point, g, rank, &len))
        return false;
    if (how->box && dim && point->views[0].access->index[g->dim].terms[0].coef > 1)
        return false;
    size = dim ? len : 1;
    out->most = (int64_t)size;
    for (uint32_t k = 0; k < g->n_spatial; k++) {
        uint64_t bit = UINT64_C(1) << g->spatial[k];
        if (how->inside & bit) {
            /* chunks that lie side by side; with a loop in between there are gaps, which a box would close */
            if (how->box && dim)
                return false;
            size *= dim ? g->parts[k] : 1;
            out->most *= dim ? g->parts[k] : 1;
        } else if (!(how->first_only & bit)) {
            size *= (how->united & bit) && !dim ? 1 : g->parts[k];
        }
    }
    out->covering = UINT64_MAX;
    out->equal = true;
    int64_t trips[DFL_MAX_GROUP] = { 0 };
    for (uint32_t k = 0; k < g->n_lines; k++) {
        const dfl_path_step *step = step_at(set, point, g->lines[k]);
        trips[k] = step->nominal / step->tile;
    }
    for (uint32_t k = 0; k <= g->n_lines; k++) {
        if (k > 0) {
            put(&out->adv[k], count * (trips[k - 1] - 1) * size, !dim);
            count *= trips[k - 1];
        }
        bool moves = false;
        for (uint32_t inner = k; dim && inner < g->n_lines; inner++)
            moves |= trips[inner] > 1;
        put(&out->hold[k], count * size, !moves);
    }
    out->present = count * size;
    return true;
}
