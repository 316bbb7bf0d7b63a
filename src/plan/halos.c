#include "plan/halos.h"

#include "plan/lines.h"

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

bool dfl_halo_find(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, dfl_halo *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t rank = dfl_frame_line(f, einsum, slot)->rank;
    const int64_t part = dfl_frame_local(f, einsum, rank), extent = f->workload->tensors[access->tensor].extents[dim];
    uint32_t slots = 0;

    *out = (dfl_halo){ 0, 0 };
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        int64_t least, most;

        if (e->inputs[i].tensor != access->tensor || dfl_index_coef(&e->inputs[i].index[dim], rank) != 1)
            continue;
        range_of(f, einsum, &e->inputs[i].index[dim], rank, &least, &most);
        out->before = -least > out->before ? -least : out->before;
        out->behind = most > out->behind ? most : out->behind;
    }
    if (out->before == 0 && out->behind == 0)
        return true;
    for (uint32_t s = 0; s < f->n_slots; s++)
        slots += dfl_frame_line(f, einsum, s) != NULL && dfl_frame_line(f, einsum, s)->rank == rank && f->slots[s].count > 1;
    if (slots > 1)
        return dfl_frame_refuse(f, access->span, "a window over a rank that several groups of chips divide",
                                "divide the rank on one axis");
    if (dfl_frame_pass(f, einsum, rank) != part)
        return dfl_frame_refuse(f, access->span, "a window over a rank of the micro-batches", "leave the rank out of the "
                                "temporal lines");
    if (dfl_ceil_div(extent, f->slots[slot].count) != part)
        return dfl_frame_refuse(f, access->span, "a window in a tensor whose parts differ from those of the einsum",
                                "divide another rank");
    if (out->before > part || out->behind > part)
        return dfl_frame_refuse(f, access->span, "a window that reaches beyond the neighbour",
                                "divide the rank into fewer parts");
    return true;
}

/* Whether an access of the einsum to the tensor has a window in two dimensions. */
static bool has_corner(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t a, uint32_t b)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    uint32_t rank;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor == tensor && !dfl_index_is_bare(&e->inputs[i].index[a], &rank) &&
            !dfl_index_is_bare(&e->inputs[i].index[b], &rank))
            return true;
    return false;
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

bool dfl_halo_section(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[access->tensor];
    bool overflow = false;

    *out = 1;
    for (uint32_t d = 0; d < access->n_dims; d++) {
        const uint32_t other = d != dim ? slot_of(f, einsum, &access->index[d]) : DFL_NONE;
        int64_t least = INT64_MAX, most = INT64_MIN;
        dfl_halo halo = { 0, 0 };

        if (d == dim)
            continue;
        if (other != DFL_NONE) {
            const uint32_t rank = dfl_frame_line(f, einsum, other)->rank;

            if (other < slot && has_corner(f, einsum, access->tensor, dim, d) &&
                !dfl_halo_find(f, einsum, access, d, other, &halo))
                return true;
            overflow |= dfl_mul(*out, dfl_frame_pass(f, einsum, rank) + halo.before + halo.behind, out);
            continue;
        }
        for (uint32_t i = 0; i < e->n_inputs; i++) {
            int64_t low, high;

            if (e->inputs[i].tensor != access->tensor)
                continue;
            range_of(f, einsum, &e->inputs[i].index[d], DFL_NONE, &low, &high);
            least = low < least ? low : least;
            most = high > most ? high : most;
        }
        least = least < 0 ? 0 : least;
        most = most >= t->extents[d] ? t->extents[d] - 1 : most;
        overflow |= dfl_mul(*out, most - least + 1, out);
    }
    return overflow;
}

/* Whether two accesses of a tensor differ by offsets alone. */
static bool is_alike(const dfl_access *a, const dfl_access *b)
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
        if (is_alike(&e->inputs[i], &e->inputs[input]))
            return true;
    return false;
}

bool dfl_halo_elements(const dfl_frame *f, uint32_t einsum, uint32_t input, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_access *access = &e->inputs[input];
    bool overflow = false, is_alone = true;

    for (uint32_t i = input + 1; i < e->n_inputs; i++)
        is_alone &= !is_alike(access, &e->inputs[i]);
    if (is_alone)
        return dfl_frame_elements(f, einsum, access, true, out);
    *out = 1;
    for (uint32_t d = 0; d < access->n_dims; d++) {
        int64_t least = INT64_MAX, most = INT64_MIN, extent = f->workload->tensors[access->tensor].extents[d];

        for (uint32_t i = input; i < e->n_inputs; i++) {
            int64_t low, high;

            if (!is_alike(access, &e->inputs[i]))
                continue;
            range_of(f, einsum, &e->inputs[i].index[d], DFL_NONE, &low, &high);
            least = low < least ? low : least;
            most = high > most ? high : most;
        }
        overflow |= dfl_mul(*out, most - least + 1 < extent ? most - least + 1 : extent, out);
    }
    return overflow;
}
