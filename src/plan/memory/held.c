#include "plan/memory/held.h"

#include <string.h>

#include "plan/layout/homes.h"
#include "plan/layout/pass_bits.h"
#include "plan/memory/lives.h"

static bool runs_in(const dfl_frame *f, const dfl_stage_shape *stage, uint32_t einsum)
{
    return dfl_frame_runs(f, einsum, stage->has_first, stage->has_last);
}

/* Whether a stage reads an operand only as what another stage sends: a repeat carries the operand into its first iteration. */
static bool is_sent(const dfl_frame *f, const dfl_stage_shape *stage, uint32_t einsum, uint32_t tensor)
{
    const dfl_workload *w = f->workload;
    const uint32_t to = f->stage_slot != DFL_NONE ? dfl_layout_carried(f, einsum, tensor) : DFL_NONE;
    dfl_phase phase;

    if (to == DFL_NONE || w->tensors[to].n_producers == 0 || !dfl_einsum_has_rank(&w->einsums[w->tensors[to].producers[0]],
                                                                                 f->slots[f->stage_slot].stage_rank))
        return false;
    phase = w->einsums[w->tensors[to].producers[0]].phase;
    return phase == DFL_PHASE_BACKWARD ? !stage->has_last : !stage->has_first;
}

/* [tensor]: whether an einsum of the stage reads or writes the tensor, or rows of it. */
static bool *find_touched(const dfl_frame *f, const dfl_stage_shape *stage)
{
    bool *out = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_tensors + 1);

    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        if (!runs_in(f, stage, e))
            continue;
        out[dfl_frame_target(f, e)] = true;
        for (uint32_t i = 0; i < f->workload->einsums[e].n_inputs; i++) {
            const uint32_t tensor = dfl_frame_table(f, f->workload->einsums[e].inputs[i].tensor);

            out[tensor] |= !is_sent(f, stage, e, tensor);
        }
    }
    return out;
}

/* Whether a home has a part of a dimension on a slot; a sum that waits for the end of the step lies whole. */
static bool has_part(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t d, uint32_t s)
{
    return dfl_layout_home(layouts, tensor, s) == (dfl_layout)d && !dfl_layout_is_summed_late(f, layouts, tensor, s);
}

/* Bits of the whole home of a tensor on a chip of the stage; true on overflow. */
static bool home_bits(const dfl_frame *f, const dfl_layouts *layouts, const dfl_stage_shape *stage, uint32_t tensor,
                      dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const int64_t *extents = t->gathered ? t->table_extents : t->extents; /* each part of a table has whole rows */
    bool overflow = false;

    *out = 1;
    if (t->gathered && (dfl_tensor_stored(t, out) || *out == 0))
        return *out != 0;
    *out = t->type.bits;
    for (uint32_t d = 0; d < (t->gathered ? t->n_table_dims : t->n_dims); d++) {
        int64_t extent = extents[d];

        for (uint32_t s = 0; s < f->n_slots; s++)
            if (has_part(f, layouts, tensor, d, s))
                extent = f->slots[s].stages != NULL ? stage->layers : dfl_ceil_div(extent, f->slots[s].count);
        overflow |= dfl_mul(*out, extent, out);
    }
    return overflow;
}

/* ---- what passes ---- */

/* The work of a chunk of the stage, in any phase. */
static dfl_chunk chunk_of(const dfl_stage_shape *stage, uint32_t chunk)
{
    return (dfl_chunk){ .layers = stage->chunks[chunk * stage->flight.stages], .has_first = stage->has_first && chunk == 0,
                        .has_last = stage->has_last && chunk + 1 == stage->flight.interleave };
}

/* The first chunk of the stage with the same work as `chunk`. */
static uint32_t find_equal(const dfl_stage_shape *stage, uint32_t chunk)
{
    const dfl_chunk own = chunk_of(stage, chunk);

    for (uint32_t c = 0; c < chunk; c++) {
        const dfl_chunk other = chunk_of(stage, c);

        if (other.layers == own.layers && other.has_first == own.has_first && other.has_last == own.has_last)
            return c;
    }
    return chunk;
}

/* Adds the room on a chip of what lies outside: two values of a tensor, or as many as there are. True on overflow. */
static bool add_rooms(const dfl_frame *f, const dfl_lives *lives, const dfl_stage_shape *stage, dfl_i128 *out)
{
    const uint32_t n = stage->flight.interleave;
    const dfl_stored *last = NULL; /* most tensors have as many values as the one before */
    bool overflow = false;
    dfl_i128 values = 0;

    for (uint32_t t = 0; t < f->workload->n_tensors && f->is_offloaded; t++) {
        dfl_stored *counts;
        dfl_i128 bits = 0;

        if (!dfl_frame_is_outside(f, t))
            continue;
        counts = DFL_NEW_ARRAY(f->arena, dfl_stored, (size_t)n + 1);
        for (uint32_t c = 0; c < n; c++) {
            const dfl_chunk chunk = chunk_of(stage, c);
            overflow |= dfl_lives_count_outside(lives, &chunk, t, &counts[c], &bits);
        }
        if (last == NULL || memcmp(last, counts, n * sizeof *counts) != 0)
            overflow |= dfl_flight_peak(&stage->flight, counts, &values);
        last = counts;
        overflow |= dfl_mul(bits, values < 2 ? values : 2, &bits) || dfl_add(*out, bits, out);
    }
    return overflow;
}

/* Adds what the micro-batches in flight store, and the working set. True on overflow. */
static bool add_passing(const dfl_frame *f, const dfl_lives *lives, const dfl_stage_shape *stage, dfl_plan_memory *out)
{
    static const struct { dfl_phase phase; dfl_chunk_part part; } operations[] = {
        { DFL_PHASE_FORWARD, DFL_CHUNK_ALL }, { DFL_PHASE_BACKWARD, DFL_CHUNK_ALL },
        { DFL_PHASE_BACKWARD, DFL_CHUNK_WITHOUT_WEIGHTS }, { DFL_PHASE_BACKWARD, DFL_CHUNK_WEIGHTS },
    };
    const uint32_t n = stage->flight.interleave, memories = f->system->n_memories;
    const bool is_split = stage->flight.schedule == DFL_SCHEDULE_ZERO_BUBBLE;
    dfl_stored *stored = DFL_NEW_ARRAY(f->arena, dfl_stored, (size_t)n * memories + 1);
    dfl_i128 *working = DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)memories + 1);
    bool overflow = false;

    for (uint32_t c = 0; c < n; c++) {
        const uint32_t equal = find_equal(stage, c);
        dfl_chunk chunk = chunk_of(stage, c);

        if (equal < c) {
            memcpy(&stored[(size_t)c * memories], &stored[(size_t)equal * memories], memories * sizeof *stored);
            continue;
        }
        overflow |= dfl_lives_store(lives, &chunk, &stored[(size_t)c * memories]);
        for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
            chunk.phase = operations[k].phase;
            chunk.part = operations[k].part;
            if (chunk.phase != DFL_PHASE_BACKWARD || is_split == (chunk.part != DFL_CHUNK_ALL))
                overflow |= dfl_lives_work(lives, &chunk, working);
        }
    }
    overflow |= dfl_lives_work(lives, &(dfl_chunk){ .phase = DFL_PHASE_UPDATE, .layers = stage->layers,
                                                    .has_first = stage->has_first, .has_last = stage->has_last }, working);
    for (uint32_t m = 0; m < memories; m++) {
        dfl_stored *of_memory = DFL_NEW_ARRAY(f->arena, dfl_stored, (size_t)n + 1);

        for (uint32_t c = 0; c < n; c++)
            of_memory[c] = stored[(size_t)c * memories + m];
        overflow |= dfl_flight_peak(&stage->flight, of_memory, &out[m].held[DFL_HELD_ACTIVATIONS]);
        out[m].held[DFL_HELD_WORKING] = working[m];
    }
    return overflow | add_rooms(f, lives, stage, &out[f->home].held[DFL_HELD_ACTIVATIONS]);
}

/* ---- all parts ---- */

/* The part of the memory that a tensor belongs to; DFL_N_HELD = it is none of a home. */
static dfl_held part_of(const dfl_frame *f, uint32_t tensor)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    if (t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return DFL_HELD_GRADIENTS;
    if (t->part == DFL_PART_MOMENT)
        return DFL_HELD_MOMENTS;
    if (t->role == DFL_ROLE_WEIGHT || t->role == DFL_ROLE_STATE)
        return t->role == DFL_ROLE_STATE ? DFL_HELD_CACHE : DFL_HELD_WEIGHTS;
    return t->role == DFL_ROLE_INPUT || dfl_lives_is_result(f, tensor) ? DFL_HELD_OTHER : DFL_N_HELD;
}

static bool add_bits(dfl_plan_memory *memory, dfl_held part, dfl_i128 bits)
{
    return dfl_add(memory->held[part], bits, &memory->held[part]);
}

/* Layers of which a chip of the stage holds a part of a tensor. */
static int64_t held_layers(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, uint32_t tensor)
{
    return dfl_pass_has_layers(f, l, tensor) ? stage->layers : dfl_pass_layers(f, l, tensor);
}

/* Adds a tensor outside of the chip: its memory holds all of it, for all chips inside, and the chip the room of two layers. */
static bool add_outside(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, dfl_held part, uint32_t tensor,
                        dfl_plan_memory *all)
{
    const uint64_t inside = dfl_homes_inside(f, f->home_of[tensor]);
    dfl_i128 outside, room, n;
    bool overflow;

    if (part == DFL_HELD_OTHER) { /* an input or a result: all of the step outside, two micro-batches inside */
        overflow = dfl_pass_home_bits(f, l, tensor, dfl_pass_layers(f, l, tensor), inside, &outside) ||
                   dfl_pass_bits(f, l, tensor, &room) || dfl_mul(room, f->micro_batches < 2 ? 1 : 2, &room);
    } else {
        n = held_layers(f, l, stage, tensor);
        overflow = dfl_pass_home_bits(f, l, tensor, (int64_t)n, inside, &outside) ||
                   dfl_pass_home_bits(f, l, tensor, n < 2 ? (int64_t)n : 2, 0, &room);
    }
    return overflow || add_bits(&all[f->home_of[tensor]], part, outside) || add_bits(&all[f->home], part, room);
}

/* Number of groups of passes (1 or more, at most the micro-batches): passes of one group add to the same elements of a result,
   those of two groups make different ones. */
static int64_t passes_of(const dfl_frame *f, uint32_t tensor)
{
    const uint32_t maker = f->workload->tensors[tensor].producers[0];
    const dfl_einsum *e = &f->workload->einsums[maker];
    int64_t n = 1; /* at most the number of micro-batches */

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (!f->repeats[e->ranks[i]] && dfl_access_has_rank(&e->output, e->ranks[i]))
            n *= dfl_ceil_div(dfl_frame_local(f, maker, e->ranks[i]), dfl_frame_pass(f, maker, e->ranks[i]));
    return n;
}

/* Bits of a result of the step on a chip of the stage, of all micro-batches. Where data select the chip of an element, each
   micro-batch has the room of the largest. True on overflow. */
static bool result_bits(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, uint32_t tensor, dfl_i128 *out)
{
    if (dfl_layout_is_by_rows(f, l, tensor))
        return dfl_pass_bits(f, l, tensor, out) || dfl_mul(*out, passes_of(f, tensor), out) ||
               dfl_mul(*out, held_layers(f, l, stage, tensor), out);
    if (dfl_tensor_carry(f->workload, tensor) == NULL)
        return home_bits(f, l, stage, tensor, out);
    return stage->has_last && dfl_pass_home_bits(f, l, tensor, 1, 0, out);
}

/* Adds what a stage holds of a tensor for the whole step. */
static bool add_tensor(const dfl_frame *f, const dfl_layouts *l, const dfl_stage_shape *stage, uint32_t tensor,
                       dfl_plan_memory *all)
{
    const dfl_held part = part_of(f, tensor);
    dfl_i128 bits = 0;
    bool overflow;

    if (part == DFL_N_HELD)
        return false;
    if (dfl_frame_is_outside(f, tensor))
        return add_outside(f, l, stage, part, tensor, all);
    if ((part == DFL_HELD_OTHER && f->workload->tensors[tensor].part == DFL_PART_GRADIENT) ||
        (part == DFL_HELD_GRADIENTS && dfl_layout_is_by_rows(f, l, tensor))) {
        /* what starts the backward pass is made for each micro-batch, and for each layer that has a result of its own */
        overflow = dfl_pass_bits(f, l, tensor, &bits) || dfl_mul(bits, held_layers(f, l, stage, tensor), &bits);
    } else if (f->workload->tensors[tensor].role == DFL_ROLE_OUTPUT) {
        overflow = result_bits(f, l, stage, tensor, &bits);
    } else {
        overflow = home_bits(f, l, stage, tensor, &bits);
    }
    return overflow || add_bits(&all[f->home_of[tensor]], part, bits);
}

void dfl_held_report(const dfl_frame *f)
{
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the memory of this plan exceeds 128 bits");
}

dfl_plan_memory *dfl_held_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_lives *lives,
                               const dfl_stage_shape *stage)
{
    const bool *is_touched = find_touched(f, stage);
    dfl_plan_memory *out = DFL_NEW_ARRAY(f->arena, dfl_plan_memory, f->system->n_memories);
    bool overflow = false;

    for (uint32_t t = 0; t < f->workload->n_tensors; t++)
        if (is_touched[t])
            overflow |= add_tensor(f, layouts, stage, t, out);
    overflow |= add_passing(f, lives, stage, out);
    for (uint32_t m = 0; m < f->system->n_memories; m++)
        for (uint32_t h = 0; h < DFL_N_HELD; h++)
            overflow |= dfl_add(out[m].peak_bits, out[m].held[h], &out[m].peak_bits);
    if (overflow)
        dfl_held_report(f);
    return overflow ? NULL : out;
}
