#include "plan/exchanges.h"

#include <math.h>
#include <string.h>

#include "support/vec.h"

typedef DFL_VEC(dfl_plan_exchange) exchange_vec;

int64_t dfl_exchange_group(const dfl_frame *f, const dfl_plan_exchange *exchange)
{
    int64_t n = exchange->is_tied ? 2 : 1;

    for (uint32_t s = 0; s < f->n_slots; s++)
        if (exchange->slots >> s & 1)
            n *= f->slots[s].count;
    return n;
}

/* The layout in which a tensor lies when an einsum reads it: that of the carried tensor inside of a repeat. */
static dfl_layout source(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t tensor, uint32_t slot)
{
    uint32_t carried = dfl_layout_carried(f, einsum, tensor);
    dfl_layout home;

    if (carried == DFL_NONE)
        return dfl_layout_home(l, tensor, slot);
    home = dfl_layout_home(l, carried, slot);
    return home < 0 ? home : home - 1;
}

static bool same_layout(const dfl_frame *f, const dfl_layout *a, const dfl_layout *b)
{
    return memcmp(a, b, f->n_slots * sizeof *a) == 0;
}

/* The exchange that already brings a tensor to a layout in a phase, or NULL. */
static dfl_plan_exchange *find_copy(const dfl_frame *f, exchange_vec *out, uint32_t tensor, dfl_phase phase,
                                    const dfl_layout *asked, dfl_collective_kind kind)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].place == DFL_EXCHANGE_BEFORE && out->at[i].tensor == tensor && out->at[i].phase == phase &&
            out->at[i].kind == kind && same_layout(f, out->at[i].asked, asked))
            return &out->at[i];
    return NULL;
}

static void add_reader(const dfl_frame *f, dfl_plan_exchange *x, uint32_t einsum)
{
    uint32_t *readers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)x->n_readers + 1);

    if (x->n_readers > 0)
        memcpy(readers, x->readers, x->n_readers * sizeof *readers);
    readers[x->n_readers++] = einsum;
    x->readers = readers;
}

/* Bits of an access of an einsum in one pass; false after a report. */
static bool find_bits(const dfl_frame *f, uint32_t einsum, const dfl_access *access, dfl_i128 *out)
{
    if (!dfl_frame_elements(f, einsum, access, f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE, out) &&
        !dfl_mul(*out, f->workload->tensors[access->tensor].type.bits, out))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

/* Bits of what an einsum writes on one chip in one pass; of a scatter, those of the table. False after a report. */
static bool find_result_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const dfl_tensor *t = &f->workload->tensors[tensor];

    if (e->body->kind != DFL_EOP_SCATTER)
        return find_bits(f, einsum, &e->output, out);
    if (t->n_producers > 0 && f->workload->einsums[t->producers[0]].body->kind != DFL_EOP_SCATTER)
        return find_bits(f, t->producers[0], &f->workload->einsums[t->producers[0]].output, out);
    if (dfl_tensor_stored(t, out) || dfl_mul(*out, t->type.bits, out)) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "a count of this plan exceeds 128 bits");
        return false;
    }
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_layout_made(f, einsum, s) >= 0)
            *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
    return true;
}

/* Whether each instance of a slot gathers from the part of the table that it has: the einsum and the home divide the same rank,
   and the positions do not depend on it. */
static bool takes_own_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(f, einsum, slot);
    const dfl_access *positions = dfl_layout_positions(&f->workload->einsums[einsum], rows->tensor);
    const uint32_t table = dfl_frame_table(f, rows->tensor);

    if (line == NULL || positions == NULL)
        return false;
    for (uint32_t d = 0; d < positions->n_dims; d++)
        if (dfl_index_coef(&positions->index[d], line->rank) != 0)
            return false;
    if (table == rows->tensor)
        return dfl_layout_asked(f, einsum, rows, slot) == dfl_layout_home(l, table, slot);
    return dfl_layout_dimension(f, table, line->rank) == dfl_layout_home(l, table, slot);
}

/* Adds the exchange that brings the result of a gather from the instances that have its rows: slots that divide the rows and
   not the einsum. */
static bool add_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, exchange_vec *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t table = dfl_frame_table(f, rows->tensor);
    dfl_plan_exchange x = { .kind = DFL_COLLECTIVE_ALL_GATHER, .place = DFL_EXCHANGE_AFTER, .tensor = e->output.tensor,
                            .einsum = einsum, .phase = e->phase };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 || dfl_layout_home(l, table, s) < 0 ||
            takes_own_part(f, l, einsum, rows, s))
            continue;
        if (dfl_frame_line(f, einsum, s) != NULL)
            return dfl_frame_refuse(f, rows->span, "a gather from a table that the same axis divides",
                                    "divide the table on an axis that does not divide the einsum");
        x.slots |= UINT64_C(1) << s;
    }
    if (x.slots == 0)
        return true;
    if (!find_bits(f, einsum, &e->output, &x.bits))
        return false;
    DFL_PUSH(f->arena, out, x);
    return true;
}

/* Adds the exchanges that bring an operand to the layout that an einsum asks for. */
static bool add_before(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, exchange_vec *out)
{
    static const dfl_collective_kind kinds[] = { DFL_COLLECTIVE_ALL_TO_ALL, DFL_COLLECTIVE_ALL_GATHER };
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_layout *asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    uint64_t mask[2] = { 0, 0 };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout from = source(f, l, einsum, access->tensor, s);

        asked[s] = dfl_layout_asked(f, einsum, access, s);
        if (asked[s] == DFL_LAYOUT_WINDOW)
            return dfl_frame_refuse(f, access->span, "a divided rank in a window of an operand", "divide another rank");
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 || from == asked[s] || from == DFL_LAYOUT_REPLICATED)
            continue;
        mask[asked[s] == DFL_LAYOUT_REPLICATED] |= UINT64_C(1) << s;
    }
    for (uint32_t k = 0; k < 2; k++) {
        dfl_plan_exchange x = { .kind = kinds[k], .place = DFL_EXCHANGE_BEFORE, .tensor = access->tensor, .einsum = einsum,
                           .phase = e->phase, .slots = mask[k], .asked = asked };
        dfl_plan_exchange *copy = mask[k] != 0 ? find_copy(f, out, access->tensor, e->phase, asked, kinds[k]) : NULL;

        if (mask[k] == 0)
            continue;
        if (copy == NULL) {
            if (!find_bits(f, einsum, access, &x.bits))
                return false;
            DFL_PUSH(f->arena, out, x);
            copy = &out->at[out->n - 1];
        }
        add_reader(f, copy, einsum);
    }
    return true;
}

/* Whether the result of an einsum is a sum over all micro-batches: the gradient of a weight, or a sum over a rank that the
   micro-batches divide, which nothing reads before the step ends. */
static bool is_sum_of_step(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];

    if (t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return true;
    for (uint32_t i = 0; i < e->n_ranks && t->n_consumers == 0 && e->reduce == DFL_REDUCE_ADD; i++) {
        bool is_left = false;

        for (uint32_t d = 0; d < e->output.n_dims; d++)
            is_left |= dfl_index_coef(&e->output.index[d], e->ranks[i]) != 0;
        if (!is_left && !f->repeats[e->ranks[i]] &&
            dfl_frame_pass(f, einsum, e->ranks[i]) < dfl_frame_local(f, einsum, e->ranks[i]))
            return true;
    }
    return false;
}

/* Whether the producers of a tensor run on the first and on the last stage. */
static bool is_tied(const dfl_frame *f, uint32_t tensor)
{
    bool before = false, after = false, inside = false;
    uint32_t rank = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stage_rank : DFL_NONE;
    uint32_t first = DFL_NONE;

    if (rank == DFL_NONE || f->slots[f->stage_slot].count == 1)
        return false;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (f->workload->einsums[e].phase == DFL_PHASE_BACKWARD && dfl_einsum_has_rank(&f->workload->einsums[e], rank)) {
            first = first == DFL_NONE ? e : first;
        }
    for (uint32_t e = 0; e < f->workload->n_einsums && first != DFL_NONE; e++) {
        if (dfl_frame_target(f, e) != tensor || dfl_einsum_is_start(&f->workload->einsums[e]))
            continue;
        inside |= dfl_einsum_has_rank(&f->workload->einsums[e], rank);
        before |= e < first;
        after |= e > first;
    }
    return before && after && !inside;
}

/* Adds the exchanges that make the home of a tensor from the results of its producers; `einsum` is the last of them. */
static bool add_after(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, exchange_vec *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const bool is_of_step = is_sum_of_step(f, einsum);
    const dfl_exchange_place late = is_of_step ? DFL_EXCHANGE_ONCE : DFL_EXCHANGE_AFTER;
    dfl_plan_exchange x = { .tensor = tensor, .einsum = einsum, .phase = e->phase };
    uint64_t now = 0, scatter = 0, reduce = 0, gather = 0;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout home = dfl_layout_home(l, tensor, s), made = dfl_layout_made(f, einsum, s);

        if (f->slots[s].stages != NULL || f->slots[s].count == 1)
            continue;
        if (l->is_summed[(size_t)tensor * l->columns + s])
            *(home < 0 ? &reduce : dfl_layout_is_summed_late(f, l, tensor, s) ? &scatter : &now) |= UINT64_C(1) << s;
        else if (made >= 0 && home == DFL_LAYOUT_REPLICATED)
            gather |= UINT64_C(1) << s;
        else if (made >= 0 && home >= 0 && made != home)
            return dfl_frame_refuse(f, e->span, "a home that is split along another dimension than its producer",
                                    "split the home as its producer");
    }
    const struct { dfl_collective_kind kind; dfl_exchange_place place; uint64_t mask; bool tied; } all[] = {
        { DFL_COLLECTIVE_REDUCE_SCATTER, DFL_EXCHANGE_AFTER, now, false },
        { DFL_COLLECTIVE_REDUCE_SCATTER, late, scatter, false },
        { DFL_COLLECTIVE_ALL_REDUCE, late, reduce, false },
        { DFL_COLLECTIVE_ALL_REDUCE, late, 0, is_of_step && is_tied(f, tensor) },
        { DFL_COLLECTIVE_ALL_GATHER, late, gather, false },
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        x.kind = all[k].kind;
        x.place = all[k].place;
        x.slots = all[k].mask;
        x.is_tied = all[k].tied;
        if (x.slots == 0 && !x.is_tied)
            continue;
        if (!find_result_bits(f, einsum, &x.bits))
            return false;
        for (uint32_t s = 0; s < f->n_slots && k > 0; s++)
            x.bits = (k > 1 ? now | scatter : now) >> s & 1 ? (x.bits + f->slots[s].count - 1) / f->slots[s].count : x.bits;
        for (uint32_t s = 0; s < f->n_slots && x.kind == DFL_COLLECTIVE_ALL_GATHER; s++)
            x.bits = x.slots >> s & 1 ? x.bits * f->slots[s].count : x.bits;
        DFL_PUSH(f->arena, out, x);
    }
    return true;
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
    dfl_collective ask = { .kind = x->kind, .bits = dfl_i128_double(x->bits), .parts = parts,
                           .element = f->system->memories[f->home].element,
                           .memory_rate = reduction_rate(&f->system->memories[f->home_of[x->tensor]]) };
    const dfl_collective_options options = { .contention_none = f->mapping->options.contention_none,
                                             .chunks = f->mapping->options.chunks };

    for (uint32_t k = 0; k < i; k++)
        if (all->at[k].kind == x->kind && all->at[k].slots == x->slots && all->at[k].bits == x->bits &&
            all->at[k].is_tied == x->is_tied && f->home_of[all->at[k].tensor] == f->home_of[x->tensor]) {
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

bool dfl_exchanges_find(const dfl_frame *f, const dfl_layouts *layouts, dfl_plan_exchanges *out)
{
    const dfl_workload *w = f->workload;
    exchange_vec all = { 0 };

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];

            if (!(w->tensors[a->tensor].gathered ? add_rows(f, layouts, e, a, &all) : add_before(f, layouts, e, a, &all)))
                return false;
        }
        if (is_last_writer(f, e) && !add_after(f, layouts, e, &all))
            return false;
    }
    out->at = all.at;
    out->n = (uint32_t)all.n;
    for (uint32_t i = 0; i < out->n; i++)
        if (!find_cost(f, out, i))
            return false;
    return true;
}
