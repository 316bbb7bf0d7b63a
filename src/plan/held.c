#include "plan/held.h"

#include "plan/homes.h"

/* Whether a tensor lies by the rows of a table on some chips. */
static bool is_by_rows(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_layout_home(layouts, tensor, s) == DFL_LAYOUT_ROWS)
            return true;
    return false;
}

/* Bits of the pass of a tensor that lies by the rows of a table. */
static bool by_rows_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t maker,
                         const dfl_access *access, dfl_i128 *out)
{
    bool overflow = dfl_frame_elements(f, maker, access, true, out);

    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout made = dfl_layout_asked(f, maker, access, s), home = dfl_layout_home(layouts, tensor, s);

        if (f->slots[s].stages != NULL || made == home)
            continue;
        if (made >= 0)
            overflow |= dfl_mul(*out, f->slots[s].count, out);
        if (home >= 0)
            *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
    }
    return overflow | dfl_mul(*out, f->workload->tensors[tensor].type.bits, out);
}

bool dfl_held_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t maker = t->n_producers > 0 ? t->producers[0] : t->consumers[0];
    const dfl_einsum *e = &f->workload->einsums[maker];
    const dfl_access *access = &e->output;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1);
    uint64_t gathered = 0;

    for (uint32_t i = 0; t->n_producers == 0 && i < e->n_inputs; i++)
        access = e->inputs[i].tensor == tensor ? &e->inputs[i] : access;
    if (is_by_rows(f, layouts, tensor))
        return by_rows_bits(f, layouts, tensor, maker, access, out);
    for (uint32_t d = 0; d < t->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout made = dfl_layout_asked(f, maker, access, s), home = dfl_layout_home(layouts, tensor, s);

        if (f->slots[s].stages != NULL || made == home)
            continue;
        gathered |= made >= 0 ? UINT64_C(1) << s : 0;
        if (home >= 0)
            parts[home] *= f->slots[s].count;
    }
    return dfl_frame_elements_of_group(f, maker, access, gathered, parts, out) || dfl_mul(*out, t->type.bits, out);
}

bool dfl_held_joined_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint64_t joined, dfl_i128 *out)
{
    bool overflow = dfl_held_pass_bits(f, layouts, tensor, out);

    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((joined >> s & 1) != 0 && dfl_layout_home(layouts, tensor, s) >= 0)
            overflow |= dfl_mul(*out, f->slots[s].count, out);
    return overflow;
}

static bool runs_in(const dfl_frame *f, const dfl_stage_shape *stage, uint32_t einsum)
{
    return dfl_frame_runs(f, einsum, stage->has_first, stage->has_last);
}

/* Whether an einsum of the stage reads or writes a tensor, or rows of it. */
static bool is_touched(const dfl_frame *f, const dfl_stage_shape *stage, uint32_t tensor)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        bool touches = dfl_frame_target(f, e) == tensor;

        for (uint32_t i = 0; i < f->workload->einsums[e].n_inputs; i++)
            touches |= dfl_frame_table(f, f->workload->einsums[e].inputs[i].tensor) == tensor;
        if (touches && runs_in(f, stage, e))
            return true;
    }
    return false;
}

/* Whether the stages divide the first dimension of a tensor: it has one part for each layer. */
static bool has_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    return f->stage_slot != DFL_NONE && dfl_layout_home(layouts, tensor, f->stage_slot) >= 0;
}

/* The dimension of a tensor that has one part for each layer; replicated if there is none. */
static dfl_layout layer_dimension(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    dfl_layout d = DFL_LAYOUT_REPLICATED;

    if (f->stage_slot != DFL_NONE && dfl_layout_home(layouts, tensor, f->stage_slot) >= 0)
        return dfl_layout_home(layouts, tensor, f->stage_slot);
    for (uint32_t c = 0; c < f->workload->n_carries && d < 0; c++)
        d = dfl_layout_dimension(f, tensor, f->workload->carries[c].rank);
    return d;
}

int64_t dfl_held_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    const dfl_layout d = layer_dimension(f, layouts, tensor);

    if (d < 0)
        return 1;
    return has_layers(f, layouts, tensor) ? dfl_ceil_div(f->workload->tensors[tensor].extents[d], f->slots[f->stage_slot].count)
                                          : f->workload->tensors[tensor].extents[d];
}

bool dfl_held_home_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, int64_t layers, uint64_t joined,
                        dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_layout per_layer = layer_dimension(f, layouts, tensor);
    bool overflow = false;

    *out = t->type.bits;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        int64_t extent = t->extents[d];

        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_home(layouts, tensor, s) == (dfl_layout)d && (joined >> s & 1) == 0 &&
                !dfl_layout_is_summed_late(f, layouts, tensor, s))
                extent = dfl_ceil_div(extent, f->slots[s].count);
        overflow |= dfl_mul(*out, per_layer == (dfl_layout)d ? layers : extent, out);
    }
    return overflow;
}

/* Bits of the whole home of a tensor on a chip of the stage; true on overflow. */
static bool home_bits(const dfl_frame *f, const dfl_layouts *layouts, const dfl_stage_shape *stage, uint32_t tensor,
                      dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    bool overflow = false;

    *out = 1;
    if (t->gathered) {
        if (dfl_tensor_stored(t, out) || *out == 0)
            return *out != 0;
        *out = t->type.bits;
        for (uint32_t d = 0; d < t->n_table_dims; d++) { /* each part has whole rows */
            int64_t extent = t->table_extents[d];

            for (uint32_t s = 0; s < f->n_slots; s++)
                if (dfl_layout_home(layouts, tensor, s) == (dfl_layout)d)
                    extent = dfl_ceil_div(extent, f->slots[s].count);
            overflow |= dfl_mul(*out, extent, out);
        }
        return overflow;
    }
    for (uint32_t d = 0; d < t->n_dims; d++) {
        int64_t extent = t->extents[d];

        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_home(layouts, tensor, s) == (dfl_layout)d && !dfl_layout_is_summed_late(f, layouts, tensor, s))
                extent = f->slots[s].stages != NULL ? stage->layers : dfl_ceil_div(extent, f->slots[s].count);
        overflow |= dfl_mul(*out, extent, out);
    }
    return overflow | dfl_mul(*out, t->type.bits, out);
}

/* ---- activations ---- */

/* Whether an einsum runs in the backward pass: a backward einsum, or a forward one that makes a recomputed tensor. */
static bool runs_backward(const dfl_plan_work *work, uint32_t einsum)
{
    const dfl_einsum *e = &work->frame->workload->einsums[einsum];

    return e->phase == DFL_PHASE_BACKWARD || (e->phase == DFL_PHASE_FORWARD && work->is_recomputed[e->output.tensor]);
}

static bool in_repeat(const dfl_frame *f, const dfl_tensor *t)
{
    const dfl_einsum *e = &f->workload->einsums[t->producers[0]];

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (f->repeats[e->ranks[i]])
            return true;
    return false;
}

/* ---- working set ---- */

/* A value of one pass: bits, and the positions between which it is needed. */
typedef struct { uint32_t first, last; dfl_i128 bits; } live_range;

/* Position of an einsum in a pass of the backward phase (recomputed einsums first) or of the forward phase; DFL_NONE = not
   in it. */
static uint32_t position(const dfl_plan_work *work, uint32_t einsum, dfl_phase phase, bool repeated, uint32_t repeat)
{
    const dfl_workload *w = work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    bool is_in = repeated ? dfl_einsum_has_rank(e, repeat) : true;

    for (uint32_t i = 0; !repeated && i < e->n_ranks; i++)
        is_in &= !work->frame->repeats[e->ranks[i]];
    if (!is_in)
        return DFL_NONE;
    if (phase == DFL_PHASE_FORWARD)
        return e->phase == DFL_PHASE_FORWARD ? einsum : DFL_NONE;
    return runs_backward(work, einsum) ? einsum : DFL_NONE;
}

/* The largest sum of values of one memory that a pass needs at one of its einsums, without what the stage stores for longer. */
static bool working_peak(const dfl_plan_work *work, const dfl_layouts *l, const dfl_stage_shape *stage, const bool *stored,
                         dfl_phase phase, bool repeated, uint32_t repeat, uint32_t memory, dfl_i128 *out)
{
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    dfl_i128 *at = DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)w->n_einsums + 1), sum = 0;
    bool overflow = false;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        live_range r = { .first = DFL_NONE };

        if (stored[t] || f->room_of[t] != memory || w->tensors[t].n_producers == 0 ||
            (w->tensors[t].part != DFL_PART_PLAIN && w->tensors[w->tensors[t].of].role == DFL_ROLE_WEIGHT) ||
            (w->tensors[t].role != DFL_ROLE_INTERMEDIATE && w->tensors[t].role != DFL_ROLE_OUTPUT))
            continue;
        for (uint32_t i = 0; i < w->tensors[t].n_producers + w->tensors[t].n_consumers; i++) {
            const uint32_t n = w->tensors[t].n_producers;
            const uint32_t e = i < n ? w->tensors[t].producers[i] : w->tensors[t].consumers[i - n];
            const uint32_t at_e = runs_in(f, stage, e) ? position(work, e, phase, repeated, repeat) : DFL_NONE;

            if (at_e == DFL_NONE)
                continue;
            r.last = r.first == DFL_NONE || at_e > r.last ? at_e : r.last;
            r.first = at_e < r.first ? at_e : r.first; /* DFL_NONE is the largest number */
        }
        if (r.first == DFL_NONE)
            continue;
        overflow |= dfl_held_pass_bits(f, l, t, &r.bits);
        overflow |= dfl_add(at[r.first], r.bits, &at[r.first]);
        overflow |= dfl_sub(at[r.last + 1], r.bits, &at[r.last + 1]);
    }
    for (uint32_t x = 0; x < work->exchanges->n; x++) {
        const dfl_plan_exchange *exchange = &work->exchanges->at[x];
        uint32_t first = position(work, exchange->einsum, phase, repeated, repeat), last = first;

        bool is_scatter = exchange->place == DFL_EXCHANGE_AFTER && exchange->kind == DFL_COLLECTIVE_REDUCE_SCATTER;

        if (f->room_of[exchange->tensor] != memory)
            continue;
        if ((exchange->place != DFL_EXCHANGE_BEFORE && !is_scatter) || first == DFL_NONE || !runs_in(f, stage, exchange->einsum))
            continue;
        for (uint32_t r = 0; r < exchange->n_readers; r++)
            last = exchange->readers[r] > last ? exchange->readers[r] : last;
        overflow |= dfl_add(at[first], exchange->bits, &at[first]);
        overflow |= dfl_sub(at[last + 1], exchange->bits, &at[last + 1]);
    }
    for (uint32_t e = 0; e <= w->n_einsums; e++) {
        overflow |= dfl_add(sum, at[e], &sum);
        *out = sum > *out ? sum : *out;
    }
    return overflow;
}

/* The largest working set of all passes of the stage in one memory. */
static bool find_working(const dfl_plan_work *work, const dfl_layouts *l, const dfl_stage_shape *stage, const bool *stored,
                         uint32_t memory, dfl_i128 *out)
{
    const dfl_workload *w = work->frame->workload;
    bool overflow = false;

    for (dfl_phase phase = DFL_PHASE_FORWARD; phase <= DFL_PHASE_BACKWARD; phase++) {
        overflow |= working_peak(work, l, stage, stored, phase, false, DFL_NONE, memory, out);
        for (uint32_t c = 0; c < w->n_carries; c++)
            overflow |= working_peak(work, l, stage, stored, phase, true, w->carries[c].rank, memory, out);
    }
    return overflow;
}

/* ---- all parts ---- */

/* The part of the memory that a tensor belongs to; DFL_N_HELD = it is none of a home. */
static dfl_held part_of(const dfl_frame *f, const bool *stored, uint32_t tensor)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    if (stored[tensor])
        return DFL_HELD_ACTIVATIONS;
    if (t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return DFL_HELD_GRADIENTS;
    if (t->part == DFL_PART_MOMENT)
        return DFL_HELD_MOMENTS;
    if (t->role == DFL_ROLE_WEIGHT || t->role == DFL_ROLE_STATE)
        return t->role == DFL_ROLE_STATE ? DFL_HELD_CACHE : DFL_HELD_WEIGHTS;
    return t->role == DFL_ROLE_INPUT ? DFL_HELD_OTHER : DFL_N_HELD;
}

/* How often a stage holds what one layer stores of a tensor for the backward pass. */
static dfl_i128 stored_copies(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, uint32_t tensor)
{
    if (!in_repeat(f, &f->workload->tensors[tensor]))
        return dfl_ceil_div(stage->chunks_in_flight, stage->interleave);
    if (has_layers(f, l, tensor))
        return stage->chunks_in_flight * stage->chunk_layers;
    return stage->chunks_in_flight * dfl_frame_iterations(f, f->workload->tensors[tensor].producers[0]);
}

static bool add_bits(dfl_plan_memory *memory, dfl_held part, dfl_i128 bits)
{
    return dfl_add(memory->held[part], bits, &memory->held[part]);
}

/* Adds a tensor outside of the chip: its memory holds all of it, for all chips inside, and the chip the room of two layers. */
static bool add_outside(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, dfl_held part, uint32_t tensor,
                        dfl_plan_memory *all)
{
    const uint64_t inside = dfl_homes_inside(f, f->home_of[tensor]);
    dfl_i128 outside, room, n;
    bool overflow;

    if (part == DFL_HELD_ACTIVATIONS) {
        n = stored_copies(f, l, stage, tensor);
        overflow = dfl_held_joined_bits(f, l, tensor, inside, &outside) || dfl_mul(outside, n, &outside) ||
                   dfl_held_pass_bits(f, l, tensor, &room) || dfl_mul(room, n < 2 ? n : 2, &room);
    } else if (part == DFL_HELD_OTHER) { /* an input: all of the step outside, two micro-batches inside */
        overflow = dfl_held_home_bits(f, l, tensor, dfl_held_layers(f, l, tensor), inside, &outside) ||
                   dfl_held_pass_bits(f, l, tensor, &room) || dfl_mul(room, f->micro_batches < 2 ? 1 : 2, &room);
    } else {
        n = has_layers(f, l, tensor) ? stage->layers : dfl_held_layers(f, l, tensor);
        overflow = dfl_held_home_bits(f, l, tensor, (int64_t)n, inside, &outside) ||
                   dfl_held_home_bits(f, l, tensor, n < 2 ? (int64_t)n : 2, 0, &room);
    }
    return overflow || add_bits(&all[f->home_of[tensor]], part, outside) || add_bits(&all[f->home], part, room);
}

/* Adds what a stage holds of a tensor for the whole step or for its micro-batches in flight. */
static bool add_tensor(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, const bool *stored,
                       uint32_t tensor, dfl_plan_memory *all)
{
    const dfl_held part = part_of(f, stored, tensor);
    dfl_i128 bits = 0;
    bool overflow;

    if (part == DFL_N_HELD)
        return false;
    if (dfl_frame_is_outside(f, tensor))
        return add_outside(f, l, stage, part, tensor, all);
    if (part == DFL_HELD_ACTIVATIONS)
        overflow = dfl_held_pass_bits(f, l, tensor, &bits) || dfl_mul(bits, stored_copies(f, l, stage, tensor), &bits);
    else if (part == DFL_HELD_OTHER && f->workload->tensors[tensor].part == DFL_PART_GRADIENT)
        overflow = dfl_held_pass_bits(f, l, tensor, &bits); /* what starts the backward pass is made for each micro-batch */
    else
        overflow = home_bits(f, l, stage, tensor, &bits);
    return overflow || add_bits(&all[f->home_of[tensor]], part, bits);
}

dfl_plan_memory *dfl_held_find(const dfl_plan_work *work, const dfl_layouts *layouts, const dfl_stage_shape *stage)
{
    const dfl_frame *f = work->frame;
    const bool *stored = dfl_homes_stored(f);
    dfl_plan_memory *out = DFL_NEW_ARRAY(f->arena, dfl_plan_memory, f->system->n_memories);
    bool overflow = false;

    for (uint32_t t = 0; t < f->workload->n_tensors; t++)
        if (is_touched(f, stage, t))
            overflow |= add_tensor(f, layouts, stage, stored, t, out);
    for (uint32_t m = 0; m < f->system->n_memories; m++)
        if (f->system->memories[m].element == f->system->memories[f->home].element)
            overflow |= find_working(work, layouts, stage, stored, m, &out[m].held[DFL_HELD_WORKING]);
    for (uint32_t m = 0; m < f->system->n_memories; m++)
        for (uint32_t h = 0; h < DFL_N_HELD; h++)
            overflow |= dfl_add(out[m].peak_bits, out[m].held[h], &out[m].peak_bits);
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the memory of this plan exceeds 128 bits");
    return overflow ? NULL : out;
}
