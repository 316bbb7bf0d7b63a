#include "plan/layout/halos.h"

#include "plan/layout/lines.h"

/* The least and the largest value of an index, without the rank `but` (DFL_NONE: with all ranks), in one pass. */
static void range_of(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t but, int64_t *least, int64_t *most)
{
    *least = *most = index->offset;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        const int64_t reach = index->terms[t].coef * (dfl_frame_pass(f, einsum, index->terms[t].rank) - 1);

        if (index->terms[t].rank == but)
            continue;
        *least += reach < 0 ? reach : 0;
        *most += reach > 0 ? reach : 0;
    }
}

/* Whether a slot divides a rank of an einsum. */
static bool is_divided(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_frame_line(f, einsum, s) != NULL && dfl_frame_line(f, einsum, s)->rank == rank && f->slots[s].count > 1)
            return true;
    return false;
}

/* Refuses an index that has, besides the rank `but`, a rank of which one pass has not all positions: each chip and each pass has
   other neighbours. False after a report. */
static bool check_whole(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t but)
{
    const dfl_index *index = &access->index[dim];

    for (uint32_t t = 0; t < index->n_terms; t++) {
        const uint32_t rank = index->terms[t].rank;

        if (rank == but || dfl_frame_pass(f, einsum, rank) == f->workload->ranks[rank].extent)
            continue;
        if (is_divided(f, einsum, rank))
            return dfl_frame_refuse(f, access->span, "a window over two divided ranks of one dimension",
                                    "divide one of the ranks alone");
        return dfl_frame_refuse(f, access->span, "a window over a rank that a `temporal` line or a `repeat` cuts",
                                "leave the rank out of the temporal lines and of `repeat`, or divide another dimension");
    }
    return true;
}

/* Whether a `where` has a rank of an index: then some points of the window are not read. */
static bool is_masked(const dfl_einsum *e, const dfl_index *index)
{
    for (uint32_t w = 0; w < e->n_where; w++)
        for (uint32_t t = 0; t < index->n_terms; t++)
            if (dfl_index_coef(&e->where[w].sum, index->terms[t].rank) != 0)
                return true;
    return false;
}

/* The slots that divide a dimension of a tensor in an einsum, by any rank of its indices. */
static uint32_t count_slots(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t dim)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    uint32_t n = 0;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        bool is_in = false;

        for (uint32_t i = 0; i < e->n_inputs && dfl_frame_line(f, einsum, s) != NULL && f->slots[s].count > 1; i++)
            is_in |= e->inputs[i].tensor == tensor &&
                     dfl_index_coef(&e->inputs[i].index[dim], dfl_frame_line(f, einsum, s)->rank) != 0;
        n += is_in;
    }
    return n;
}

/* The slot on which an einsum divides the rank in a dimension of an access; DFL_NONE = none. */
static uint32_t slot_of(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_frame_line(f, einsum, s) != NULL && f->slots[s].count > 1 &&
            dfl_index_coef(index, dfl_frame_line(f, einsum, s)->rank) == 1)
            return s;
    return DFL_NONE;
}

/* Refuses a window in another dimension of the section, over a rank of which one pass has not all positions: passes differ in
   what they read of it. False after a report. */
static bool check_section(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t dim)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++)
        for (uint32_t d = 0; d < e->inputs[i].n_dims && e->inputs[i].tensor == tensor; d++) {
            const uint32_t slot = d != dim ? slot_of(f, einsum, &e->inputs[i].index[d]) : DFL_NONE;
            const uint32_t rank = slot != DFL_NONE ? dfl_frame_line(f, einsum, slot)->rank : DFL_NONE;
            uint32_t bare;

            if (d == dim || dfl_index_is_bare(&e->inputs[i].index[d], &bare))
                continue;
            if (!check_whole(f, einsum, &e->inputs[i], d, rank))
                return false;
        }
    return true;
}

/* Takes from a halo what the tensor does not have, and refuses one that a short second part does not read whole: few parts. */
static bool meet_end(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t rank, dfl_halo *halo)
{
    const int64_t part = dfl_frame_local(f, einsum, rank), extent = f->workload->tensors[access->tensor].extents[dim];
    const int64_t second = f->workload->ranks[rank].extent - part; /* points behind the first part */

    if (halo->behind > extent - part)
        halo->behind = extent - part;
    if (second <= 0)
        halo->before = 0;
    if (second > 0 && second < halo->before)
        return dfl_frame_refuse(f, access->span, "a window that is longer than the last of two parts",
                                "divide the rank into parts of one size");
    return true;
}

bool dfl_halo_find(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, dfl_halo *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t rank = dfl_frame_line(f, einsum, slot)->rank;
    const int64_t part = dfl_frame_local(f, einsum, rank), extent = f->workload->tensors[access->tensor].extents[dim];

    *out = (dfl_halo){ 0, 0 };
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        int64_t least, most;

        if (e->inputs[i].tensor != access->tensor || dfl_index_coef(&e->inputs[i].index[dim], rank) != 1)
            continue;
        if (!check_whole(f, einsum, &e->inputs[i], dim, rank))
            return false;
        range_of(f, einsum, &e->inputs[i].index[dim], rank, &least, &most);
        out->before = -least > out->before ? -least : out->before;
        out->behind = most > out->behind ? most : out->behind;
    }
    if (out->before == 0 && out->behind == 0)
        return true;
    if (f->slots[slot].is_cyclic)
        return dfl_frame_refuse(f, access->span, "a window over a rank that is dealt round-robin",
                                "divide the rank into blocks: leave out `cyclic`");
    if (is_masked(e, &access->index[dim]))
        return dfl_frame_refuse(f, access->span, "a window over a rank of a `where`", "divide another dimension");
    if (!check_section(f, einsum, access->tensor, dim))
        return false;
    if (count_slots(f, einsum, access->tensor, dim) > 1)
        return dfl_frame_refuse(f, access->span, "a window in a dimension that several groups of chips divide",
                                "divide the dimension on one axis, by one rank");
    if (dfl_frame_pass(f, einsum, rank) != part)
        return dfl_frame_refuse(f, access->span, "a window over a rank of the micro-batches", "leave the rank out of the "
                                "temporal lines");
    if (dfl_ceil_div(extent, f->slots[slot].count) != part)
        return dfl_frame_refuse(f, access->span, "a window in a tensor whose parts differ from those of the einsum",
                                "divide another rank");
    if (out->before > part || out->behind > part)
        return dfl_frame_refuse(f, access->span, "a window that reaches beyond the neighbour",
                                "divide the rank into fewer parts");
    return meet_end(f, einsum, access, dim, rank, out);
}

/* The most elements of a dimension that a chip touches at offsets from `least` to `most`: of the first part, which has nothing
   before it, of the second or of the last one. With `passes_on`, those of its part that it or a neighbour touches: only the first
   and the last part have edges that nobody touches. */
static int64_t width_with(const dfl_frame *f, uint32_t einsum, uint32_t rank, int64_t extent, int64_t least, int64_t most,
                          bool passes_on)
{
    const int64_t part = dfl_frame_pass(f, einsum, rank), points = f->workload->ranks[rank].extent;
    const int64_t parts[] = { 0, 1, dfl_ceil_div(points, part) - 1 };
    int64_t width = 0;

    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        const int64_t first = parts[k] * part, end = first + part < points ? first + part : points;
        const bool is_last = end == points;
        int64_t low = first + least > 0 ? first + least : 0, high = end - 1 + most;

        if (first >= points)
            continue;
        if (passes_on) {
            low = first > 0 || low < first ? first : low;
            high = !is_last || high > end - 1 ? end - 1 : high;
        }
        high = high >= extent ? extent - 1 : high;
        width = high - low + 1 > width ? high - low + 1 : width;
    }
    return width;
}

bool dfl_halo_has_corner(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t a, uint32_t b)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    uint32_t rank;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor == tensor && !dfl_index_is_bare(&e->inputs[i].index[a], &rank) &&
            !dfl_index_is_bare(&e->inputs[i].index[b], &rank))
            return true;
    return false;
}

/* Whether an access of an einsum reaches beyond its part on a side of a divided dimension. */
static bool reaches(const dfl_frame *f, uint32_t einsum, const dfl_access *a, uint32_t dim, uint32_t rank, bool is_behind)
{
    int64_t least, most;

    if (dfl_index_coef(&a->index[dim], rank) != 1)
        return false;
    range_of(f, einsum, &a->index[dim], rank, &least, &most);
    return is_behind ? most > 0 : least < 0;
}

bool dfl_halo_section(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, bool is_behind,
                      dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[access->tensor];
    bool overflow = false;

    *out = 1;
    for (uint32_t d = 0; d < access->n_dims; d++) {
        const uint32_t other = d != dim ? slot_of(f, einsum, &access->index[d]) : DFL_NONE;
        const uint32_t rank = other != DFL_NONE ? dfl_frame_line(f, einsum, other)->rank : DFL_NONE;
        int64_t least = INT64_MAX, most = INT64_MIN;

        if (d == dim)
            continue;
        for (uint32_t i = 0; i < e->n_inputs; i++) {
            int64_t low, high;

            if (e->inputs[i].tensor != access->tensor ||
                !reaches(f, einsum, &e->inputs[i], dim, dfl_frame_line(f, einsum, slot)->rank, is_behind))
                continue;
            range_of(f, einsum, &e->inputs[i].index[d], rank, &low, &high);
            least = low < least ? low : least;
            most = high > most ? high : most;
        }
        if (other != DFL_NONE) { /* messages of later slots pass on what this one brings */
            overflow |= dfl_mul(*out, width_with(f, einsum, rank, t->extents[d], least, most, other > slot), out);
            continue;
        }
        least = least < 0 ? 0 : least;
        most = most >= t->extents[d] ? t->extents[d] - 1 : most;
        overflow |= dfl_mul(*out, most - least + 1, out);
    }
    return overflow;
}

bool dfl_halo_is_alike(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor || a->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        if (a->index[d].n_terms != b->index[d].n_terms)
            return false;
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank != b->index[d].terms[t].rank || a->index[d].terms[t].coef != b->index[d].terms[t].coef)
                return false;
    }
    return true;
}

bool dfl_halo_is_repeated(const dfl_einsum *e, uint32_t input)
{
    for (uint32_t i = 0; i < input; i++)
        if (dfl_halo_is_alike(&e->inputs[i], &e->inputs[input]))
            return true;
    return false;
}

bool dfl_halo_has_several(const dfl_einsum *e, uint32_t input)
{
    for (uint32_t i = input + 1; i < e->n_inputs; i++)
        if (dfl_halo_is_alike(&e->inputs[input], &e->inputs[i]))
            return true;
    return false;
}
