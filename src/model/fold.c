#include "model/fold.h"

/* Adds counts. The model has checked the total over all tensors of a memory, so no sum overflows. */
static void add_counts(dfl_counts *to, const dfl_counts *from)
{
    to->serve += from->serve;
    to->drain += from->drain;
    to->accumulate += from->accumulate;
    to->fill += from->fill;
    to->update += from->update;
}

static void add_rows(dfl_row_counts *to, const dfl_row_counts *from)
{
    to->read += from->read;
    to->drain += from->drain;
    to->fill += from->fill;
    to->update += from->update;
}

static void add_traffic(const dfl_workload *w, dfl_traffic *to, const dfl_traffic *from)
{
    add_counts(&to->counts, &from->counts);
    add_counts(&to->first, &from->first);
    add_rows(&to->rows, &from->rows);
    to->rough |= from->rough;
    to->joules += from->joules;
    if (w->tensors[to->tensor].role != DFL_ROLE_INTERMEDIATE)
        to->peak_bits += from->peak_bits;
    else if (from->peak_bits > to->peak_bits)
        to->peak_bits = from->peak_bits;
}

static void add_einsum(dfl_einsum_cost *to, const dfl_einsum_cost *from, double *slowest)
{
    to->macs += from->macs;
    to->flops += from->flops;
    to->padding += from->padding;
    to->extra += from->extra;
    to->points += from->points;
    to->steps += from->steps;
    to->compute = from->compute;
    to->compute_seconds += from->compute_seconds;
    to->seconds += from->seconds;
    to->joules += from->joules;
    if (!to->bound_by || from->seconds > *slowest) {
        to->bound_by = from->bound_by;
        *slowest = from->seconds;
    }
}

const dfl_result *dfl_result_fold(dfl_arena *arena, const dfl_unrolled *unrolled, const dfl_result *result)
{
    if (!unrolled || !result)
        return result;
    const dfl_workload *w = unrolled->given->workload;
    const uint32_t n_memories = unrolled->given->system->n_memories, n_copies = unrolled->mapping->workload->n_einsums;
    dfl_result *out = DFL_NEW(arena, dfl_result);
    dfl_einsum_cost *einsums = DFL_NEW_ARRAY(arena, dfl_einsum_cost, w->n_einsums + 1);
    dfl_traffic *traffic = DFL_NEW_ARRAY(arena, dfl_traffic, (size_t)n_memories * w->n_tensors + 1);
    double *slowest = DFL_NEW_ARRAY(arena, double, w->n_einsums + 1);
    uint32_t n = 0;

    for (uint32_t e = 0; e < n_copies; e++)
        add_einsum(&einsums[unrolled->einsum_of[e]], &result->einsums[e], &slowest[unrolled->einsum_of[e]]);
    /* The copies of a tensor are adjacent, and in the order of the given tensors. */
    for (uint32_t i = 0; i < result->n_traffic; i++) {
        const uint32_t memory = result->traffic[i].memory, tensor = unrolled->tensor_of[result->traffic[i].tensor];

        if (n == 0 || traffic[n - 1].memory != memory || traffic[n - 1].tensor != tensor)
            traffic[n++] = (dfl_traffic){ .memory = memory, .tensor = tensor };
        add_traffic(w, &traffic[n - 1], &result->traffic[i]);
    }
    *out = *result;
    out->mapping = unrolled->given;
    out->einsums = einsums;
    out->traffic = traffic;
    out->n_traffic = n;
    return out;
}
