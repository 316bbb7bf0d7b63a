#include "plan/exchange/exchange_groups.h"

#include <math.h>
#include <string.h>

#include "support/number.h"

/* Whether a slot divides a dimension in a layout. */
static bool divides(const dfl_frame *f, const dfl_layout *layout, uint32_t slot, dfl_layout dim)
{
    return layout[slot] == dim && f->slots[slot].count > 1 && f->slots[slot].stages == NULL;
}

/* Lengths of the blocks into which the slots before one divide a dimension of a layout, into `length`, and of the part that the
   slot has of them. A block whose length divides that of the block around it stands in its place, since x % (k n) % n = x % n.
   Returns their number. */
static uint32_t list_blocks(const dfl_frame *f, const dfl_layout *layout, uint32_t slot, int64_t extent, int64_t *length)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < slot; s++) {
        if (!divides(f, layout, s, layout[slot]))
            continue;
        extent = dfl_ceil_div(extent, f->slots[s].count);
        while (n > 0 && length[n - 1] % extent == 0)
            n--;
        length[n++] = extent;
    }
    length[n++] = dfl_ceil_div(extent, f->slots[slot].count);
    return n;
}

bool dfl_layouts_nest_apart(const dfl_frame *f, const dfl_layout *a, const dfl_layout *b, uint32_t slot, int64_t of_a,
                            int64_t of_b)
{
    int64_t *blocks = DFL_NEW_ARRAY(f->arena, int64_t, 2 * (size_t)f->n_slots + 2), *others = blocks + f->n_slots + 1;
    bool is_dealt = false, in_blocks = false, differs = false;
    uint32_t n;

    for (uint32_t s = 0; s <= slot; s++) {
        const bool in_a = divides(f, a, s, a[slot]), in_b = divides(f, b, s, a[slot]);

        differs |= in_a != in_b;
        is_dealt |= (in_a || in_b) && f->slots[s].is_cyclic;
        in_blocks |= (in_a || in_b) && !f->slots[s].is_cyclic;
    }
    if (!differs && (of_a == of_b || !in_blocks)) /* what is dealt lies there whatever follows */
        return false;
    n = list_blocks(f, a, slot, of_a, blocks);
    return is_dealt || list_blocks(f, b, slot, of_b, others) != n || memcmp(blocks, others, n * sizeof *blocks) != 0;
}

int64_t dfl_access_extent(const dfl_frame *f, const dfl_access *a, uint32_t dim)
{
    uint32_t rank;

    return dfl_index_is_bare(&a->index[dim], &rank) ? f->workload->ranks[rank].extent
                                                    : f->workload->tensors[a->tensor].extents[dim];
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
    if (elements == 0) { /* nobody needs anything of another rank */
        x->bits = x->most_bits = x->part_bits = 0;
        return true;
    }
    if (!dfl_mul(elements, f->workload->tensors[x->tensor].type.bits, &x->part_bits) &&
        !dfl_mul(x->part_bits, dfl_exchange_ranks(f, x->slots), &x->most_bits)) {
        x->most_bits = x->most_bits == x->bits ? 0 : x->most_bits; /* all have equally much */
        return true;
    }
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[x->einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

bool dfl_exchange_set_points(const dfl_frame *f, uint32_t einsum, dfl_i128 all, dfl_i128 own, dfl_plan_exchange *x)
{
    const dfl_points *p = &f->points[einsum];

    x->bits = own;
    if (!dfl_mul(all, p->largest, &x->room_bits)) {
        x->room_bits = (x->room_bits + p->total - 1) / p->total;
        x->most_bits = x->room_bits > own ? x->room_bits : 0;
        return true;
    }
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

dfl_i128 dfl_exchange_most_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 bits)
{
    const dfl_points *p = &f->points[einsum];
    double share = (double)p->largest * (double)p->parts / (double)p->total;

    return share > 1 ? (dfl_i128)ceil(dfl_i128_double(bits) * share * (1 - 1e-12)) : 0;
}
