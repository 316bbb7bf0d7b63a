#include "plan/layout/offload.h"

#include <math.h>

#include "plan/layout/homes.h"
#include "plan/layout/lines.h"
#include "plan/layout/pass_bits.h"

/* ---- data ---- */

/* Chips inside of one instance of a memory. */
static int64_t count_chips(const dfl_frame *f, uint32_t memory)
{
    int64_t n = 1;

    for (uint32_t a = 0; a < f->system->n_axes; a++)
        if (dfl_frame_is_chip_axis(f, a) && !dfl_axis_encloses(f->system, a, f->system->memories[memory].element))
            n *= f->system->axes[a].size; /* the product of all axes has 63 bits */
    return n;
}

/* The span of the keep of a tensor. */
static dfl_span keep_span(const dfl_frame *f, uint32_t tensor)
{
    for (uint32_t i = 0; i < f->mapping->root->n_lines; i++)
        if (f->mapping->root->lines[i].kind == DFL_LINE_KEEP && f->mapping->root->lines[i].tensor == tensor)
            return f->mapping->root->lines[i].span;
    return f->mapping->span;
}

/* Refuses homes of which the plan says too little to time their transfers. */
static bool check_tensor(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    const dfl_stages *stages = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stages : NULL;
    const dfl_span span = keep_span(f, tensor);

    if (stages != NULL && stages->schedule == DFL_SCHEDULE_ZERO_BUBBLE)
        return dfl_frame_refuse(f, span, "a home outside of the chips with `zero_bubble`", "use `one_f_one_b`");
    if (stages != NULL && (dfl_homes_inside(f, f->home_of[tensor]) >> f->stage_slot & 1) != 0)
        return dfl_frame_refuse(f, span, "a memory that several stages share",
                                "put the stages on an axis outside of this memory, so that its chips do the same");
    for (uint32_t c = 0; c < f->workload->n_carries; c++)
        if (f->workload->carries[c].from == tensor && dfl_tensor_carry(f->workload, tensor) != NULL &&
            f->workload->tensors[tensor].part == DFL_PART_PLAIN)
            return dfl_frame_refuse(f, span, "a home outside of the chips for what one `repeat` carries into another one",
                                    "keep it on the chip");
    if (dfl_layout_is_by_rows(f, layouts, tensor))
        return dfl_frame_refuse(f, span, "a home outside of the chips for rows that data select", "keep it on the chip");
    return true;
}

/* Time of a port for `bits`, in pieces of `piece` bits. */
static double port_seconds(const dfl_memory *m, double rate, dfl_i128 bits, dfl_i128 piece)
{
    const double share = m->efficiency != NULL ? dfl_efficiency_share(m->efficiency, dfl_i128_double(piece)) : 1;

    return bits > 0 && isfinite(rate) ? dfl_i128_double(bits) / (rate * share) : 0;
}

/* Sets the data of a tensor. Each chip reads what it needs; of what several chips hold alike one writes. */
static bool set_port(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_offload_port *out)
{
    const dfl_memory *m = &f->system->memories[f->home_of[tensor]];
    const uint64_t inside = dfl_homes_inside(f, f->home_of[tensor]);
    const bool is_kept = f->workload->tensors[tensor].role == DFL_ROLE_WEIGHT ||
                         f->workload->tensors[tensor].part == DFL_PART_MOMENT;
    dfl_i128 piece = 0;
    bool overflow;

    out->layers = is_kept ? dfl_pass_layers(f, layouts, tensor) : 1;
    overflow = is_kept ? dfl_pass_home_bits(f, layouts, tensor, 1, 0, &piece) ||
                         dfl_pass_home_bits(f, layouts, tensor, 1, inside, &out->written_bits)
                       : dfl_pass_bits(f, layouts, tensor, &piece) ||
                         dfl_joined_bits(f, layouts, tensor, inside, &out->written_bits);
    overflow = overflow || dfl_mul(piece, count_chips(f, f->home_of[tensor]), &out->read_bits);
    if (overflow) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, keep_span(f, tensor), "the data of this home exceeds 128 bits");
        return false;
    }
    if (m->efficiency != NULL && dfl_efficiency_share(m->efficiency, dfl_i128_double(piece)) <= 0) {
        dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, keep_span(f, tensor),
                                 "a transfer of this tensor is smaller than the first point of the efficiency of `%s`",
                                 dfl_sym_text(f->names, m->name));
        dfl_diag_help(f->sink, d, "add a point for smaller transfers");
        return false;
    }
    out->read_seconds = port_seconds(m, m->read_rate, out->read_bits, piece);
    out->write_seconds = port_seconds(m, m->write_rate, out->written_bits, piece);
    return true;
}

bool dfl_offload_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_offload **out)
{
    dfl_offload_port *of;
    dfl_offload *all;

    *out = NULL;
    if (!f->is_offloaded)
        return true;
    of = DFL_NEW_ARRAY(f->arena, dfl_offload_port, (size_t)f->workload->n_tensors + 1);
    for (uint32_t t = 0; t < f->workload->n_tensors; t++)
        if (dfl_frame_is_outside(f, t) && (!check_tensor(f, layouts, t) || !set_port(f, layouts, t, &of[t])))
            return false;
    all = DFL_NEW(f->arena, dfl_offload);
    *all = (dfl_offload){ .of = of, .stored = dfl_homes_stored(f) };
    *out = all;
    return true;
}

/* ---- passes ---- */

/* Whether an einsum of the forward pass finds an operand on the chip: made in this pass, or carried from the pass before. */
static bool is_there(const dfl_frame *f, uint32_t einsum, uint32_t tensor, const bool *made)
{
    return made[tensor] || dfl_layout_carried(f, einsum, tensor) != DFL_NONE || dfl_tensor_carry(f->workload, tensor) != NULL;
}

/* Adds the data of a tensor once. */
static bool add_data(const dfl_frame *f, const dfl_offload *o, dfl_phase phase, uint32_t tensor, bool is_write, bool *seen,
                     dfl_offload_busy *busy)
{
    const dfl_offload_port *port = &o->of[tensor];
    const size_t at = 2 * (size_t)f->home_of[tensor] + is_write;
    const int64_t layers = phase == DFL_PHASE_UPDATE ? port->layers : 1;
    dfl_i128 bits;

    if (!dfl_frame_is_outside(f, tensor) || seen[2 * (size_t)tensor + is_write])
        return false;
    seen[2 * (size_t)tensor + is_write] = true;
    busy->seconds[at] += (double)layers * (is_write ? port->write_seconds : port->read_seconds);
    return dfl_mul(is_write ? port->written_bits : port->read_bits, layers, &bits) ||
           dfl_add(busy->bits[at], bits, &busy->bits[at]);
}

/* The readers of a carried tensor in the backward pass: in the same layer, in the next one, behind the repeat. */
typedef struct { bool own, next, final; } carried_readers;

static carried_readers find_readers(const dfl_frame *f, uint32_t carried, uint32_t rank)
{
    const dfl_workload *w = f->workload;
    carried_readers out = { 0 };

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const uint32_t t = w->einsums[e].inputs[i].tensor;

            if (w->einsums[e].phase != DFL_PHASE_BACKWARD && !dfl_frame_is_again(f, e))
                continue;
            out.next |= dfl_layout_carried(f, e, t) == carried;
            if (t == carried)
                *(dfl_einsum_has_rank(&w->einsums[e], rank) ? &out.own : &out.final) = true;
        }
    return out;
}

/* Whether the value that a repeat carries into its first layer is stored with those of the other layers: it is made once, and not
   stored by itself. */
static bool is_with_layers(const dfl_frame *f, const dfl_offload *o, uint32_t from)
{
    return f->workload->tensors[from].n_producers > 0 && !f->recomputed[from] && !o->stored[from];
}

/* Whether the forward pass of an einsum writes an operand, which a repeat carries: each layer writes what it reads, as a stage
   does with what another one sends; what is read behind the last layer is written there. If a layer reads its own result in the
   backward pass, the layer has written it, and only the first one of a stage writes what it reads. */
static bool writes_operand(const dfl_frame *f, const dfl_offload *o, uint32_t einsum, uint32_t tensor, dfl_offload_layer layer)
{
    const uint32_t into = dfl_layout_carried(f, einsum, tensor), carried = into != DFL_NONE ? into : tensor;
    const dfl_carry *carry = dfl_tensor_carry(f->workload, carried);
    carried_readers readers;

    if (carry == NULL || !o->stored[carried])
        return false;
    readers = find_readers(f, carried, carry->rank);
    if (into == DFL_NONE)
        return readers.final && !readers.own && !dfl_einsum_has_rank(&f->workload->einsums[einsum], carry->rank);
    return readers.next && (layer == DFL_OFFLOAD_FIRST ? is_with_layers(f, o, tensor)
                                                       : layer == DFL_OFFLOAD_SENT || !readers.own);
}

/* The tensor in whose place a layer reads an operand in the backward pass. */
static uint32_t stored_operand(const dfl_frame *f, const dfl_offload *o, uint32_t einsum, uint32_t tensor,
                               dfl_offload_layer layer)
{
    const uint32_t carried = dfl_layout_carried(f, einsum, tensor);

    return carried == DFL_NONE || (layer == DFL_OFFLOAD_FIRST && !is_with_layers(f, o, tensor)) ? tensor : carried;
}

/* Whether an einsum of the forward pass writes its result: a carried one is written by its readers, if its own layer does not
   read it again. */
static bool writes_result(const dfl_frame *f, const dfl_offload *o, uint32_t result)
{
    const dfl_carry *carry = dfl_tensor_carry(f->workload, result);

    return o->stored[result] && (carry == NULL || find_readers(f, result, carry->rank).own);
}

bool dfl_offload_pass(const dfl_frame *f, const dfl_offload *o, dfl_phase phase, dfl_offload_layer layer, const uint32_t *einsums,
                      size_t n, dfl_offload_busy *busy)
{
    const dfl_workload *w = f->workload;
    bool *made = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_tensors + 1), overflow = false;
    bool *seen = DFL_NEW_ARRAY(f->arena, bool, 2 * (size_t)w->n_tensors + 1);

    busy->seconds = DFL_NEW_ARRAY(f->arena, double, 2 * (size_t)f->system->n_memories);
    busy->bits = DFL_NEW_ARRAY(f->arena, dfl_i128, 2 * (size_t)f->system->n_memories);
    for (size_t k = 0; k < n; k++)
        made[w->einsums[einsums[k]].output.tensor] |= w->einsums[einsums[k]].phase == DFL_PHASE_FORWARD;
    for (size_t k = 0; k < n; k++) {
        const dfl_einsum *e = &w->einsums[einsums[k]];
        const uint32_t result = e->output.tensor;

        for (uint32_t i = 0; i < e->n_inputs; i++) {
            const uint32_t t = e->inputs[i].tensor, carried = dfl_layout_carried(f, einsums[k], t);
            const bool is_input = layer == DFL_OFFLOAD_FIRST && w->tensors[t].n_producers == 0;

            if (phase != DFL_PHASE_FORWARD || is_input || !is_there(f, einsums[k], t, made))
                overflow |= add_data(f, o, phase, phase == DFL_PHASE_BACKWARD ? stored_operand(f, o, einsums[k], t, layer) : t,
                                     false, seen, busy);
            if (phase == DFL_PHASE_FORWARD && writes_operand(f, o, einsums[k], t, layer))
                overflow |= add_data(f, o, phase, carried != DFL_NONE ? carried : t, true, seen, busy);
            if (dfl_einsum_renews(w, e, i))
                overflow |= add_data(f, o, phase, t, true, seen, busy);
        }
        if (e->phase == phase && (phase == DFL_PHASE_UPDATE || writes_result(f, o, result)))
            overflow |= add_data(f, o, phase, result, true, seen, busy);
    }
    busy->longest = 0;
    for (uint32_t m = 0; m < f->system->n_memories; m++) {
        const double reads = busy->seconds[2 * m], writes = busy->seconds[2 * m + 1];

        busy->longest = fmax(busy->longest, f->system->memories[m].one_port ? reads + writes : fmax(reads, writes));
    }
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the data outside of the chips exceeds 128 bits");
    return !overflow;
}
