#include "plan/exchange_groups.h"

#include <math.h>

#include "support/number.h"

bool dfl_layouts_nest_apart(const dfl_layout *a, const dfl_layout *b, uint32_t slot)
{
    for (uint32_t s = 0; s < slot; s++)
        if ((a[s] == a[slot]) != (b[s] == a[slot]))
            return true;
    return false;
}

int64_t dfl_exchange_ranks(const dfl_frame *f, uint64_t slots)
{
    int64_t n = 1;

    for (uint32_t s = 0; s < f->n_slots; s++)
        n *= slots >> s & 1 ? f->slots[s].count : 1;
    return n;
}

bool dfl_exchange_set_part(const dfl_frame *f, dfl_i128 elements, dfl_plan_exchange *x)
{
    x->has_parts = true;
    if (!dfl_mul(elements, f->workload->tensors[x->tensor].type.bits, &x->part_bits) &&
        !dfl_mul(x->part_bits, dfl_exchange_ranks(f, x->slots), &x->most_bits)) {
        x->most_bits = x->most_bits == x->bits ? 0 : x->most_bits; /* all have equally much */
        return true;
    }
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[x->einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

dfl_i128 dfl_exchange_most_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 bits)
{
    const dfl_points *p = &f->points[einsum];
    double share = (double)p->largest * (double)p->parts / (double)p->total;

    return share > 1 ? (dfl_i128)ceil(dfl_i128_double(bits) * share * (1 - 1e-12)) : 0;
}
