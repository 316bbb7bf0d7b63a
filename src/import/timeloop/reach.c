/* Geometry of a Timeloop mapping: the tile of a dimension at a level, gaps between the touched indices, and the mesh: the
   instances in use, their neighbours, and the links that a data space can take. */
#include "import/timeloop/timeloop_internal.h"

#include "support/checked.h"
#include "support/limits.h"

int64_t dfl_tl_tile(const dfl_tl_file *f, uint32_t dim, uint32_t level, bool with_spatial)
{
    int64_t tile = 1;

    for (uint32_t k = 0; k <= level && k < f->n_levels; k++) {
        const dfl_tl_level *l = &f->levels[k];

        for (uint32_t i = 0; i < l->n_spatial && (k < level || with_spatial); i++)
            tile *= l->spatial[i].dim == dim ? l->spatial[i].full : 1;
        for (uint32_t i = 0; i < l->n_temporal && k < level; i++)
            tile *= l->temporal[i].dim == dim ? l->temporal[i].full : 1;
    }
    return tile;
}

int64_t dfl_tl_extent(const dfl_tl_file *f, uint32_t dim, uint32_t inside)
{
    int64_t tile = dfl_tl_tile(f, dim, inside, false);

    return tile < f->dims[dim].bound ? tile : f->dims[dim].bound;
}

/* ---- gaps ---- */

/*
 * Whether the values of an index c1*x1 + c2*x2 + ... have gaps. They have none iff each coefficient, in order of size, is
 * at most 1 more than the largest sum of the terms with smaller coefficients.
 */
static bool rank_gaps(const dfl_tl_file *f, const dfl_tl_rank *rank, uint32_t inside)
{
    int64_t reach = 0, before = 0;

    for (;;) {
        int64_t least = INT64_MAX, more = 0;

        for (uint32_t i = 0; i < rank->n_terms; i++) {
            int64_t coef = rank->terms[i].coef < 0 ? -rank->terms[i].coef : rank->terms[i].coef;
            int64_t steps = dfl_tl_extent(f, rank->terms[i].dim, inside) - 1;

            if (steps == 0 || coef <= before || coef > least)
                continue;
            more = coef < least ? coef * steps : more + coef * steps;
            least = coef;
        }
        if (least == INT64_MAX)
            return false;
        if (least > reach + 1)
            return true;
        reach += more;
        before = least;
    }
}

bool dfl_tl_gaps(const dfl_tl_file *f, uint32_t tensor, uint32_t inside)
{
    for (uint32_t r = 0; r < f->tensors[tensor].n_ranks; r++) {
        if (rank_gaps(f, &f->tensors[tensor].ranks[r], inside))
            return true;
    }
    return false;
}

/* ---- instances side by side ---- */

void dfl_tl_fan_out(const dfl_tl_file *f, uint32_t k, int64_t out[2])
{
    const dfl_tl_level *l = &f->levels[k];
    int64_t instances = k > 0 ? l[-1].instances : f->macs, x = k > 0 ? l[-1].mesh_x : f->macs_x;

    out[0] = x / l->mesh_x;
    out[1] = instances / x / (l->instances / l->mesh_x);
}

void dfl_tl_used(const dfl_tl_file *f, uint32_t k, int64_t *row, int64_t *all)
{
    *row = *all = 1;
    for (uint32_t i = 0; i < f->levels[k].n_spatial; i++) {
        *row *= f->levels[k].spatial[i].on_y ? 1 : f->levels[k].spatial[i].full;
        *all *= f->levels[k].spatial[i].full;
    }
}

bool dfl_tl_same_place(const dfl_tl_file *f, uint32_t tensor, uint32_t level, int64_t a, int64_t b)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];
    const dfl_tl_level *l = &f->levels[level];
    int64_t row, all;

    dfl_tl_used(f, level, &row, &all);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        int64_t ax = a % row, ay = a / row, bx = b % row, by = b / row;
        dfl_i128 apart = 0;

        for (uint32_t i = 0; i < l->n_spatial; i++) {
            const dfl_tl_loop *loop = &l->spatial[i];
            int64_t *rest_a = loop->on_y ? &ay : &ax, *rest_b = loop->on_y ? &by : &bx;
            int64_t steps = *rest_b % loop->full - *rest_a % loop->full;

            for (uint32_t k = 0; k < t->ranks[r].n_terms; k++) {
                if (t->ranks[r].terms[k].dim == loop->dim)
                    apart += (dfl_i128)steps * dfl_tl_tile(f, loop->dim, level, false) * t->ranks[r].terms[k].coef;
            }
            *rest_a /= loop->full;
            *rest_b /= loop->full;
        }
        if (apart != 0)
            return false;
    }
    return true;
}

uint32_t dfl_tl_neighbours(const dfl_tl_file *f, uint32_t level, int64_t id, int64_t out[4])
{
    int64_t fan[2], near[4], row, all;
    uint32_t n = 0;

    dfl_tl_fan_out(f, level, fan);
    dfl_tl_used(f, level, &row, &all);
    near[0] = id % fan[0] > 0 ? id - 1 : -1;
    near[1] = id % fan[0] + 1 < fan[0] ? id + 1 : -1;
    near[2] = id - fan[0];
    near[3] = id + fan[0];
    for (uint32_t i = 0; i < 4; i++) {
        if (near[i] >= 0 && near[i] < all)
            out[n++] = near[i];
    }
    return n;
}

dfl_tl_links dfl_tl_inner_links(const dfl_tl_file *f, uint32_t tensor)
{
    int64_t near[4], row, all, n = 0;

    if ((f->levels[0].no_link >> tensor & 1) != 0)
        return DFL_TL_LINKS_NONE;
    dfl_tl_used(f, 0, &row, &all);
    if (all > DFL_IMPORT_LINKED_UNITS)
        return DFL_TL_LINKS_TOO_MANY;
    for (int64_t id = 0; id < all; id++) {
        bool linked = false;

        for (uint32_t i = dfl_tl_neighbours(f, 0, id, near); i-- > 0;)
            linked |= dfl_tl_same_place(f, tensor, 0, id, near[i]);
        n += linked;
    }
    return n == 0 ? DFL_TL_LINKS_NONE : n < all ? DFL_TL_LINKS_SOME : DFL_TL_LINKS_ALL;
}
