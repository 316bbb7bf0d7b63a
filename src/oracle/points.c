#include "oracle/points.h"

#include "oracle/refuse.h"

/* Whether the workload contains the present point: all conditions of `where` hold. */
static bool has_point(const dfl_oracle_einsum *e)
{
    for (uint32_t c = 0; c < e->einsum->n_where; c++) {
        const dfl_index *sum = &e->einsum->where[c].sum;
        int64_t value = sum->offset;
        for (uint32_t t = 0; t < sum->n_terms; t++)
            value += sum->terms[t].coef * e->point[e->local_rank[sum->terms[t].rank]];
        if (value < 0)
            return false;
    }
    return true;
}

bool dfl_oracle_first_point(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block)
{
    dfl_oracle_einsum *e = &machine->einsums[einsum];

    for (uint32_t r = 0; r < e->n_ranks; r++) {
        e->point[r] = block[r].lo;
        if (block[r].hi <= block[r].lo)
            return false;
    }
    return has_point(e) || dfl_oracle_next_point(machine, einsum, block);
}

bool dfl_oracle_next_point(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block)
{
    dfl_oracle_einsum *e = &machine->einsums[einsum];

    while (dfl_oracle_spend(machine, 1)) {
        uint32_t r = e->n_ranks;
        while (r > 0 && ++e->point[r - 1] >= block[r - 1].hi) {
            e->point[r - 1] = block[r - 1].lo;
            r--;
        }
        if (r == 0)
            return false;
        if (has_point(e))
            return true;
    }
    return false;
}

uint32_t dfl_oracle_point_index(const dfl_oracle_einsum *e)
{
    uint64_t index = 0;

    for (uint32_t r = 0; r < e->n_ranks; r++)
        index = index * (uint64_t)e->extent[r] + (uint64_t)e->point[r];
    return (uint32_t)index;
}

uint32_t dfl_oracle_element(const dfl_oracle_machine *machine, const dfl_oracle_einsum *e, const dfl_oracle_access *a)
{
    const int64_t *extents = machine->workload->tensors[a->tensor].extents;
    uint64_t element = 0;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_i128 i = a->offset[d];
        for (uint32_t r = 0; r < e->n_ranks; r++)
            i += (dfl_i128)a->coef[d * e->n_ranks + r] * e->point[r];
        if (i < 0 || i >= extents[d])
            return DFL_NONE;
        element = element * (uint64_t)extents[d] + (uint64_t)i;
    }
    return (uint32_t)element;
}
