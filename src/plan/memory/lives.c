#include "plan/memory/lives.h"

#include <string.h>

#include "plan/layout/homes.h"
#include "plan/layout/masks.h"
#include "plan/layout/pass_bits.h"

/* When a value is no longer needed, if it outlives the operation that makes it. */
typedef enum { ENDS_HERE, UNTIL_BACKWARD, UNTIL_WEIGHTS } life_end;

/* Readers of the values that a tensor has in the layers: of its own layer (or the one value of a tensor without layers), of the
   next layer, to which a repeat carries it, and einsums behind the last layer. */
enum { OWN, NEXT, FINAL, N_READERS };

/* Layers of an operation stand for all: the first, one between, the last. Beside them the value that another chunk has sent, and
   the one of a tensor without layers. */
enum { LAYERS = 3, SENT = LAYERS, SINGLE, N_PLACES };

typedef struct {
    bool passes;               /* made in the step, and neither held for all of it nor part of a sum over the step */
    bool is_again;             /* made again in the backward pass */
    bool leaves;               /* that of the last iteration is a result of the step */
    uint32_t repeat;           /* of its producer, or DFL_NONE */
    dfl_phase phase;           /* that makes it */
    dfl_i128 bits;             /* of one micro-batch and layer on a chip */
    bool is_outside;           /* stored outside of the chip */
    uint32_t memory;           /* where it is stored */
    dfl_i128 stored_bits;      /* as `bits`, in this memory: of all chips that share it */
    life_end ends[N_READERS];  /* by readers of a later operation */
} tensor_life;

/* Working sets of operations that were found, to be used again. One depends on the number of layers of a chunk only up to LAYERS;
   that of the optimizer depends on the whole number. */
enum { N_PARTS = 3, N_WORKS = 3 * N_PARTS * (LAYERS + 1) * 4 };
typedef struct {
    int64_t layers;            /* number of layers of the chunk; 0 = none was found yet, or the chunk has none */
    dfl_i128 *of_memory;       /* [memory]: bits; NULL = not found yet */
    bool overflow;
} found_work;

struct dfl_lives {
    dfl_arena *arena;
    const dfl_plan_work *work;
    tensor_life *tensors;
    found_work *works;         /* [N_WORKS]: by phase, part, layers, has_first, has_last */
    bool is_split;             /* gradients of weights are operations of their own */
    bool has_updates;
};

/* ---- tensors ---- */

/* Whether a tensor is made in a repeat whose iterations differ by conditions. */
static bool is_of_elimination(const dfl_frame *f, uint32_t tensor)
{
    const dfl_workload *w = f->workload;
    const uint32_t repeat = dfl_frame_repeat(f, &w->einsums[w->tensors[tensor].producers[0]]);

    for (uint32_t e = 0; e < w->n_einsums && repeat != DFL_NONE; e++)
        if (dfl_einsum_has_rank(&w->einsums[e], repeat) && dfl_mask_varies(f, e))
            return true;
    return false;
}

bool dfl_lives_is_result(const dfl_frame *f, uint32_t tensor)
{
    const dfl_workload *w = f->workload;

    if (w->tensors[tensor].role != DFL_ROLE_OUTPUT || w->tensors[tensor].part != DFL_PART_PLAIN)
        return false;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].part == DFL_PART_GRADIENT && w->tensors[t].of == tensor && w->tensors[t].role == DFL_ROLE_INPUT)
            return false;
    return !is_of_elimination(f, tensor);
}

static bool passes(const dfl_frame *f, uint32_t tensor)
{
    const dfl_workload *w = f->workload;
    const dfl_tensor *t = &w->tensors[tensor];

    return t->n_producers > 0 && (t->role == DFL_ROLE_INTERMEDIATE || t->role == DFL_ROLE_OUTPUT) &&
           (t->part == DFL_PART_PLAIN || w->tensors[t->of].role != DFL_ROLE_WEIGHT) &&
           (!dfl_lives_is_result(f, tensor) || dfl_tensor_carry(w, tensor) != NULL);
}

static bool runs_backward(const dfl_plan_work *work, uint32_t einsum)
{
    const dfl_einsum *e = &work->frame->workload->einsums[einsum];

    return e->phase == DFL_PHASE_BACKWARD || (e->phase == DFL_PHASE_FORWARD && work->is_recomputed[e->output.tensor]);
}

/* Whether an einsum runs in the operation of the gradients of weights. */
static bool is_of_weights(const dfl_lives *l, uint32_t einsum)
{
    const dfl_workload *w = l->work->frame->workload;
    const dfl_tensor *t = &w->tensors[dfl_frame_target(l->work->frame, einsum)];

    return l->is_split && w->einsums[einsum].phase == DFL_PHASE_BACKWARD && t->part == DFL_PART_GRADIENT &&
           w->tensors[t->of].role == DFL_ROLE_WEIGHT;
}

/* Which readers of a tensor an einsum belongs to. */
static int reader_of(const dfl_lives *l, uint32_t tensor, uint32_t einsum)
{
    const uint32_t repeat = l->tensors[tensor].repeat;

    return repeat == DFL_NONE || dfl_einsum_has_rank(&l->work->frame->workload->einsums[einsum], repeat) ? OWN : FINAL;
}

/* Notes that an einsum of the backward pass reads a tensor. */
static void note_reader(dfl_lives *l, uint32_t tensor, int reader, uint32_t einsum)
{
    tensor_life *t = &l->tensors[tensor];
    const bool is_made_before = t->phase == DFL_PHASE_FORWARD && !t->is_again;
    const life_end end = is_of_weights(l, einsum) ? UNTIL_WEIGHTS : is_made_before ? UNTIL_BACKWARD : ENDS_HERE;

    if (end > t->ends[reader])
        t->ends[reader] = end;
}

/* Finds where a tensor is stored: what a repeat carries into its first layer lies with what it carries on. True on overflow. */
static bool find_memory(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, tensor_life *t)
{
    t->memory = f->home_of[tensor];
    t->is_outside = dfl_frame_is_outside(f, tensor);
    for (uint32_t c = 0; c < f->workload->n_carries && !t->is_outside; c++)
        if (f->workload->carries[c].from == tensor && dfl_frame_is_outside(f, f->workload->carries[c].to)) {
            t->memory = f->home_of[f->workload->carries[c].to];
            t->is_outside = true;
        }
    t->stored_bits = t->bits;
    return t->is_outside && dfl_joined_bits(f, layouts, tensor, dfl_homes_inside(f, t->memory), &t->stored_bits);
}

bool dfl_lives_find(const dfl_plan_work *work, const dfl_layouts *layouts, dfl_lives **out)
{
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    dfl_lives *l = DFL_NEW(f->arena, dfl_lives);
    bool overflow = false;

    *l = (dfl_lives){ .arena = f->arena, .work = work, .tensors = DFL_NEW_ARRAY(f->arena, tensor_life, (size_t)w->n_tensors + 1),
                      .works = DFL_NEW_ARRAY(f->arena, found_work, N_WORKS),
                      .is_split = f->stage_slot != DFL_NONE &&
                                  f->slots[f->stage_slot].stages->schedule == DFL_SCHEDULE_ZERO_BUBBLE };
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const dfl_tensor *t = &w->tensors[i];

        if (!passes(f, i))
            continue;
        l->tensors[i] = (tensor_life){ .passes = true, .is_again = work->is_recomputed[i], .leaves = dfl_lives_is_result(f, i),
                                       .phase = w->einsums[t->producers[0]].phase,
                                       .repeat = dfl_frame_repeat(f, &w->einsums[t->producers[0]]) };
        overflow |= dfl_pass_bits(f, layouts, i, &l->tensors[i].bits) || find_memory(f, layouts, i, &l->tensors[i]);
    }
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; runs_backward(work, e) && i < w->einsums[e].n_inputs; i++) {
            const uint32_t t = w->einsums[e].inputs[i].tensor, carried = dfl_layout_carried(f, e, t);

            if (carried != DFL_NONE && l->tensors[carried].passes)
                note_reader(l, carried, NEXT, e);
            if (l->tensors[t].passes)
                note_reader(l, t, carried != DFL_NONE && l->tensors[t].repeat != DFL_NONE ? FINAL : reader_of(l, t, e), e);
        }
    *out = l;
    return overflow;
}

/* ---- what is stored ---- */

static life_end later(life_end a, life_end b) { return a > b ? a : b; }

/* Whether a phase begins with a chunk, and whether it ends with it: the backward pass begins behind the repeat. */
static bool is_start(const dfl_chunk *chunk, dfl_phase phase)
{
    return phase == DFL_PHASE_BACKWARD ? chunk->has_last : chunk->has_first;
}
static bool is_end(const dfl_chunk *chunk, dfl_phase phase)
{
    return phase == DFL_PHASE_BACKWARD ? chunk->has_first : chunk->has_last;
}

/* When the value of a place ends: of layer `place` of `n`, the one that was sent, or the only one. */
static life_end end_of(const tensor_life *t, const dfl_chunk *chunk, uint32_t place, int64_t n)
{
    if (place == SENT)
        return t->ends[NEXT];
    if (place == SINGLE)
        return t->ends[OWN];
    if (place + 1 < n)
        return later(t->ends[OWN], t->ends[NEXT]);
    if (!is_end(chunk, t->phase))
        return t->ends[OWN];
    return t->leaves ? ENDS_HERE : later(t->ends[OWN], t->ends[FINAL]);
}

/* Adds `n` values of `bits` of a tensor. True on overflow. */
static bool store(const tensor_life *t, life_end end, int64_t n, dfl_i128 bits, dfl_stored *out)
{
    const bool is_backward = t->phase == DFL_PHASE_BACKWARD || t->is_again;
    dfl_i128 *to = end == UNTIL_BACKWARD ? &out->until_backward : is_backward ? &out->from_backward : &out->until_weights;
    dfl_i128 all;

    return end != ENDS_HERE && (dfl_mul(bits, n, &all) || dfl_add(*to, all, to));
}

/* Adds the values that one micro-batch stores of a tensor in a chunk, each of `bits`. True on overflow. */
static bool store_tensor(const dfl_lives *l, const dfl_chunk *chunk, uint32_t tensor, dfl_i128 bits, dfl_stored *out)
{
    const dfl_frame *f = l->work->frame;
    const tensor_life *t = &l->tensors[tensor];
    bool overflow = false;
    int64_t n;

    if (!t->passes || !dfl_frame_runs(f, f->workload->tensors[tensor].producers[0], chunk->has_first, chunk->has_last))
        return false;
    if (t->repeat == DFL_NONE)
        return store(t, end_of(t, chunk, SINGLE, 1), 1, bits, out);
    n = dfl_chunk_iterations(f, chunk, f->workload->tensors[tensor].producers[0]);
    overflow |= n > 1 && store(t, end_of(t, chunk, 0, n), n - 1, bits, out);
    overflow |= store(t, end_of(t, chunk, (uint32_t)(n > 1), n > 1 ? 2 : 1), 1, bits, out);
    return overflow | (!is_start(chunk, t->phase) && store(t, end_of(t, chunk, SENT, n), 1, bits, out));
}

/* Whether both the backward operation and that of the gradients of weights read the copy of an exchange. */
static bool is_copy_of_both(const dfl_lives *l, const dfl_plan_exchange *x)
{
    bool has_weights = false, has_others = false;

    for (uint32_t r = 0; r < x->n_readers && x->phase == DFL_PHASE_BACKWARD; r++)
        *(is_of_weights(l, x->readers[r]) ? &has_weights : &has_others) = true;
    return has_weights && has_others;
}

/* Adds the copies of exchanges that stay between operations. True on overflow. */
static bool store_copies(const dfl_lives *l, const dfl_chunk *chunk, dfl_stored *of_memory)
{
    const dfl_frame *f = l->work->frame;
    bool overflow = false;
    dfl_i128 bits;

    for (uint32_t i = 0; i < l->work->exchanges->n && l->is_split; i++) {
        const dfl_plan_exchange *x = &l->work->exchanges->at[i];
        dfl_stored *out = &of_memory[f->room_of[x->tensor]];

        if (is_copy_of_both(l, x) && dfl_frame_runs(f, x->einsum, chunk->has_first, chunk->has_last))
            overflow |= dfl_mul(x->bits, dfl_chunk_iterations(f, chunk, x->einsum), &bits) ||
                        dfl_add(out->from_backward, bits, &out->from_backward);
    }
    return overflow;
}

bool dfl_lives_store(const dfl_lives *l, const dfl_chunk *chunk, dfl_stored *of_memory)
{
    const dfl_frame *f = l->work->frame;
    bool overflow = store_copies(l, chunk, of_memory);

    for (uint32_t i = 0; i < f->workload->n_tensors; i++)
        overflow |= store_tensor(l, chunk, i, l->tensors[i].stored_bits, &of_memory[l->tensors[i].memory]);
    return overflow;
}

bool dfl_lives_count_outside(const dfl_lives *l, const dfl_chunk *chunk, uint32_t tensor, dfl_stored *out, dfl_i128 *bits)
{
    const dfl_workload *w = l->work->frame->workload;
    bool overflow = false;

    *bits = l->tensors[tensor].bits;
    if (!l->tensors[tensor].is_outside || !dfl_frame_is_outside(l->work->frame, tensor))
        return false;
    for (uint32_t c = 0; c < w->n_carries; c++) /* the first layer reads it in the place of this tensor */
        if (w->carries[c].to == tensor && l->tensors[w->carries[c].from].is_outside)
            overflow |= store_tensor(l, chunk, w->carries[c].from, 1, out);
    return overflow | store_tensor(l, chunk, tensor, 1, out);
}

/* ---- working set ---- */

/* An einsum of an operation, in a layer (SINGLE: outside of repeats). */
typedef struct { uint32_t einsum, place; } step;

typedef struct {
    const dfl_lives *lives;
    const dfl_chunk *chunk;
    step *steps; uint32_t n_steps;
    uint32_t *at;              /* [einsum * N_PLACES + place]: its step; DFL_NONE = not in the operation */
    uint32_t *first, *last;    /* [tensor * N_PLACES + place]: first and last step that needs the value; DFL_NONE = none */
} operation;

/* Layers that stand for the iterations of the repeat of an einsum. */
static uint32_t layers_of(const operation *o, uint32_t einsum)
{
    const int64_t n = dfl_chunk_iterations(o->lives->work->frame, o->chunk, einsum);

    return n > LAYERS ? LAYERS : (uint32_t)n;
}

static void add_step(operation *o, uint32_t einsum, uint32_t place)
{
    o->at[einsum * N_PLACES + place] = o->n_steps;
    o->steps[o->n_steps++] = (step){ einsum, place };
}

/* Adds the einsums of the forward phase that a backward operation runs again: those of a repeat, or those of none. */
static void add_again(operation *o, uint32_t repeat, uint32_t place)
{
    const dfl_plan_work *work = o->lives->work;

    for (uint32_t e = 0; e < work->frame->workload->n_einsums; e++)
        if (dfl_frame_is_again(work->frame, e) && dfl_frame_repeat(work->frame, &work->frame->workload->einsums[e]) == repeat &&
            dfl_chunk_has(work->frame, o->chunk, e))
            add_step(o, e, place);
}

/* Lists the steps of the operation in the order in which it runs them. */
static void list_steps(operation *o)
{
    const dfl_frame *f = o->lives->work->frame;
    const dfl_workload *w = f->workload;
    const bool has_again = o->chunk->phase == DFL_PHASE_BACKWARD && o->chunk->part != DFL_CHUNK_WEIGHTS;
    const uint32_t outside = has_again ? dfl_chunk_again_outside(f) : DFL_NONE;

    for (uint32_t e = 0, end; e < w->n_einsums; e = end) {
        const uint32_t repeat = dfl_frame_repeat(f, &w->einsums[e]);
        const uint32_t layers = layers_of(o, e);

        for (end = e + 1; end < w->n_einsums && w->einsums[end].phase == w->einsums[e].phase &&
                          dfl_frame_repeat(f, &w->einsums[end]) == repeat;)
            end++;
        if (e == outside)
            add_again(o, DFL_NONE, SINGLE);
        for (uint32_t i = 0; w->einsums[e].phase == o->chunk->phase && i < layers; i++) {
            const uint32_t place = repeat == DFL_NONE || o->chunk->phase == DFL_PHASE_UPDATE ? SINGLE : i;

            if (repeat != DFL_NONE && has_again)
                add_again(o, repeat, place);
            for (uint32_t k = e; k < end; k++)
                if (dfl_chunk_has(f, o->chunk, k))
                    add_step(o, k, place);
        }
    }
}

static void need(operation *o, uint32_t tensor, uint32_t place, uint32_t now)
{
    const size_t i = (size_t)tensor * N_PLACES + place;

    if (o->first[i] == DFL_NONE)
        o->first[i] = now;
    o->last[i] = now;
}

/* Notes that a step reads a tensor, or what a repeat has carried into it. */
static void need_operand(operation *o, uint32_t tensor, const step *s, uint32_t now)
{
    const dfl_frame *f = o->lives->work->frame;
    const tensor_life *t = &o->lives->tensors[tensor];
    const uint32_t carried = dfl_layout_carried(f, s->einsum, tensor);
    const bool is_of_forward = carried != DFL_NONE && o->chunk->phase == DFL_PHASE_BACKWARD &&
                               o->lives->tensors[carried].phase == DFL_PHASE_FORWARD;
    uint32_t layers;

    /* the first layer, which the backward pass runs last, reads what stands before the repeat; the others have stored inputs */
    if (is_of_forward && (s->place + 1 != layers_of(o, s->einsum) || !is_end(o->chunk, DFL_PHASE_BACKWARD)))
        return;
    if (!is_of_forward && carried != DFL_NONE && s->place != SINGLE && s->place > 0)
        need(o, carried, s->place - 1, now);
    else if (!is_of_forward && carried != DFL_NONE && s->place == 0 && !is_start(o->chunk, o->chunk->phase))
        need(o, carried, SENT, now);
    else if (t->passes && t->repeat == DFL_NONE)
        need(o, tensor, SINGLE, now);
    else if (t->passes) {
        layers = layers_of(o, f->workload->tensors[tensor].producers[0]);
        need(o, tensor, reader_of(o->lives, tensor, s->einsum) == OWN && carried == DFL_NONE ? s->place : layers - 1, now);
    }
}

/* Adds what lies in memory from one step to another one. True on overflow. */
static bool add_range(dfl_i128 *at, uint32_t first, uint32_t last, dfl_i128 bits)
{
    return dfl_add(at[first], bits, &at[first]) || dfl_sub(at[last + 1], bits, &at[last + 1]);
}

/* Whether a value of the operation is stored: made in another one, needed by one, or a result of the step. */
static bool is_stored(const operation *o, const tensor_life *t, uint32_t place, uint32_t layers)
{
    const bool is_made_here = t->phase == o->chunk->phase || (t->is_again && o->chunk->phase == DFL_PHASE_BACKWARD);
    const life_end end = end_of(t, o->chunk, place, layers);

    if (!is_made_here || o->chunk->part == DFL_CHUNK_WEIGHTS || (t->leaves && place + 1 == layers && is_end(o->chunk, t->phase)))
        return true;
    return end != ENDS_HERE && !(t->is_again && o->chunk->phase == DFL_PHASE_FORWARD);
}

/* The last step that reads the copy which an exchange brings before a step. */
static uint32_t last_reader(const operation *o, const dfl_plan_exchange *x, uint32_t now)
{
    const uint32_t place = o->steps[now].place;
    uint32_t last = now;

    for (uint32_t r = 0; r < x->n_readers; r++)
        for (uint32_t p = 0; p < N_PLACES; p++) {
            const uint32_t at = o->at[x->readers[r] * N_PLACES + p];

            if (at != DFL_NONE && at > last && (p == place || place == SINGLE))
                last = at;
        }
    return last;
}

/* Sets the bits of the buffer of an exchange: the optimizer runs once for all layers of a stage, and exchanges have the bits of
   the stage with most of them. True on overflow. */
static bool find_buffer(const operation *o, const dfl_plan_exchange *x, dfl_i128 *out)
{
    const dfl_frame *f = o->lives->work->frame;
    const uint32_t rank = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stage_rank : DFL_NONE;
    int64_t most;

    *out = (x->room_bits > 0 ? x->room_bits : x->bits) * (x->parts > 1 ? 2 : 1); /* of parts, one is in use, one on its way */
    if (o->chunk->phase != DFL_PHASE_UPDATE || rank == DFL_NONE || !dfl_einsum_has_rank(&f->workload->einsums[x->einsum], rank))
        return false;
    most = dfl_frame_local(f, x->einsum, rank);
    return dfl_mul(x->bits / most, o->chunk->layers, out);
}

/* Adds the buffers of the exchanges of the steps: copies of operands, and parts of sums that are sent. True on overflow. */
static bool add_buffers(const operation *o, dfl_i128 *at)
{
    const dfl_plan_work *work = o->lives->work;
    bool overflow = false;

    for (uint32_t i = 0; i < work->exchanges->n; i++) {
        const dfl_plan_exchange *x = &work->exchanges->at[i];
        const bool is_parts = x->place == DFL_EXCHANGE_AFTER && (x->kind == DFL_COLLECTIVE_REDUCE_SCATTER || x->is_halo);

        dfl_i128 bits;

        if ((x->place != DFL_EXCHANGE_BEFORE && !is_parts) || is_copy_of_both(o->lives, x))
            continue;
        overflow |= find_buffer(o, x, &bits);
        for (uint32_t p = 0; p < N_PLACES; p++) {
            const uint32_t now = o->at[x->einsum * N_PLACES + p];

            if (now != DFL_NONE)
                overflow |= add_range(&at[work->frame->room_of[x->tensor] * ((size_t)o->n_steps + 1)], now,
                                      is_parts ? now : last_reader(o, x, now), bits);
        }
    }
    return overflow;
}

static operation open_operation(const dfl_lives *l, const dfl_chunk *chunk)
{
    const dfl_frame *f = l->work->frame;
    const size_t einsums = (size_t)f->workload->n_einsums, tensors = (size_t)f->workload->n_tensors;
    operation o = { .lives = l, .chunk = chunk };

    o.steps = DFL_NEW_ARRAY(f->arena, step, einsums * LAYERS + 1);
    o.at = DFL_NEW_ARRAY(f->arena, uint32_t, einsums * N_PLACES + 1);
    o.first = DFL_NEW_ARRAY(f->arena, uint32_t, tensors * N_PLACES + 1);
    o.last = DFL_NEW_ARRAY(f->arena, uint32_t, tensors * N_PLACES + 1);
    memset(o.at, 0xff, einsums * N_PLACES * sizeof *o.at); /* DFL_NONE */
    memset(o.first, 0xff, tensors * N_PLACES * sizeof *o.first);
    list_steps(&o);
    for (uint32_t i = 0; i < o.n_steps; i++) {
        const dfl_einsum *e = &f->workload->einsums[o.steps[i].einsum];

        if (l->tensors[dfl_frame_target(f, o.steps[i].einsum)].passes)
            need(&o, dfl_frame_target(f, o.steps[i].einsum), o.steps[i].place, i);
        for (uint32_t k = 0; k < e->n_inputs; k++)
            need_operand(&o, e->inputs[k].tensor, &o.steps[i], i);
    }
    return o;
}

/* Sets the working set of an operation in each memory. True on overflow. */
static bool find_work(const dfl_lives *l, const dfl_chunk *chunk, dfl_i128 *of_memory)
{
    const dfl_frame *f = l->work->frame;
    const operation o = open_operation(l, chunk);
    const size_t row = (size_t)o.n_steps + 1;
    dfl_i128 *at = DFL_NEW_ARRAY(f->arena, dfl_i128, f->system->n_memories * row + 1);
    bool overflow = false;

    for (uint32_t i = 0; i < f->workload->n_tensors; i++) {
        const tensor_life *t = &l->tensors[i];
        const uint32_t layers = t->passes && t->repeat != DFL_NONE ? layers_of(&o, f->workload->tensors[i].producers[0]) : 1;

        for (uint32_t p = 0; p < N_PLACES && t->passes; p++)
            if (o.first[i * N_PLACES + p] != DFL_NONE && !is_stored(&o, t, p, layers))
                overflow |= add_range(&at[f->room_of[i] * row], o.first[i * N_PLACES + p], o.last[i * N_PLACES + p], t->bits);
    }
    overflow |= add_buffers(&o, at);
    for (uint32_t m = 0; m < f->system->n_memories; m++) {
        dfl_i128 sum = 0;

        for (size_t i = 0; i < row; i++) {
            overflow |= dfl_add(sum, at[m * row + i], &sum);
            of_memory[m] = sum > of_memory[m] ? sum : of_memory[m];
        }
    }
    return overflow;
}

/* The entry of an operation among those that were found. */
static found_work *entry_of(const dfl_lives *l, const dfl_chunk *chunk)
{
    const size_t layers = chunk->layers > LAYERS ? LAYERS : (size_t)chunk->layers;
    const size_t at = ((size_t)chunk->phase * N_PARTS + (size_t)chunk->part) * (LAYERS + 1) + layers;

    return &l->works[(at * 2 + chunk->has_first) * 2 + chunk->has_last];
}

bool dfl_lives_work(const dfl_lives *l, const dfl_chunk *chunk, dfl_i128 *of_memory)
{
    const uint32_t memories = l->work->frame->system->n_memories;
    found_work *found = entry_of(l, chunk);

    if (found->of_memory == NULL || (chunk->phase == DFL_PHASE_UPDATE && found->layers != chunk->layers)) {
        if (found->of_memory == NULL)
            found->of_memory = DFL_NEW_ARRAY(l->arena, dfl_i128, (size_t)memories + 1);
        memset(found->of_memory, 0, memories * sizeof *found->of_memory);
        found->layers = chunk->layers;
        found->overflow = find_work(l, chunk, found->of_memory);
    }
    for (uint32_t m = 0; m < memories; m++)
        of_memory[m] = found->of_memory[m] > of_memory[m] ? found->of_memory[m] : of_memory[m];
    return found->overflow;
}

dfl_lives *dfl_lives_for(const dfl_lives *l, const dfl_plan_work *work)
{
    dfl_lives *out = DFL_NEW(work->frame->arena, dfl_lives);

    *out = *l;
    out->work = work;
    return out;
}
