/*
 * How long what chips make is in memory. A value is there from the pass that makes it to the last pass that reads it. Each stage
 * runs its passes in the order of its schedule: what stays from one operation to a later one is an activation, what is made and
 * used in one operation belongs to the working set. Both peaks are found by adding up, moment by moment.
 */
#include "oracle/chips/life.h"

#include "oracle/chips/memory.h"
#include "oracle/chips/order.h"
#include "oracle/chips/outside.h"

/* ---- notes of the execution ---- */

void dfl_chips_begin(chips *c, uint32_t einsum, dfl_phase phase, int64_t micro_batch, int64_t layer)
{
    DFL_PUSH(c->arena, &c->moments, ((chip_moment){ einsum, phase, micro_batch, layer }));
}

bool dfl_chips_is_passing(const chips *c, uint32_t tensor, int64_t layer)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    if (dfl_chips_is_given_away(c, tensor) && dfl_chips_leaves(c, tensor, layer))
        return false;
    return t->n_producers > 0 && (t->role == DFL_ROLE_INTERMEDIATE || t->role == DFL_ROLE_OUTPUT) &&
           (t->part == DFL_PART_PLAIN || c->w->tensors[t->of].role != DFL_ROLE_WEIGHT);
}

static uint32_t open_value(chips *c, chip_value v)
{
    v.size = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_chips);
    v.outside = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_chips);
    v.uses = DFL_NEW_ARRAY(c->arena, uint32_t *, c->n_stages);
    v.n_uses = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_stages);
    DFL_PUSH(c->arena, &c->values, v);
    return (uint32_t)c->values.n - 1;
}

uint32_t dfl_chips_buffer(chips *c, uint32_t tensor, int64_t layer, const void *of)
{
    return open_value(c, (chip_value){ .tensor = tensor, .layer = layer, .buffer_of = of });
}

uint32_t dfl_chips_value_of(chips *c, uint32_t tensor, int64_t micro_batch, int64_t layer, bool again)
{
    uint32_t first = DFL_NONE, out;

    for (uint32_t i = 0; i < c->values.n; i++) {
        const chip_value *v = &c->values.at[i];

        if (v->buffer_of != NULL || v->tensor != tensor || v->micro_batch != micro_batch || v->layer != layer)
            continue;
        if (v->again == again)
            return i;
        first = i;
    }
    out = open_value(c, (chip_value){ .tensor = tensor, .micro_batch = micro_batch, .layer = layer, .again = again });
    for (uint32_t chip = 0; again && first != DFL_NONE && chip < c->n_chips; chip++)
        c->values.at[out].size[chip] = c->values.at[first].size[chip];
    for (uint32_t i = 0; again && first != DFL_NONE && i < c->tensors[tensor].n_elem; i++)
        if (c->tensors[tensor].live[i] == first + 1)
            c->tensors[tensor].live[i] = out + 1;
    return out;
}

void dfl_chips_use(chips *c, uint32_t value, uint32_t stage)
{
    chip_value *v = &c->values.at[value];
    const uint32_t now = (uint32_t)c->moments.n - 1, n = v->n_uses[stage];
    uint32_t *more;

    if (n > 0 && v->uses[stage][n - 1] == now)
        return;
    if ((n & (n - 1)) == 0) { /* a power of two, or 0: full */
        more = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)n * 2 + 1);
        for (uint32_t i = 0; i < n; i++)
            more[i] = v->uses[stage][i];
        v->uses[stage] = more;
    }
    v->uses[stage][v->n_uses[stage]++] = now;
}

void dfl_chips_use_on(chips *c, uint32_t value, uint64_t stages)
{
    for (uint32_t s = 0; s < c->n_stages && value != DFL_NONE; s++)
        if ((stages >> s & 1) != 0)
            dfl_chips_use(c, value, s);
}

/* Whether a tensor is the gradient that starts the backward pass: given, one micro-batch at a time. */
static bool starts_backward(const chips *c, uint32_t tensor)
{
    return c->w->tensors[tensor].role == DFL_ROLE_INPUT && c->w->tensors[tensor].part == DFL_PART_GRADIENT;
}

void dfl_chips_note_read(chips *c, uint32_t tensor, uint32_t element, uint32_t stage, int64_t micro_batch)
{
    chip_tensor *t = &c->tensors[tensor];

    dfl_chips_note_input(c, tensor, element, micro_batch);
    if (starts_backward(c, tensor) && t->live[element] == 0) {
        const uint32_t value = dfl_chips_value_of(c, tensor, micro_batch, -1, false);

        t->live[element] = value + 1;
        for (uint32_t chip = 0; chip < c->n_chips; chip++)
            c->values.at[value].size[chip] += t->has[chip][element];
    }
    if (t->live[element] != 0)
        dfl_chips_use(c, t->live[element] - 1, stage);
}

/* ---- peaks ---- */

/* Gives each value of a tensor and layer, and each buffer, the room of the largest: a smaller last micro-batch takes the room of
   a whole one. */
static void level_micro_batches(chips *c)
{
    for (size_t i = 0; i < c->values.n; i++)
        for (size_t k = 0; k < c->values.n; k++) {
            chip_value *a = &c->values.at[i], *b = &c->values.at[k];

            if (a->tensor != b->tensor || a->layer != b->layer || a->buffer_of != b->buffer_of)
                continue;
            for (uint32_t chip = 0; chip < c->n_chips; chip++) {
                b->size[chip] = b->size[chip] > a->size[chip] ? b->size[chip] : a->size[chip];
                b->outside[chip] = b->outside[chip] > a->outside[chip] ? b->outside[chip] : a->outside[chip];
            }
        }
}

/* The operations of one stage, and the one to which each moment belongs. */
typedef struct {
    uint32_t stage;
    chip_operation *at; uint32_t n;    /* behind them: the steps of the optimizer */
} stage_order;

/* Whether an einsum without layers stands behind those with layers in its phase. */
static bool is_behind(const chips *c, uint32_t einsum)
{
    for (uint32_t e = 0; e < einsum; e++)
        if (c->w->einsums[e].phase == c->w->einsums[einsum].phase && c->einsums[e].has_layers)
            return true;
    return false;
}

static int64_t chunk_of(const chips *c, const chip_moment *m)
{
    if (c->einsums[m->einsum].has_layers)
        return c->chunk_of_layer[m->layer];
    return is_behind(c, m->einsum) == (c->w->einsums[m->einsum].phase == DFL_PHASE_FORWARD) ? c->interleave - 1 : 0;
}

static uint32_t operation_of(const chips *c, const stage_order *order, const chip_moment *m)
{
    chip_kind kind = m->phase == DFL_PHASE_FORWARD ? CHIPS_FORWARD : CHIPS_BACKWARD;
    bool has_weights = false;

    for (uint32_t i = 0; i < order->n; i++)
        has_weights |= order->at[i].kind == CHIPS_WEIGHTS;
    if (has_weights && kind == CHIPS_BACKWARD && dfl_chips_is_of_step(c, c->einsums[m->einsum].target))
        kind = CHIPS_WEIGHTS;
    for (uint32_t i = 0; i < order->n && m->phase != DFL_PHASE_UPDATE; i++)
        if (order->at[i].kind == kind && order->at[i].chunk == chunk_of(c, m) && order->at[i].micro_batch == m->micro_batch)
            return i;
    return order->n;
}

/* Bits that one chip holds, by memory; `stored` and `waiting` are differences from one operation to the next. */
typedef struct {
    dfl_i128 *stored;          /* [memory * (operations + 2) + operation] */
    dfl_i128 *working;         /* [memory * moments + moment]: of values that live in the operation of the moment alone */
    dfl_i128 *given;           /* [memory * tensors + tensor]: the most of a gradient that starts the backward pass */
    dfl_i128 *waiting;         /* [tensor * (operations + 2) + operation]: values that wait outside of the chips */
    dfl_i128 *largest;         /* [tensor]: bits of the largest of them on the chip */
} chip_room;

/* Adds a value to the room of a chip between its first and its last use on the stage. */
static void add_value(const chips *c, const stage_order *order, const uint32_t *operations, const chip_value *v, uint32_t chip,
                      chip_room *room)
{
    const uint32_t with = c->stored_with[v->tensor];
    const size_t memory = with != DFL_NONE ? c->home : c->home_of[v->tensor];
    const size_t n_operations = (size_t)order->n + 2;
    const dfl_i128 bits = (dfl_i128)v->size[chip] * c->w->tensors[v->tensor].type.bits;
    uint32_t first = UINT32_MAX, last = 0, begun = UINT32_MAX, ended = 0;

    if (v->n_uses[order->stage] == 0)
        return;
    for (uint32_t i = 0; i < v->n_uses[order->stage]; i++) {
        const uint32_t m = v->uses[order->stage][i], o = operations[m];

        first = m < first ? m : first;
        last = m > last ? m : last;
        begun = o < begun ? o : begun;
        ended = o > ended ? o : ended;
    }
    if (v->buffer_of == NULL && starts_backward(c, v->tensor)) {
        dfl_i128 *given = &room->given[memory * c->w->n_tensors + v->tensor];

        *given = bits > *given ? bits : *given;
    } else if (begun < ended && v->buffer_of == NULL && with != DFL_NONE) {
        const dfl_i128 outside = (dfl_i128)v->outside[chip] * c->w->tensors[v->tensor].type.bits;

        room->stored[c->home_of[with] * n_operations + begun] += outside;
        room->stored[c->home_of[with] * n_operations + ended + 1] -= outside;
        room->waiting[with * n_operations + begun]++;
        room->waiting[with * n_operations + ended + 1]--;
        if (bits > room->largest[with]) /* also what starts a repeat, where a stage has no other value */
            room->largest[with] = bits;
    } else if (begun < ended) {
        room->stored[memory * n_operations + begun] += bits;
        room->stored[memory * n_operations + ended + 1] -= bits;
    } else {
        for (uint32_t m = first; m <= last; m++) /* the execution runs other operations between, the stage does not */
            room->working[memory * c->moments.n + m] += operations[m] == begun ? bits : 0;
    }
}

static dfl_i128 peak_of(const dfl_i128 *differences, size_t n)
{
    dfl_i128 sum = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        sum += differences[i];
        most = sum > most ? sum : most;
    }
    return most;
}

/* Finds the peaks of a stage on one of its chips: values take as much room on all of them. */
static void find_stage_peaks(chips *c, const stage_order *order, const uint32_t *operations, uint32_t first)
{
    const size_t n_moments = c->moments.n, n_operations = (size_t)order->n + 2, n_memories = c->s->n_memories;
    chip_room room = { .stored = DFL_NEW_ARRAY(c->arena, dfl_i128, n_memories * n_operations + 1),
                       .working = DFL_NEW_ARRAY(c->arena, dfl_i128, n_memories * n_moments + 1),
                       .given = DFL_NEW_ARRAY(c->arena, dfl_i128, n_memories * c->w->n_tensors + 1),
                       .waiting = DFL_NEW_ARRAY(c->arena, dfl_i128, c->w->n_tensors * n_operations + 1),
                       .largest = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)c->w->n_tensors + 1) };

    for (size_t i = 0; i < c->values.n; i++)
        add_value(c, order, operations, &c->values.at[i], first, &room);
    for (size_t m = 0; m < n_memories; m++) {
        dfl_i128 *held = &c->out->held[(m * c->n_stages + order->stage) * DFL_N_HELD], given = 0;

        for (uint32_t t = 0; t < c->w->n_tensors; t++)
            given += room.given[m * c->w->n_tensors + t];
        held[DFL_HELD_ACTIVATIONS] = peak_of(&room.stored[m * n_operations], n_operations);
        for (uint32_t t = 0; t < c->w->n_tensors && m == c->home; t++) { /* room of two values, if there are as many */
            const dfl_i128 n = peak_of(&room.waiting[t * n_operations], n_operations);

            held[DFL_HELD_ACTIVATIONS] += room.largest[t] * (n < 2 ? n : 2);
        }
        for (size_t i = 0; i < n_moments; i++)
            if (room.working[m * n_moments + i] > held[DFL_HELD_WORKING])
                held[DFL_HELD_WORKING] = room.working[m * n_moments + i];
        for (uint32_t chip = 0; chip < c->n_chips; chip++) {
            const dfl_i128 other = dfl_chips_inputs_of(c, (uint32_t)m, chip) + given;

            if (chips_stage(c, chip) == order->stage && other > held[DFL_HELD_OTHER])
                held[DFL_HELD_OTHER] = other;
        }
    }
}

/* Sets each count to the largest one of the chips of its stage; `n` = [chip]. */
static void level(const chips *c, uint32_t *n)
{
    uint32_t *most = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_stages);

    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        most[chips_stage(c, chip)] = n[chip] > most[chips_stage(c, chip)] ? n[chip] : most[chips_stage(c, chip)];
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        n[chip] = most[chips_stage(c, chip)];
}

/* Gives each value the room that it takes on the chip of its stage with most of it: all chips run the same program. */
static void level_chips(chips *c)
{
    for (size_t i = 0; i < c->values.n; i++) {
        level(c, c->values.at[i].size);
        level(c, c->values.at[i].outside);
    }
}

void dfl_chips_find_peaks(chips *c)
{
    uint32_t *operations = DFL_NEW_ARRAY(c->arena, uint32_t, c->moments.n + 1);

    level_micro_batches(c);
    level_chips(c);
    for (uint32_t s = 0; s < c->n_stages; s++) {
        stage_order order = { .stage = s };

        order.n = dfl_chips_order(c, s, &order.at);
        for (uint32_t m = 0; m < c->moments.n; m++)
            operations[m] = operation_of(c, &order, &c->moments.at[m]);
        for (uint32_t chip = 0; chip < c->n_chips; chip++)
            if (chips_stage(c, chip) == s) {
                find_stage_peaks(c, &order, operations, chip);
                break;
            }
    }
}
