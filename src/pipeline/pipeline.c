#include "pipeline/pipeline.h"

/* Ends of the operations of one kind of a chunk, from the first that the neighbouring chunk has not taken: a ring. */
typedef struct {
    uint64_t put, taken;           /* operations; put - taken <= `room` of the run */
    double *ends;                  /* [operation modulo room] */
} channel;

/* A place in the sequence of a kind of operation: micro-batches in groups as large as the number of stages, each group through
   all chunks of the stage. With one chunk that is one micro-batch after the other. */
typedef struct {
    uint32_t group, inner;         /* first micro-batch of the group; micro-batch in it */
    uint32_t step;                 /* chunks of the stage that the group has passed */
} place;

typedef struct {
    uint64_t forward, backward, weight;    /* operations begun */
    uint64_t warm_up;                      /* forward operations before the first backward one is due */
    place at[3];                           /* [pass] of the next operation */
    bool queued;                           /* in the queue of stages that may have something to do */
} stage_run;

typedef struct {
    const dfl_pipeline *pipeline;
    dfl_stage_times *times;        /* [stage] */
    dfl_stage_operation **list;    /* [stage][operation], or NULL */
    stage_run *stages;
    channel *up, *down;            /* [chunk index]: forward to the next chunk, backward to the one before */
    uint64_t operations;           /* of one kind and stage: micro-batches x interleave */
    uint64_t room;                 /* a power of two */
    dfl_budget *budget;            /* or NULL */
} pipeline_run;

/* Whether backward passes are operations of their own. */
static bool has_backward_operations(const dfl_pipeline *pipeline)
{
    return pipeline->backward != NULL && pipeline->schedule != DFL_SCHEDULE_JOINED;
}

const char *dfl_pipeline_conflict(const dfl_pipeline *pipeline)
{
    if (pipeline->schedule == DFL_SCHEDULE_ZERO_BUBBLE && pipeline->interleave > 1)
        return "zero_bubble runs one chunk of layers per stage";
    if (pipeline->schedule == DFL_SCHEDULE_ZERO_BUBBLE && (!pipeline->backward || !pipeline->weight_gradient))
        return "zero_bubble delays weight gradients, and there is no backward pass";
    if (pipeline->schedule != DFL_SCHEDULE_ZERO_BUBBLE && pipeline->weight_gradient)
        return "only zero_bubble runs weight gradients by themselves";
    if (has_backward_operations(pipeline) && pipeline->interleave > 1 && pipeline->micro_batches % pipeline->stages)
        return "interleaved stages take micro-batches in groups as large as the number of stages, which must divide their number";
    return NULL;
}

uint64_t dfl_pipeline_operations(const dfl_pipeline *pipeline)
{
    uint64_t kinds = 1u + has_backward_operations(pipeline) + (pipeline->weight_gradient != NULL);

    return kinds * pipeline->micro_batches * pipeline->interleave;
}

/* ---- the order of a stage ---------------------------------------------------------------------------------------- */

static uint64_t count_warm_up(const dfl_pipeline *pipeline, uint32_t stage)
{
    uint64_t behind = pipeline->stages - stage - 1;

    if (!pipeline->backward || pipeline->schedule == DFL_SCHEDULE_GPIPE)
        return (uint64_t)pipeline->micro_batches * pipeline->interleave;
    /* `joined` holds what `one_f_one_b` holds */
    if (pipeline->interleave == 1)
        return behind;
    return 2 * behind + (uint64_t)(pipeline->interleave - 1) * pipeline->stages;
}

int64_t dfl_pipeline_in_flight(const dfl_pipeline *pipeline, uint32_t stage)
{
    const uint64_t all = (uint64_t)pipeline->micro_batches * pipeline->interleave, most = count_warm_up(pipeline, stage) + 1;

    return pipeline->backward == NULL ? 1 : (int64_t)(most < all ? most : all);
}

/* The pass of the next operation of a stage; false if it has done all. */
static bool find_next(const pipeline_run *run, uint32_t stage, dfl_stage_pass *pass)
{
    const stage_run *s = &run->stages[stage];
    const bool delayed = run->pipeline->weight_gradient != NULL;

    /* stage p delays a weight gradient by p input gradients, which fill the time that it waits for the stages before it */
    if (delayed && s->weight < s->backward && (s->backward - s->weight > stage || s->backward == run->operations))
        *pass = DFL_STAGE_WEIGHT;
    else if (s->forward < run->operations &&
             (s->forward - s->backward <= s->warm_up || !has_backward_operations(run->pipeline)))
        *pass = DFL_STAGE_FORWARD;
    else if (has_backward_operations(run->pipeline) && s->backward < run->operations)
        *pass = DFL_STAGE_BACKWARD;
    else
        return false;
    return true;
}

static void advance(const dfl_pipeline *pipeline, place *at)
{
    if (++at->inner < pipeline->stages && at->group + at->inner < pipeline->micro_batches)
        return;
    at->inner = 0;
    if (++at->step < pipeline->interleave)
        return;
    at->step = 0;
    at->group += pipeline->stages;
}

/* The chunk index of a place. Backward operations pass the chunks of a stage downwards. */
static uint32_t find_chunk(const dfl_pipeline *pipeline, uint32_t stage, dfl_stage_pass pass, const place *at)
{
    uint32_t chunk = pass == DFL_STAGE_FORWARD ? at->step : pipeline->interleave - 1 - at->step;

    return chunk * pipeline->stages + stage;
}

/* ---- the recurrence ---------------------------------------------------------------------------------------------- */

/* What an operation waits for and what it sends. */
typedef struct {
    channel *from, *to;            /* or NULL: depends only on its own stage; nobody waits for it */
    double message;                /* time of the message from `from` */
    double seconds;
} operation;

/* Time of a forward operation; of `joined` with the backward pass and both messages. */
static double time_forward(const dfl_pipeline *p, size_t at)
{
    if (p->schedule != DFL_SCHEDULE_JOINED)
        return p->forward[at];
    return p->forward[at] + p->send_forward[at] + (p->backward ? p->backward[at] + p->send_backward[at] : 0);
}

/* Where the times of a chunk stand for a micro-batch. */
static size_t find_times(const dfl_pipeline *p, uint32_t chunk, uint32_t micro_batch)
{
    return chunk + (p->kind != NULL ? (size_t)p->kind[micro_batch] * p->stages * p->interleave : 0);
}

static operation make_operation(const pipeline_run *run, dfl_stage_pass pass, uint32_t chunk, uint32_t micro_batch)
{
    const dfl_pipeline *p = run->pipeline;
    const uint32_t last = p->stages * p->interleave - 1;
    const size_t at = find_times(p, chunk, micro_batch);
    operation op = { .from = NULL, .to = NULL, .message = 0, .seconds = 0 };

    switch (pass) {
    case DFL_STAGE_FORWARD:
        op.seconds = time_forward(p, at);
        op.to = chunk < last ? &run->up[chunk] : NULL;
        if (chunk > 0) {
            op.from = &run->up[chunk - 1];
            op.message = p->schedule == DFL_SCHEDULE_JOINED ? 0 : p->send_forward[at - 1];
        }
        break;
    case DFL_STAGE_BACKWARD:
        op.seconds = p->backward[at];
        op.to = chunk > 0 ? &run->down[chunk] : NULL;
        if (chunk < last) {
            op.from = &run->down[chunk + 1];
            op.message = p->send_backward[at + 1];
        }
        break;
    case DFL_STAGE_WEIGHT:
        op.seconds = p->weight_gradient[at];
        break;
    }
    return op;
}

/* Counts an operation that starts now, and the chunks in flight. */
static void count_operation(const pipeline_run *run, dfl_stage_pass pass, stage_run *s, dfl_stage_times *times)
{
    int64_t begun;

    switch (pass) {
    case DFL_STAGE_FORWARD:
        s->forward++;
        begun = has_backward_operations(run->pipeline)
                    ? (int64_t)(s->forward - (run->pipeline->weight_gradient ? s->weight : s->backward)) : 1;
        times->in_flight = begun > times->in_flight ? begun : times->in_flight;
        break;
    case DFL_STAGE_BACKWARD:
        s->backward++;
        break;
    case DFL_STAGE_WEIGHT:
        s->weight++;
        break;
    }
}

static void place_operation(pipeline_run *run, uint32_t stage, dfl_stage_pass pass, uint32_t chunk, const operation *op)
{
    stage_run *s = &run->stages[stage];
    dfl_stage_times *times = &run->times[stage];
    const size_t at = find_times(run->pipeline, chunk, s->at[pass].group + s->at[pass].inner);
    double start = times->end;

    if (op->from) {
        double ready = op->from->ends[op->from->taken++ & (run->room - 1)];
        double arrival = ready + op->message;
        if (ready > start) {
            times->idle += ready - start;
            start = ready;
        }
        if (arrival > start) {
            times->waits_for_messages += arrival - start;
            start = arrival;
        }
    }
    if (run->list)
        run->list[stage][s->forward + s->backward + s->weight] = (dfl_stage_operation){
            .pass = pass, .chunk = chunk, .micro_batch = s->at[pass].group + s->at[pass].inner,
            .start = start, .end = start + op->seconds,
        };
    count_operation(run, pass, s, times);
    if (pass == DFL_STAGE_BACKWARD)
        times->last_backward_start = start;
    if (pass == DFL_STAGE_FORWARD && run->pipeline->backward && !has_backward_operations(run->pipeline))
        times->last_backward_start = start + run->pipeline->forward[at] + run->pipeline->send_forward[at];
    times->last_starts[chunk / run->pipeline->stages] = pass != DFL_STAGE_FORWARD || !run->pipeline->backward
                                                            ? start : times->last_backward_start;
    times->end = start + op->seconds;
    if (op->to)
        op->to->ends[op->to->put++ & (run->room - 1)] = times->end;
    advance(run->pipeline, &s->at[pass]);
}

/* Runs the operations of a stage until one must wait for a neighbour; returns their number. */
static uint64_t run_stage(pipeline_run *run, uint32_t stage)
{
    stage_run *s = &run->stages[stage];
    uint64_t done = 0;
    dfl_stage_pass pass;

    for (; find_next(run, stage, &pass); done++) {
        uint32_t chunk = find_chunk(run->pipeline, stage, pass, &s->at[pass]);
        operation op = make_operation(run, pass, chunk, s->at[pass].group + s->at[pass].inner);
        if ((op.from && op.from->put == op.from->taken) || (op.to && op.to->put - op.to->taken == run->room))
            break;
        place_operation(run, stage, pass, chunk, &op);
    }
    return done;
}

/* Runs stages in turn, each as far as it gets. False if the rings are too small for that, or the budget is stopped. */
static bool run_stages(dfl_arena *arena, pipeline_run *run)
{
    const uint32_t stages = run->pipeline->stages;
    uint32_t *queue = DFL_NEW_ARRAY(arena, uint32_t, stages);
    uint64_t left = dfl_pipeline_operations(run->pipeline) * stages;
    uint32_t n = stages, head = 0;

    for (uint32_t p = 0; p < stages; p++) {
        queue[p] = p;
        run->stages[p].queued = true;
    }
    while (n > 0 && left > 0) {
        uint32_t stage = queue[head];
        head = head + 1 < stages ? head + 1 : 0;
        n--;
        run->stages[stage].queued = false;
        uint64_t done = run_stage(run, stage);
        left -= done;
        if (run->budget && !dfl_budget_spend(run->budget, done))
            return true;
        uint32_t neighbours[] = { stage + 1 < stages ? stage + 1 : 0, stage > 0 ? stage - 1 : stages - 1 };
        for (int k = 0; k < 2 && done > 0; k++) {
            uint32_t at = head + n < stages ? head + n : head + n - stages;
            if (run->stages[neighbours[k]].queued)
                continue;
            run->stages[neighbours[k]].queued = true;
            queue[at] = neighbours[k];
            n++;
        }
    }
    return left == 0;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void prepare(dfl_arena *arena, pipeline_run *run)
{
    const dfl_pipeline *p = run->pipeline;
    const uint32_t chunks = p->stages * p->interleave;

    run->times = DFL_NEW_ARRAY(arena, dfl_stage_times, p->stages);
    run->stages = DFL_NEW_ARRAY(arena, stage_run, p->stages);
    run->up = DFL_NEW_ARRAY(arena, channel, chunks);
    run->down = DFL_NEW_ARRAY(arena, channel, chunks);
    for (uint32_t c = 0; c < chunks; c++) {
        run->up[c].ends = DFL_NEW_ARRAY(arena, double, run->room);
        run->down[c].ends = DFL_NEW_ARRAY(arena, double, run->room);
    }
    for (uint32_t stage = 0; stage < p->stages; stage++) {
        run->stages[stage].warm_up = count_warm_up(p, stage);
        run->times[stage].last_starts = DFL_NEW_ARRAY(arena, double, p->interleave);
    }
}

/* The time of all operations of a chunk. */
static double sum_operations(const dfl_pipeline *p, uint32_t chunk)
{
    double sum = 0;

    for (uint32_t m = 0; m < (p->kind != NULL ? p->micro_batches : 1); m++) {
        const size_t at = find_times(p, chunk, m);

        sum += time_forward(p, at) + (has_backward_operations(p) ? p->backward[at] : 0) +
               (p->weight_gradient ? p->weight_gradient[at] : 0);
    }
    return p->kind != NULL ? sum : p->micro_batches * sum;
}

static dfl_pipeline_times run_pipeline(dfl_arena *arena, const dfl_pipeline *p, dfl_stage_operation **list)
{
    pipeline_run run = { .pipeline = p, .list = list, .operations = (uint64_t)p->micro_batches * p->interleave, .room = 8,
                         .budget = dfl_arena_budget(arena) };
    dfl_pipeline_times times = { .seconds = 0, .last = 0, .stages = NULL };

    /* With room for all micro-batches a run cannot fail, so the loop ends. A run needs rings at all so that its memory does not
       grow with the micro-batches. */
    for (prepare(arena, &run); !run_stages(arena, &run); prepare(arena, &run))
        run.room *= 2;
    times.stages = run.times;
    for (uint32_t stage = 0; stage < p->stages; stage++) {
        dfl_stage_times *t = &run.times[stage];
        for (uint32_t k = 0; k < p->interleave; k++) {
            t->busy += sum_operations(p, k * p->stages + stage);
        }
        if (p->schedule == DFL_SCHEDULE_JOINED)
            t->in_flight = dfl_pipeline_in_flight(p, stage);
        if (t->end > times.seconds) {
            times.seconds = t->end;
            times.last = stage;
        }
    }
    for (uint32_t stage = 0; stage < p->stages; stage++)
        run.times[stage].idle += times.seconds - run.times[stage].end;
    return times;
}

dfl_pipeline_times dfl_pipeline_run(dfl_arena *arena, const dfl_pipeline *pipeline)
{
    return run_pipeline(arena, pipeline, NULL);
}

dfl_stage_operation **dfl_pipeline_list(dfl_arena *arena, const dfl_pipeline *pipeline)
{
    dfl_stage_operation **list = DFL_NEW_ARRAY(arena, dfl_stage_operation *, pipeline->stages);

    for (uint32_t stage = 0; stage < pipeline->stages; stage++)
        list[stage] = DFL_NEW_ARRAY(arena, dfl_stage_operation, dfl_pipeline_operations(pipeline));
    run_pipeline(arena, pipeline, list);
    return list;
}
