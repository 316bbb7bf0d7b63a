#include "model/counts/even_sums.h"

static const dfl_path_step *find_step(const dfl_nest *nest, const dfl_footprint *footprint, uint32_t i)
{
    return &nest->paths->paths[footprint->references[0].einsum].steps[i];
}

uint32_t dfl_group_only_rank(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group)
{
    const dfl_reference *reference = &footprint->references[0];
    const dfl_group_reference *own = &group->references[0];

    if (footprint->n_references != 1 || !group->plain || own->n_gates || group->joint)
        return DFL_NONE;
    if (group->dim == DFL_NO_DIM)
        return own->n_active == 1 ? own->active[0].rank : DFL_NONE;
    const dfl_index *index = &reference->access->index[group->dim];
    if (index->n_terms != 1 || index->terms[0].coef < 1 || own->n_active > 0)
        return DFL_NONE;
    dfl_i128 last = index->offset + (dfl_i128)index->terms[0].coef * (nest->workload->ranks[index->terms[0].rank].extent - 1);
    if (index->offset < 0 || last >= nest->workload->tensors[footprint->tensor].extents[group->dim])
        return DFL_NONE;
    return index->terms[0].rank;
}

/* Tells whether every loop divides the piece that it cuts. Sets the length of the innermost piece. */
static bool find_even_piece(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, uint32_t rank,
                            int64_t *len)
{
    uint32_t t = 0, s = 0;

    *len = nest->workload->ranks[rank].extent;
    while (t < group->n_lines || s < group->n_spatial) {
        bool is_temporal = s == group->n_spatial || (t < group->n_lines && group->lines[t] < group->spatial[s]);
        uint32_t i = is_temporal ? group->lines[t++] : group->spatial[s++];
        const dfl_path_step *step = find_step(nest, footprint, i);
        if (step->rank != rank || *len % step->tile != 0)
            return false;
        *len = step->tile;
    }
    return true;
}

static void put_change(dfl_group_change *to, dfl_i128 enter, bool stays)
{
    to->enter = to->leave = enter;
    to->kept = to->left_kept = stays ? enter : 0;
}

bool dfl_even_sums_take(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                        dfl_group_sums *out)
{
    uint32_t rank = dfl_group_only_rank(nest, footprint, group);
    bool dim = group->dim != DFL_NO_DIM;
    dfl_i128 size, count = 1;
    int64_t len;

    if (rank == DFL_NONE || how->forward != DFL_NONE || !find_even_piece(nest, footprint, group, rank, &len))
        return false;
    if (how->box && dim && footprint->references[0].access->index[group->dim].terms[0].coef > 1)
        return false;
    size = dim ? len : 1;
    out->largest = (int64_t)size;
    for (uint32_t k = 0; k < group->n_spatial; k++) {
        uint64_t bit = UINT64_C(1) << group->spatial[k];
        if (how->inside & bit) {
            /* chunks lie side by side; a loop between them leaves gaps, which a bounding box would fill */
            if (how->box && dim)
                return false;
            size *= dim ? group->parts[k] : 1;
            out->largest *= dim ? group->parts[k] : 1;
        } else if (!(how->first_only & bit)) {
            size *= (how->united & bit) && !dim ? 1 : group->parts[k];
        }
    }
    out->covering = UINT64_MAX;
    out->equal = true;
    int64_t count_trips[DFL_MAX_GROUP] = { 0 };
    for (uint32_t k = 0; k < group->n_lines; k++) {
        const dfl_path_step *step = find_step(nest, footprint, group->lines[k]);
        count_trips[k] = step->nominal / step->tile;
    }
    for (uint32_t k = 0; k <= group->n_lines; k++) {
        if (k > 0) {
            put_change(&out->adv[k], count * (count_trips[k - 1] - 1) * size, !dim);
            count *= count_trips[k - 1];
        }
        bool moves = false;
        for (uint32_t inner = k; dim && inner < group->n_lines; inner++)
            moves |= count_trips[inner] > 1;
        put_change(&out->hold[k], count * size, !moves);
    }
    out->present = count * size;
    return true;
}
