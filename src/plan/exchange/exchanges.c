#include <math.h>

#include "plan/exchange/exchanges.h"
#include "plan/exchange/operand_exchanges.h"
#include "plan/exchange/result_exchanges.h"
#include "plan/layout/lines.h"
#include "plan/layout/pass_bits.h"

int64_t dfl_exchange_group(const dfl_frame *f, const dfl_plan_exchange *exchange)
{
    int64_t n = exchange->is_tied || exchange->is_halo ? 2 : 1;

    for (uint32_t s = 0; s < f->n_slots && !exchange->is_halo; s++)
        if (exchange->slots >> s & 1)
            n *= f->slots[s].count;
    return n;
}

/* Bits of a piece over the time in which a memory reads two pieces and writes one; 0 = it takes no time. */
static double reduction_rate(const dfl_memory *m)
{
    double reads = isfinite(m->read_rate) ? 2 / m->read_rate : 0, writes = isfinite(m->write_rate) ? 1 / m->write_rate : 0;
    double seconds = m->one_port ? reads + writes : fmax(reads, writes);

    return seconds > 0 ? 1 / seconds : 0;
}

/* The cost of an exchange; equal exchanges are computed once. */
static bool find_cost(const dfl_frame *f, dfl_plan_exchanges *all, uint32_t i)
{
    dfl_plan_exchange *x = &all->at[i];
    dfl_group_part *parts = DFL_NEW_ARRAY(f->arena, dfl_group_part, (size_t)f->n_slots + 1);
    dfl_collective ask = { .kind = x->kind, .bits = dfl_i128_double(x->most_bits > 0 ? x->most_bits : x->bits),
                           .parts = parts,
                           .element = f->system->memories[f->home].element,
                           .memory_rate = reduction_rate(&f->system->memories[f->room_of[x->tensor]]) };
    const dfl_collective_options options = { .contention_none = f->mapping->options.contention_none,
                                             .chunks = f->mapping->options.chunks };

    if (x->bits == 0) /* conditions leave out all elements in this iteration, or those of other chips */
        return true;
    for (uint32_t k = 0; k < i; k++)
        if (all->at[k].kind == x->kind && all->at[k].slots == x->slots && all->at[k].bits == x->bits &&
            all->at[k].most_bits == x->most_bits && all->at[k].has_parts == x->has_parts &&
            all->at[k].is_tied == x->is_tied &&
            f->room_of[all->at[k].tensor] == f->room_of[x->tensor]) {
            x->cost = all->at[k].cost;
            return true;
        }
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_slot *slot = &f->slots[s];

        if (x->slots >> s & 1)
            parts[ask.n_parts++] = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride, .count = slot->count };
        if (x->is_tied && slot->stages != NULL)
            parts[ask.n_parts++] = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride * (slot->count - 1), .count = 2,
                                                     .period = slot->stride * slot->count };
    }
    return dfl_collective_find(f->arena, f->sink, f->names, f->system, f->workload->einsums[x->einsum].span, &ask, &options,
                               &x->cost);
}

/* Whether no later einsum writes what an einsum writes. The step of the optimizer writes a weight that others made. */
static bool is_last_writer(const dfl_frame *f, uint32_t einsum)
{
    for (uint32_t e = einsum + 1; e < f->workload->n_einsums; e++)
        if (dfl_frame_target(f, e) == dfl_frame_target(f, einsum))
            return false;
    return true;
}

/* Divides an exchange into the parts in which its einsum runs, if the parts divide its tensor. False after a report. */
static bool set_parts(const dfl_frame *f, dfl_plan_exchange *x)
{
    const dfl_einsum *e = &f->workload->einsums[x->einsum];
    const int64_t n = f->parts[x->einsum];
    bool is_cut = x->place == DFL_EXCHANGE_AFTER && n > 1 && dfl_access_has_rank(&e->output, f->parts_rank[x->einsum]);

    x->parts = 1;
    for (uint32_t i = 0; i < e->n_inputs && n > 1 && x->place == DFL_EXCHANGE_BEFORE; i++)
        is_cut |= e->inputs[i].tensor == x->tensor && dfl_access_has_rank(&e->inputs[i], f->parts_rank[x->einsum]);
    if (!is_cut)
        return true;
    for (uint32_t r = 0; r < x->n_readers; r++)
        if (f->parts[x->readers[r]] != n || f->parts_rank[x->readers[r]] != f->parts_rank[x->einsum])
            return dfl_frame_refuse(f, e->span, "an exchange in parts whose tensor an einsum outside of the brace reads, too,",
                                    "put all einsums that read it into the brace");
    if (x->is_halo || x->most_bits > 0 || x->bits % n != 0)
        return dfl_frame_refuse(f, e->span, "this exchange in parts", "leave the loop out of the brace of its einsum");
    x->parts = n;
    x->bits /= n;
    x->has_parts &= x->part_bits % n == 0;
    x->part_bits /= n;
    return true;
}

/* Refuses a copy that a recomputed einsum reads, and whose first reader is not recomputed: the backward pass would have to make
   it again before another einsum than the forward pass. */
static bool check_again(const dfl_frame *f, const dfl_plan_exchange *x)
{
    const dfl_einsum *all = f->workload->einsums;

    if (x->place != DFL_EXCHANGE_BEFORE || x->bits == 0 || dfl_frame_is_again(f, x->einsum))
        return true;
    for (uint32_t r = 0; r < x->n_readers; r++)
        if (dfl_frame_is_again(f, x->readers[r]))
            return dfl_frame_refuse(f, f->mapping->span,
                dfl_arena_printf(f->arena, "to recompute `%s`, which reads the copy of `%s` that an exchange makes for `%s`, "
                                 "without `%s`", dfl_einsum_label(f->names, &all[x->readers[r]]),
                                 dfl_tensor_label(f->names, &f->workload->tensors[x->tensor]),
                                 dfl_einsum_label(f->names, &all[x->einsum]), dfl_einsum_label(f->names, &all[x->einsum])),
                dfl_arena_printf(f->arena, "write `recompute` for both `%s` and `%s`, or for none of them",
                                 dfl_einsum_label(f->names, &all[x->einsum]), dfl_einsum_label(f->names, &all[x->readers[r]])));
    return true;
}

/* Whether two exchanges cost the same, those of two iterations or micro-batches. */
static bool is_same(const dfl_plan_exchange *a, const dfl_plan_exchange *b)
{
    return a->bits == b->bits && a->most_bits == b->most_bits && a->has_parts == b->has_parts &&
           a->kind == b->kind && a->slots == b->slots && a->is_tied == b->is_tied && a->tensor == b->tensor;
}

/* Whether a slot takes a part at home of dimension `d` of what an einsum makes whole there. */
static bool takes_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t d, uint32_t slot)
{
    return f->slots[slot].count > 1 && f->slots[slot].stages == NULL &&
           dfl_layout_home(l, dfl_frame_target(f, einsum), slot) == (dfl_layout)d &&
           dfl_layout_made(f, einsum, slot) != (dfl_layout)d;
}

/* Refuses parts that a home takes of a dimension which micro-batches cut, where the parts of a pass depend on the pass: chips
   divide the dimension, too, so that a pass lies in one of the parts of a chip, or of a sum passes lie across the ends of parts.
   Points that go to rows come back to the chips that they left. False after a report. */
static bool check_passes(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum)
{
    const dfl_access *made = &f->workload->einsums[einsum].output;
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const dfl_tensor *t = &f->workload->tensors[tensor];
    bool leaves_sums = false;
    uint32_t rank;

    if (f->points[einsum].parts > 1)
        return true;
    for (uint32_t s = 0; s < f->n_slots; s++)
        leaves_sums |= dfl_layout_made(f, einsum, s) == DFL_LAYOUT_PARTIAL;
    for (uint32_t d = 0; d < made->n_dims && made->n_dims == t->n_dims && f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE;
         d++) {
        int64_t parts = 1, block, pass;
        bool is_divided = false, is_uneven = false; /* parts of one group in parts of another one, of several lengths */

        if (!dfl_index_is_bare(&made->index[d], &rank) || f->repeats[rank] ||
            dfl_frame_pass(f, einsum, rank) >= dfl_frame_local(f, einsum, rank))
            continue;
        for (uint32_t s = 0; s < f->n_slots; s++) {
            is_uneven |= parts > 1 && takes_part(f, l, einsum, d, s);
            parts *= takes_part(f, l, einsum, d, s) ? f->slots[s].count : 1;
            is_divided |= dfl_layout_made(f, einsum, s) == (dfl_layout)d;
        }
        pass = dfl_frame_pass(f, einsum, rank);
        block = dfl_ceil_div(t->extents[d], parts);
        is_uneven &= t->extents[d] % parts != 0;
        if (parts > 1 && (is_divided || (leaves_sums && (is_uneven || (block % pass != 0 && pass % block != 0)))))
            return dfl_frame_refuse(f, made->span, "a result of micro-batches that lie in some parts of its home alone",
                                    "divide the home along a dimension that micro-batches do not cut");
    }
    return true;
}

bool dfl_exchanges_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_plan_exchanges *before,
                        dfl_plan_exchanges *out)
{
    const dfl_workload *w = f->workload;
    dfl_exchange_vec all = { 0 };

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];

            if (!dfl_operand_exchanges_add(f, layouts, e, a, &all))
                return false;
        }
        if (!check_passes(f, layouts, e))
            return false;
        if (is_last_writer(f, e) && !dfl_pass_check(f, dfl_frame_target(f, e), e, NULL))
            return false;
        if (is_last_writer(f, e) && !dfl_result_exchanges_add(f, layouts, e, &all))
            return false;
    }
    out->at = all.at;
    out->n = (uint32_t)all.n;
    for (uint32_t i = 0; i < out->n; i++)
        if (!set_parts(f, &out->at[i]) || !check_again(f, &out->at[i]))
            return false;
    for (uint32_t i = 0; i < out->n; i++)
        if (before != NULL && i < before->n && is_same(&before->at[i], &out->at[i]))
            out->at[i].cost = before->at[i].cost;
        else if (!find_cost(f, out, i))
            return false;
    return true;
}
