#include "plan/pass/chunk.h"

#include <math.h>
#include <string.h>

#include "plan/layout/passes.h"
#include "plan/pass/iterations.h"
#include "support/vec.h"

/* A point of the list: an einsum, or an exchange. */
typedef struct {
    bool is_exchange;
    uint32_t index;            /* einsum or exchange */
    dfl_step_part part;        /* einsum: the part of the step that its time belongs to */
} task;
typedef DFL_VEC(task) task_vec;

/* A run of an exchange in time. */
typedef struct {
    uint32_t exchange;
    double began, ended;
} exchange_run;

/* Times at which values are there. A tensor has two: the results of its producers, and its home behind the exchanges of these
   results. An exchange before an einsum makes a copy. */
typedef struct {
    const dfl_plan_work *work;
    double *raw, *home;        /* [tensor] */
    double *copy;              /* [exchange] */
    double *ended;             /* [exchange]: end of its last run */
    double *unit_free, *net_free; /* [compute], [network] */
    double front;              /* end of the last einsum */
    DFL_VEC(exchange_run) runs; /* in the order of the list; those before `passed` ended before `front` */
    size_t passed;
    double parts_began;        /* start of the brace with a loop that runs */
    uint32_t *reads;           /* [einsum's first operand + operand]: exchange whose copy it reads; DFL_NONE = the home */
    size_t *first;             /* [einsum]: index of its first operand in `reads` */
    dfl_chunk_time out;
    DFL_VEC(dfl_arrival) arrivals;
} clock_state;

/* ---- which einsums ---- */

/* Whether a tensor is the gradient of a weight. */
static bool is_of_weight(const dfl_frame *f, uint32_t tensor)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    return t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT;
}

bool dfl_chunk_has(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum)
{
    if (chunk->part != DFL_CHUNK_ALL && is_of_weight(f, dfl_frame_target(f, einsum)) != (chunk->part == DFL_CHUNK_WEIGHTS))
        return false;
    if (chunk->is_later && dfl_frame_starts_once(f, einsum))
        return false;
    return dfl_frame_runs(f, einsum, chunk->has_first, chunk->has_last);
}

bool dfl_chunk_splits(const dfl_frame *f, uint32_t a, uint32_t b)
{
    const dfl_stages *stages = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stages : NULL;
    const dfl_einsum *all = f->workload->einsums;

    return stages != NULL && stages->schedule == DFL_SCHEDULE_ZERO_BUBBLE && all[a].phase == DFL_PHASE_BACKWARD &&
           all[b].phase == DFL_PHASE_BACKWARD &&
           is_of_weight(f, dfl_frame_target(f, a)) != is_of_weight(f, dfl_frame_target(f, b));
}

/* Whether an einsum reads what a recomputed einsum outside of repeats makes. */
static bool reads_again_outside(const dfl_frame *f, const dfl_einsum *e)
{
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &f->workload->tensors[e->inputs[i].tensor];

        for (uint32_t k = 0; k < t->n_producers; k++)
            if (dfl_frame_is_again(f, t->producers[k]) &&
                dfl_frame_repeat(f, &f->workload->einsums[t->producers[k]]) == DFL_NONE)
                return true;
    }
    return false;
}

/* Whether the einsums of a repeat that the backward pass runs read what a recomputed einsum outside of repeats makes. */
static bool repeat_needs_outside(const dfl_frame *f, uint32_t repeat)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if ((f->workload->einsums[e].phase == DFL_PHASE_BACKWARD || dfl_frame_is_again(f, e)) &&
            dfl_frame_repeat(f, &f->workload->einsums[e]) == repeat && reads_again_outside(f, &f->workload->einsums[e]))
            return true;
    return false;
}

uint32_t dfl_chunk_again_outside(const dfl_frame *f)
{
    const dfl_workload *w = f->workload;
    uint32_t first = DFL_NONE;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const uint32_t repeat = dfl_frame_repeat(f, &w->einsums[e]);

        if (w->einsums[e].phase != DFL_PHASE_BACKWARD)
            continue;
        if (repeat == DFL_NONE || repeat_needs_outside(f, repeat))
            return e;
        first = first == DFL_NONE ? e : first;
    }
    return first;
}

/* ---- the list ---- */

/* Whether an einsum of the chunk is the last of it that adds to a tensor. */
static bool is_last_of(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum, uint32_t tensor)
{
    if (dfl_frame_target(f, einsum) != tensor)
        return false;
    for (uint32_t e = einsum + 1; e < f->workload->n_einsums; e++)
        if (f->workload->einsums[e].phase == chunk->phase && dfl_frame_target(f, e) == tensor && dfl_chunk_has(f, chunk, e))
            return false;
    return true;
}

bool dfl_chunk_exchanges(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum, const dfl_plan_exchange *x)
{
    if (x->place != DFL_EXCHANGE_BEFORE && is_of_weight(f, x->tensor))
        return is_last_of(f, chunk, einsum, x->tensor);
    return x->einsum == einsum;
}

int64_t dfl_chunk_iterations(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum)
{
    const uint32_t repeat = dfl_frame_repeat(f, &f->workload->einsums[einsum]);

    if (repeat == DFL_NONE || chunk->phase == DFL_PHASE_UPDATE)
        return 1;
    if (f->stage_slot != DFL_NONE && repeat == f->slots[f->stage_slot].stage_rank)
        return chunk->layers;
    return dfl_frame_local(f, einsum, repeat);
}

/* Whether a tensor that an einsum of the chunk reads is made in the same pass, and not before it. */
static bool is_made_in(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t einsum, uint32_t tensor)
{
    const dfl_frame *f = work->frame;

    if (chunk->phase == DFL_PHASE_FORWARD && dfl_layout_carried(f, einsum, tensor) != DFL_NONE)
        return true;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (dfl_frame_target(f, e) == tensor &&
            (f->workload->einsums[e].phase == chunk->phase ||
             (chunk->phase == DFL_PHASE_BACKWARD && work->is_recomputed[f->workload->einsums[e].output.tensor])))
            return true;
    return false;
}

/* Adds an exchange before its einsum, which comes next. If its tensor is there before the pass, it stands one einsum earlier; the
   parts of one in a brace with a loop start with the brace. */
static void add_before(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t exchange, task_vec *list)
{
    const dfl_plan_exchange *x = &work->exchanges->at[exchange];
    size_t at = list->n;

    DFL_PUSH(work->frame->arena, list, ((task){ true, exchange, DFL_STEP_COLLECTIVES }));
    if (x->parts > 1 || is_made_in(work, chunk, x->einsum, x->tensor))
        return;
    while (at > 0 && list->at[at - 1].is_exchange)
        at--;
    at = at > 0 ? at - 1 : list->n - 1;
    memmove(&list->at[at + 1], &list->at[at], (list->n - 1 - at) * sizeof *list->at);
    list->at[at] = (task){ true, exchange, DFL_STEP_COLLECTIVES };
}

static void add_einsum(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t einsum, dfl_step_part part, task_vec *list)
{
    const dfl_frame *f = work->frame;
    const dfl_plan_exchanges *x = work->exchanges;

    for (uint32_t i = 0; i < x->n; i++)
        if (x->at[i].einsum == einsum && x->at[i].place == DFL_EXCHANGE_BEFORE)
            add_before(work, chunk, i, list);
    DFL_PUSH(f->arena, list, ((task){ false, einsum, part }));
    for (uint32_t i = 0; i < x->n; i++)
        if (x->at[i].place != DFL_EXCHANGE_BEFORE && dfl_chunk_exchanges(f, chunk, einsum, &x->at[i]))
            DFL_PUSH(f->arena, list, ((task){ true, i, DFL_STEP_COLLECTIVES }));
}

/* Adds the forward einsums of a repeat (DFL_NONE: outside of repeats) that make recomputed tensors. */
static void add_recomputed(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t repeat, task_vec *list)
{
    const dfl_workload *w = work->frame->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == DFL_PHASE_FORWARD && work->is_recomputed[w->einsums[e].output.tensor] &&
            dfl_frame_repeat(work->frame, &w->einsums[e]) == repeat && dfl_chunk_has(work->frame, chunk, e))
            add_einsum(work, chunk, e, DFL_STEP_RECOMPUTE, list);
}

/* ---- the clock ---- */

/* The run that ends next after `time`, of the first exchange among equals; NULL = none. */
static const exchange_run *next_to_end(const clock_state *c, double time)
{
    const exchange_run *next = NULL;

    for (size_t i = c->passed; i < c->runs.n; i++) {
        const exchange_run *r = &c->runs.at[i];

        if (r->ended > time && (next == NULL || r->ended < next->ended ||
                                (r->ended == next->ended && r->exchange < next->exchange)))
            next = r;
    }
    return next;
}

/* Divides the wait from the end of the last einsum until `until` among the exchanges that run then: each is exposed from the end
   of the one before, or from its own start. */
static void expose(clock_state *c, double until)
{
    double at = c->front;

    c->out.step[DFL_STEP_COLLECTIVES] += until - c->front;
    for (const exchange_run *r = next_to_end(c, at); r != NULL && at < until; r = next_to_end(c, at)) {
        c->out.exposed[r->exchange] += fmax(0, fmin(until, r->ended) - fmax(at, r->began));
        at = r->ended;
    }
    while (c->passed < c->runs.n && c->runs.at[c->passed].ended <= until)
        c->passed++;
}

/* Notes a run of an exchange; a part that follows the part before at once continues its run. */
static void note_run(clock_state *c, uint32_t exchange, double began, double ended)
{
    for (size_t i = c->runs.n; i-- > c->passed && c->work->exchanges->at[exchange].parts > 1;)
        if (c->runs.at[i].exchange == exchange && c->runs.at[i].ended >= began) {
            c->runs.at[i].ended = ended;
            return;
        }
    DFL_PUSH(c->work->frame->arena, &c->runs, ((exchange_run){ exchange, began, ended }));
}

static void run_einsum(clock_state *c, const task *t)
{
    const dfl_workload *w = c->work->frame->workload;
    const dfl_einsum *e = &w->einsums[t->index];
    const dfl_chip_time *time = t->part == DFL_STEP_RECOMPUTE ? &c->work->again[t->index] : &c->work->times[t->index];
    const uint32_t target = dfl_frame_target(c->work->frame, t->index);
    double start = c->unit_free[time->compute], end;

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        uint32_t x = c->reads[c->first[t->index] + i];

        start = fmax(start, x != DFL_NONE ? c->copy[x] : c->home[e->inputs[i].tensor]);
    }
    if (start > c->front) {
        expose(c, start);
        c->front = start;
    }
    end = start + time->seconds / (double)c->work->frame->parts[t->index];
    if (end > c->front) {
        c->out.step[t->part] += end - c->front;
        c->front = end;
    }
    c->unit_free[time->compute] = end;
    if (e->reduce != DFL_REDUCE_NONE) /* a sum is there when its last part is, which another unit may have made */
        end = fmax(end, c->raw[target]);
    c->raw[e->output.tensor] = c->home[e->output.tensor] = c->raw[target] = c->home[target] = end;
}

/* Lets no einsum run until the end of an exchange. */
static void hold_units(clock_state *c, uint32_t exchange, double end)
{
    c->out.step[DFL_STEP_COLLECTIVES] += end - c->front;
    c->out.exposed[exchange] += end - c->front;
    c->front = end;
    for (uint32_t u = 0; u < c->work->frame->system->n_computes; u++)
        c->unit_free[u] = end;
}

static void run_exchange(clock_state *c, uint32_t index)
{
    const dfl_plan_exchange *x = &c->work->exchanges->at[index];
    const bool before = x->place == DFL_EXCHANGE_BEFORE, blocks = c->work->frame->mapping->options.exchanges_block;
    const double raw = c->raw[x->tensor], home = c->home[x->tensor], ready = before || home > raw ? home : raw;
    double end;

    if (x->bits == 0) { /* no point of this iteration needs an element */
        c->copy[index] = ready;
        return;
    }
    c->out.count[index]++;
    if (x->place == DFL_EXCHANGE_ONCE) {
        DFL_PUSH(c->work->frame->arena, &c->arrivals, ((dfl_arrival){ index, c->raw[x->tensor] }));
        return;
    }
    end = fmax(ready, c->net_free[x->cost.network]);
    if (blocks)
        end = fmax(end, x->parts > 1 ? c->parts_began : c->front);
    end += x->cost.seconds;
    if (blocks && x->parts == 1)
        hold_units(c, index, end);
    note_run(c, index, end - x->cost.seconds, end);
    c->ended[index] = end;
    c->net_free[x->cost.network] = end;
    if (before) {
        c->copy[index] = end;
        for (uint32_t k = 0; k < index; k++) /* an operand that comes in several exchanges */
            if (c->work->exchanges->at[k].einsum == x->einsum && c->work->exchanges->at[k].tensor == x->tensor &&
                c->work->exchanges->at[k].place == DFL_EXCHANGE_BEFORE)
                c->copy[index] = fmax(c->copy[index], c->copy[k]);
    } else {
        c->home[x->tensor] = end;
    }
}

/* At the start of an iteration the carried tensors are those of the iteration before. */
static void carry(clock_state *c, uint32_t repeat)
{
    const dfl_workload *w = c->work->frame->workload;

    for (uint32_t i = 0; i < w->n_carries; i++)
        if (w->carries[i].rank == repeat) {
            c->home[w->carries[i].from] = c->home[w->carries[i].to];
            c->raw[w->carries[i].from] = c->raw[w->carries[i].to];
        }
}

static clock_state start_clock(const dfl_plan_work *work)
{
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    clock_state c = { .work = work };
    size_t n = 0;

    c.raw = DFL_NEW_ARRAY(f->arena, double, w->n_tensors);
    c.home = DFL_NEW_ARRAY(f->arena, double, w->n_tensors);
    c.copy = DFL_NEW_ARRAY(f->arena, double, (size_t)work->exchanges->n + 1);
    c.ended = DFL_NEW_ARRAY(f->arena, double, (size_t)work->exchanges->n + 1);
    c.unit_free = DFL_NEW_ARRAY(f->arena, double, (size_t)f->system->n_computes + 1);
    c.net_free = DFL_NEW_ARRAY(f->arena, double, (size_t)f->system->n_networks + 1);
    c.out.exposed = DFL_NEW_ARRAY(f->arena, double, (size_t)work->exchanges->n + 1);
    c.out.count = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)work->exchanges->n + 1);
    c.first = DFL_NEW_ARRAY(f->arena, size_t, w->n_einsums);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        c.first[e] = n;
        n += w->einsums[e].n_inputs;
    }
    c.reads = DFL_NEW_ARRAY(f->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        c.reads[i] = DFL_NONE;
    for (uint32_t x = 0; x < work->exchanges->n; x++)
        for (uint32_t r = 0; r < work->exchanges->at[x].n_readers; r++) {
            uint32_t e = work->exchanges->at[x].readers[r];
            for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++)
                if (w->einsums[e].inputs[i].tensor == work->exchanges->at[x].tensor)
                    c.reads[c.first[e] + i] = x;
        }
    return c;
}

/* The parts in which a task runs; 1 = it is in no brace with a loop. */
static int64_t parts_of(const clock_state *c, const task *t)
{
    return t->is_exchange ? c->work->exchanges->at[t->index].parts : c->work->frame->parts[t->index];
}

/* The branch of the einsum of a task. */
static uint32_t branch_of(const clock_state *c, const task *t)
{
    return c->work->branches->of[t->is_exchange ? c->work->exchanges->at[t->index].einsum : t->index];
}

/* Runs the tasks of a brace with a loop, those from `from` to `to`, part after part. An exchange among them that is not
   divided runs with the first part if it comes before its einsum, else with the last one. */
static void run_parts(clock_state *c, const task_vec *list, size_t from, size_t to, int64_t n)
{
    double end = 0;

    c->parts_began = c->front;
    for (int64_t k = 0; k < n; k++)
        for (size_t i = from; i < to; i++) {
            const task *t = &list->at[i];

            if (!t->is_exchange)
                run_einsum(c, t);
            else if (parts_of(c, t) > 1 ||
                     k == (c->work->exchanges->at[t->index].place == DFL_EXCHANGE_BEFORE ? 0 : n - 1))
                run_exchange(c, t->index);
            end = t->is_exchange && parts_of(c, t) > 1 ? fmax(end, c->ended[t->index]) : end;
        }
    if (!c->work->frame->mapping->options.exchanges_block)
        return;
    if (end > c->front) {
        expose(c, end);
        c->front = end;
    }
    for (uint32_t u = 0; u < c->work->frame->system->n_computes; u++)
        c->unit_free[u] = fmax(c->unit_free[u], end);
}

static void run_list(clock_state *c, const task_vec *list)
{
    for (size_t i = 0, to = 0; i < list->n; i = to) {
        to = i + 1;
        if (parts_of(c, &list->at[i]) > 1) {
            for (size_t k = to; k < list->n; k++)
                to = parts_of(c, &list->at[k]) > 1 && branch_of(c, &list->at[k]) == branch_of(c, &list->at[i]) ? k + 1 : to;
            run_parts(c, list, i, to, parts_of(c, &list->at[i]));
        } else if (list->at[i].is_exchange) {
            run_exchange(c, list->at[i].index);
        } else {
            run_einsum(c, &list->at[i]);
        }
    }
}

double dfl_chunk_transfers(const dfl_plan_work *work, const dfl_chunk *chunk, bool is_first, const uint32_t *einsums, size_t n,
                           int64_t iterations, dfl_chunk_time *out)
{
    const dfl_frame *f = work->frame;
    const dfl_offload_layer layer = !is_first ? DFL_OFFLOAD_OTHER : chunk->has_first ? DFL_OFFLOAD_FIRST : DFL_OFFLOAD_SENT;
    dfl_offload_busy busy;

    if (work->offload == NULL || !dfl_offload_pass(f, work->offload, chunk->phase, layer, einsums, n, &busy))
        return 0;
    if (out->moved == NULL)
        out->moved = DFL_NEW_ARRAY(f->arena, double, 2 * (size_t)f->system->n_memories);
    for (uint32_t m = 0; m < 2 * f->system->n_memories; m++)
        out->moved[m] += (double)iterations * dfl_i128_double(busy.bits[m]);
    return busy.longest;
}

/* The time of the transfers of a pass through a list. */
static double time_transfers(clock_state *c, const dfl_chunk *chunk, bool is_first, const task_vec *list, int64_t iterations)
{
    uint32_t *einsums = DFL_NEW_ARRAY(c->work->frame->arena, uint32_t, list->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        if (!list->at[i].is_exchange)
            einsums[n++] = list->at[i].index;
    return dfl_chunk_transfers(c->work, chunk, is_first, einsums, n, iterations, &c->out);
}

/* Waits until a pass that began at `began` has lasted for `seconds`, the time of its transfers. */
static void wait_for_transfers(clock_state *c, double began, double seconds)
{
    const double end = began + seconds;

    if (end <= c->front)
        return;
    c->out.step[DFL_STEP_OFFLOAD] += end - c->front;
    c->front = end;
    for (uint32_t u = 0; u < c->work->frame->system->n_computes; u++)
        c->unit_free[u] = fmax(c->unit_free[u], end);
}

/* Waits for the exchanges that still run. */
static void finish_clock(clock_state *c)
{
    const dfl_plan_work *work = c->work;
    double end = c->front;

    for (uint32_t n = 0; n < work->frame->system->n_networks; n++)
        end = fmax(end, c->net_free[n]);
    expose(c, end);
    c->out.seconds = end;
    c->out.arrivals = c->arrivals.at;
    c->out.n_arrivals = (uint32_t)c->arrivals.n;
}

/* Runs the tasks of one pass `iterations` times, those of a repeat (DFL_NONE: outside of repeats). */
static void run_passes(clock_state *c, const dfl_chunk *chunk, uint32_t repeat, int64_t iterations, const task_vec *list)
{
    const dfl_plan_work *work = c->work;
    const bool has_layers = repeat != DFL_NONE && chunk->phase != DFL_PHASE_UPDATE && iterations > 0;
    const int64_t first = !has_layers ? -1 : chunk->phase == DFL_PHASE_BACKWARD ? iterations - 1 : 0;
    const double of_others = time_transfers(c, chunk, false, list, iterations - has_layers);
    const double of_first = has_layers ? time_transfers(c, chunk, true, list, 1) : 0;

    for (int64_t i = 0; i < iterations; i++) {
        const double began = c->front;

        c->work = repeat != DFL_NONE ? dfl_iteration_work(work, i) : work;
        if (i > 0)
            carry(c, repeat);
        run_list(c, list);
        wait_for_transfers(c, began, i == first ? of_first : of_others);
    }
    c->work = work;
}

dfl_chunk_time dfl_chunk_run(const dfl_plan_work *work, const dfl_chunk *chunk)
{
    static const dfl_step_part parts[] = { [DFL_PHASE_FORWARD] = DFL_STEP_FORWARD, [DFL_PHASE_BACKWARD] = DFL_STEP_BACKWARD,
                                           [DFL_PHASE_UPDATE] = DFL_STEP_UPDATE };
    const dfl_frame *f = work->frame;
    const dfl_workload *w = f->workload;
    const bool has_again = chunk->phase == DFL_PHASE_BACKWARD && chunk->part != DFL_CHUNK_WEIGHTS;
    const uint32_t outside = has_again ? dfl_chunk_again_outside(f) : DFL_NONE;
    clock_state c = start_clock(work);

    for (uint32_t e = 0; e < w->n_einsums;) {
        const uint32_t repeat = dfl_frame_repeat(f, &w->einsums[e]);
        const int64_t iterations = dfl_chunk_iterations(f, chunk, e);
        task_vec list = { 0 };

        if (w->einsums[e].phase != chunk->phase) {
            e++;
            continue;
        }
        if (e == outside)
            add_recomputed(work, chunk, DFL_NONE, &list);
        if (repeat != DFL_NONE && list.n > 0) { /* before all iterations of the repeat */
            run_passes(&c, chunk, DFL_NONE, 1, &list);
            list = (task_vec){ 0 };
        }
        if (repeat != DFL_NONE && has_again)
            add_recomputed(work, chunk, repeat, &list);
        for (; e < w->n_einsums && w->einsums[e].phase == chunk->phase && dfl_frame_repeat(f, &w->einsums[e]) == repeat; e++)
            if (dfl_chunk_has(f, chunk, e))
                add_einsum(work, chunk, e, parts[chunk->phase], &list);
        run_passes(&c, chunk, repeat, iterations, &list);
    }
    finish_clock(&c);
    return c.out;
}
