#include "plan/plan.h"
#include "plan/pass/allotment.h"

#include <math.h>
#include <string.h>

#include "plan/kinds.h"
#include "plan/layout/homes.h"
#include "plan/layout/lines.h"
#include "plan/layout/pass_bits.h"
#include "plan/plan_internal.h"
#include "plan/pass/grouping.h"
#include "plan/pass/iterations.h"
#include "plan/pass/perfect.h"

bool dfl_plan_has_phase(const dfl_workload *w, dfl_phase phase)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == phase)
            return true;
    return false;
}

/* Whether a line divides the iterations of a repeat, or rows of a table: these are not dealt round-robin. */
static bool is_dealt_apart(const dfl_frame *f, const dfl_line *line)
{
    for (uint32_t c = 0; c < f->workload->n_carries; c++)
        if (f->workload->carries[c].rank == line->rank)
            return true;
    return line->stages != NULL || f->goes[line - f->mapping->root->lines] != NULL;
}

/* Refuses what a line states and a plan does not evaluate. */
static bool check_line(const dfl_frame *f, const dfl_line *line)
{
    if (line->kind == DFL_LINE_KEEP)
        return line->mode == DFL_KEEP_EXACT || dfl_frame_refuse(f, line->span, "`fresh` and `window`", "write a plain `keep`");
    if (line->by == DFL_BY_HOLE)
        return dfl_frame_refuse(f, line->span, "an open amount", "write the number of parts, or the size of a part");
    if (line->rounds || (line->cyclic && (line->kind != DFL_LINE_SPATIAL || line->by != DFL_BY_SIZE || line->amount != 1)))
        return dfl_frame_refuse(f, line->span, "a cyclic loop over blocks of several elements",
                                "write blocks: leave out `cyclic`, or deal single elements: `r:1 cyclic`");
    if (line->cyclic && is_dealt_apart(f, line))
        return dfl_frame_refuse(f, line->span, "a cyclic loop over the iterations of a repeat or over rows that data select",
                                "write blocks: leave out `cyclic`");
    return !line->online || dfl_frame_refuse(f, line->span, "an online loop", "leave out `online`");
}

/* Whether a unit is divided into whole units; refuses one of too many. False after a report. */
static bool check_units(const dfl_frame *f, bool *has_units)
{
    *has_units = false;
    for (uint32_t c = 0; c < f->system->n_computes; c++) {
        const dfl_compute *unit = &f->system->computes[c];

        if ((double)unit->units * dfl_chip_units(f, c) > DFL_ALLOTMENT_MOST)
            return dfl_frame_refuse(f, unit->span, "a compute unit of more than 65,536 units", "leave out `units`");
        *has_units |= unit->units > 0;
    }
    return true;
}

static bool check_options(const dfl_frame *f)
{
    const dfl_mapping *m = f->mapping;
    bool has_units;

    if (!check_units(f, &has_units))
        return false;
    if (m->options.pieces > 0 && !has_units)
        return dfl_frame_refuse(f, m->span, "`option pieces` on a machine without `units`", "leave it out: only a compute unit "
                                "with `units` takes longer in pieces");
    if (m->options.overlap_perfect && (m->options.gradients_beside || m->options.gradients_behind))
        return dfl_frame_refuse(f, m->span, "`option gradients` beside `option overlap = perfect`", "leave one of them out");
    if (m->options.overlap_perfect && m->options.exchanges_block)
        return dfl_frame_refuse(f, m->span, "`option overlap = perfect` beside `option exchanges = blocking`",
                                "leave one of them out");
    if (m->options.pieces > 0 && !m->options.overlap_perfect)
        return dfl_frame_refuse(f, m->span, "`option pieces` without `option overlap = perfect`", "write both: groups that run "
                                "together stream in pieces");
    return !m->options.chip_search || m->options.overlap_perfect ||
           dfl_frame_refuse(f, m->span, "`option chip = search` without `option overlap = perfect`", "write both: the search "
                            "divides the einsums into groups that run together");
}

/* The lines of a plan stand above all einsums: nothing may stand below them but `...;` and braces (branches.c). */
static bool check_body(const dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (!check_line(f, &root->lines[i]))
            return false;
    if (root->n_choices > 0)
        return dfl_frame_refuse(f, root->choices[0].span, "an open line", "write the line");
    return true;
}

/* ---- chunks ---- */

void dfl_plan_divide_layers(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    const dfl_slot *slot = f->stage_slot != DFL_NONE ? &f->slots[f->stage_slot] : NULL;
    int64_t chunks;

    p->stages = slot != NULL ? (uint32_t)slot->count : 1;
    p->interleave = slot != NULL ? (uint32_t)slot->stages->interleave : 1;
    p->layers = slot != NULL ? f->workload->ranks[slot->stage_rank].extent : 0;
    chunks = (int64_t)p->stages * p->interleave;
    p->chunk_layers = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)chunks);
    for (int64_t c = 0; c < chunks; c++)
        p->chunk_layers[c] = p->layers / chunks + (c < p->layers % chunks);
}

static dfl_chunk_time run_chunk(const dfl_plan_work *work, const dfl_chunk *chunk)
{
    return work->frame->mapping->options.overlap_perfect ? dfl_chunk_run_perfect(work, chunk) : dfl_chunk_run(work, chunk);
}

/* The time of a chunk; equal chunks are computed once. */
static const dfl_chunk_time *time_chunk(const dfl_plan_state *p, const dfl_plan_kind *kind, const dfl_chunk_time **all,
                                        uint32_t index, dfl_phase phase, dfl_chunk_part part)
{
    uint32_t last = p->stages * p->interleave - 1;
    dfl_chunk chunk = { .phase = phase, .part = part, .layers = p->chunk_layers[index],
                        .has_first = index == 0, .has_last = index == last, .is_later = !kind->is_first };
    dfl_chunk_time *out;

    for (uint32_t i = 0; i < index; i++)
        if (p->chunk_layers[i] == chunk.layers && (i == 0) == chunk.has_first && (i == last) == chunk.has_last)
            return all[i];
    out = DFL_NEW(p->frame.arena, dfl_chunk_time);
    *out = run_chunk(&kind->work, &chunk);
    return out;
}

/* Times the chunks of a kind of micro-batches. */
static void time_chunks(const dfl_plan_state *p, dfl_plan_kind *kind)
{
    const uint32_t n = p->stages * p->interleave;
    const dfl_stages *words = p->frame.stage_slot != DFL_NONE ? p->frame.slots[p->frame.stage_slot].stages : NULL;
    const bool trains = dfl_plan_has_phase(p->frame.workload, DFL_PHASE_BACKWARD);
    const bool is_split = trains && words != NULL && words->schedule == DFL_SCHEDULE_ZERO_BUBBLE;

    kind->forward = DFL_NEW_ARRAY(p->frame.arena, const dfl_chunk_time *, n);
    kind->backward = trains ? DFL_NEW_ARRAY(p->frame.arena, const dfl_chunk_time *, n) : NULL;
    kind->weights = is_split ? DFL_NEW_ARRAY(p->frame.arena, const dfl_chunk_time *, n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        kind->forward[i] = time_chunk(p, kind, kind->forward, i, DFL_PHASE_FORWARD, DFL_CHUNK_ALL);
        if (trains)
            kind->backward[i] = time_chunk(p, kind, kind->backward, i, DFL_PHASE_BACKWARD,
                                           is_split ? DFL_CHUNK_WITHOUT_WEIGHTS : DFL_CHUNK_ALL);
        if (is_split)
            kind->weights[i] = time_chunk(p, kind, kind->weights, i, DFL_PHASE_BACKWARD, DFL_CHUNK_WEIGHTS);
    }
}

/* Times the step of the optimizer. */
static void time_update(dfl_plan_state *p)
{
    for (uint32_t k = 0; k < 3 && dfl_plan_has_phase(p->frame.workload, DFL_PHASE_UPDATE); k++) {
        dfl_chunk chunk = { .phase = DFL_PHASE_UPDATE, .layers = 1, .has_first = k == 0 || p->stages == 1,
                            .has_last = k == 2 || p->stages == 1 };
        dfl_chunk_time *out = DFL_NEW(p->frame.arena, dfl_chunk_time);

        *out = run_chunk(&p->work, &chunk);
        p->update[k] = out;
    }
}

/* ---- stages ---- */

/* Whether a limit or an interrupt stopped the evaluation, whose figures are then incomplete. */
static bool is_stopped(const dfl_arena *arena)
{
    dfl_budget *budget = dfl_arena_budget(arena);

    return budget != NULL && !dfl_budget_ok(budget);
}

/* Sets the cost of the messages between stages in a kind of micro-batches: the tensor that the repeat carries. Between two stages
   the closing message goes the same way. */
static bool find_message(const dfl_plan_state *p, dfl_plan_kind *kind)
{
    const dfl_frame *f = kind->work.frame;
    const dfl_slot *slot = f->stage_slot != DFL_NONE ? &f->slots[f->stage_slot] : NULL;
    const dfl_collective_options options = { .contention_none = f->mapping->options.contention_none, .chunks = 1 };
    dfl_group_part part;
    dfl_collective ask = { .kind = DFL_COLLECTIVE_POINT_TO_POINT, .parts = &part, .n_parts = 1,
                           .element = f->system->memories[f->home].element };
    dfl_i128 bits, back = 0;
    bool has_back = false;

    if (slot == NULL || p->stages == 1)
        return true;
    for (uint32_t c = 0; c < f->workload->n_carries; c++) {
        const dfl_carry *carry = &f->workload->carries[c];
        uint32_t maker = f->workload->tensors[carry->to].n_producers > 0 ? f->workload->tensors[carry->to].producers[0] : 0;

        const bool is_back = f->workload->einsums[maker].phase == DFL_PHASE_BACKWARD;

        if (carry->rank != slot->stage_rank || f->workload->einsums[maker].phase == DFL_PHASE_UPDATE)
            continue;
        has_back |= is_back;
        if (dfl_pass_bits(f, &p->layouts, carry->to, &bits) ||
            dfl_add(is_back ? back : kind->message_bits, bits, is_back ? &back : &kind->message_bits)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the data between stages exceeds 128 bits");
            return false;
        }
    }
    if (has_back && back != kind->message_bits)
        return dfl_frame_refuse(f, slot->stages->span, "stages that send gradients of another size than the values they receive",
                                "divide the einsums that make the carried tensor and its gradient alike");
    ask.bits = dfl_i128_double(kind->message_bits);
    part = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride, .count = slot->count };
    if (!dfl_collective_find(f->arena, f->sink, f->names, f->system, slot->stages->span, &ask, &options, &kind->message))
        return false;
    kind->closing = kind->message;
    part = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride * (slot->count - 1), .count = 2,
                             .period = slot->stride * slot->count };
    return p->interleave == 1 || p->stages == 2 ||
           dfl_collective_find(f->arena, f->sink, f->names, f->system, slot->stages->span, &ask, &options, &kind->closing);
}

/* The key of a pipeline: all numbers on which its times depend. */
static dfl_memo_key key_of(dfl_arena *arena, const dfl_pipeline *pipeline, uint32_t kinds)
{
    const size_t n = (size_t)pipeline->stages * pipeline->interleave * kinds;
    const double *times[] = { pipeline->forward, pipeline->backward, pipeline->weight_gradient, pipeline->send_forward,
                              pipeline->send_backward };
    dfl_memo_key key = { NULL, 0, 0 };

    dfl_memo_put(arena, &key, pipeline->schedule);
    dfl_memo_put(arena, &key, (uint64_t)pipeline->stages << 32 | pipeline->interleave);
    dfl_memo_put(arena, &key, (uint64_t)pipeline->micro_batches << 32 | kinds);
    for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
        dfl_memo_put(arena, &key, times[k] != NULL);
        for (size_t i = 0; i < n && times[k] != NULL; i++)
            dfl_memo_put_double(arena, &key, times[k][i]);
    }
    return key;
}

/* A copy of times in `arena`. */
static const dfl_pipeline_times *copy_times(dfl_arena *arena, const dfl_pipeline *pipeline, const dfl_pipeline_times *times)
{
    dfl_pipeline_times *out = DFL_NEW(arena, dfl_pipeline_times);

    *out = *times;
    out->stages = DFL_NEW_ARRAY(arena, dfl_stage_times, pipeline->stages);
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        out->stages[s] = times->stages[s];
        out->stages[s].last_starts = DFL_NEW_ARRAY(arena, double, pipeline->interleave);
        memcpy(out->stages[s].last_starts, times->stages[s].last_starts, pipeline->interleave * sizeof(double));
    }
    return out;
}

/* The times of a pipeline, of the memo table or of a run, whose times are then kept. A pipeline with several kinds of
   micro-batches is run each time: its key would have a number for each micro-batch. */
static dfl_pipeline_times time_pipeline(const dfl_plan_state *p, const dfl_pipeline *pipeline)
{
    dfl_arena *arena = p->frame.arena;
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_memo *memo = p->memo != NULL && pipeline->kind == NULL ? p->memo->pipelines : NULL;
    const dfl_memo_key key = key_of(arena, pipeline, p->n_kinds);
    const dfl_pipeline_times *before = memo != NULL ? dfl_memo_find(memo, &key, budget) : NULL;
    const uint64_t start = budget != NULL ? budget->steps_used : 0;
    const dfl_pipeline_times times = before != NULL ? *before : dfl_pipeline_run(arena, pipeline);

    if (before == NULL && memo != NULL && dfl_memo_has_room(memo, &key) && !is_stopped(arena))
        dfl_memo_keep(memo, &key, copy_times(dfl_memo_arena(memo), pipeline, &times),
                       budget != NULL ? budget->steps_used - start : 0);
    return times;
}

static bool run_pipeline(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    const uint32_t n = p->stages * p->interleave;
    const size_t all = (size_t)n * p->n_kinds;
    double *forward = DFL_NEW_ARRAY(f->arena, double, all);
    double *backward = p->kinds->backward ? DFL_NEW_ARRAY(f->arena, double, all) : NULL;
    double *weights = p->kinds->weights ? DFL_NEW_ARRAY(f->arena, double, all) : NULL;
    double *ahead = DFL_NEW_ARRAY(f->arena, double, all), *back = DFL_NEW_ARRAY(f->arena, double, all);
    const dfl_stages *words = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stages : NULL;
    dfl_pipeline pipeline = { .schedule = words != NULL ? words->schedule : DFL_SCHEDULE_ONE_F_ONE_B,
                              .stages = p->stages, .interleave = p->interleave, .forward = forward, .backward = backward,
                              .weight_gradient = weights, .send_forward = ahead, .send_backward = back, .kind = p->kind_of };
    const bool blocks = f->mapping->options.exchanges_block; /* a message takes time of the stage that sends it */
    const bool joined = pipeline.schedule == DFL_SCHEDULE_JOINED; /* all chunks count both messages */
    const char *conflict;

    if (f->micro_batches > UINT32_MAX) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "a step of more than 4294967295 micro-batches");
        return false;
    }
    pipeline.micro_batches = (uint32_t)f->micro_batches;
    for (size_t i = 0; i < all; i++) {
        const dfl_plan_kind *kind = &p->kinds[i / n];
        const uint32_t chunk = (uint32_t)(i % n);

        forward[i] = kind->forward[chunk]->seconds;
        if (backward)
            backward[i] = kind->backward[chunk]->seconds;
        if (weights)
            weights[i] = kind->weights[chunk]->seconds;
        *(blocks ? &forward[i] : &ahead[i]) += chunk + 1 < n || joined ? dfl_plan_message(p, kind, chunk, false)->seconds : 0;
        if (backward)
            *(blocks ? &backward[i] : &back[i]) += chunk > 0 || joined ? dfl_plan_message(p, kind, chunk, true)->seconds : 0;
    }
    conflict = dfl_pipeline_conflict(&pipeline);
    if (conflict != NULL) {
        dfl_diag *d = dfl_report(f->sink, DFL_MAP_STAGES, f->slots[f->stage_slot].stages->span, "%s", conflict);

        dfl_diag_here(f->sink, d, "%lld micro-batches, %u stages, %u chunks of each", (long long)f->micro_batches, p->stages,
                      p->interleave);
        dfl_diag_help(f->sink, d, "change the number of micro-batches, of stages, or `interleave`");
        return false;
    }
    p->pipeline = time_pipeline(p, &pipeline);
    p->out.schedule = pipeline.schedule;
    return true;
}

/* ---- gradients ---- */

enum { BUCKET_BITS = 25 * 1000 * 1000 * 8 }; /* 25 MB, the default of the data-parallel module of PyTorch */

/* The passes that complete sums over all micro-batches, those of the last one, [chunk * stages + stage]. */
static const dfl_chunk_time **last_passes(const dfl_plan_state *p)
{
    const dfl_plan_kind *kind = dfl_plan_last_kind(p);

    return kind->weights ? kind->weights : kind->backward ? kind->backward : kind->forward;
}

/* Time of the exchanges of all gradients of a stage, one after another. */
static double sum_gradients(const dfl_plan_state *p, uint32_t stage)
{
    double sum = 0;

    for (uint32_t c = 0; c < p->interleave; c++) {
        const dfl_chunk_time *chunk = last_passes(p)[c * p->stages + stage];

        for (uint32_t i = 0; i < chunk->n_arrivals; i++)
            sum += p->exchanges.at[chunk->arrivals[i].exchange].cost.seconds;
    }
    return sum;
}

/* Exchanges the gradients of a pass of a chunk that starts at `start`, in buckets: a bucket is sent when its last gradient is
   there. `net`: until when the networks are busy. */
static void exchange_buckets(const dfl_plan_state *p, const dfl_chunk_time *pass, double start, double *net)
{
    const dfl_i128 stated = p->frame.mapping->options.bucket_bits, limit = stated > 0 ? stated : BUCKET_BITS;
    dfl_i128 sum = 0;

    for (uint32_t i = 0, from = 0; i < pass->n_arrivals; i++) {
        sum += p->exchanges.at[pass->arrivals[i].exchange].bits;
        if (sum < limit && i + 1 < pass->n_arrivals)
            continue;
        for (uint32_t k = from; k <= i; k++) {
            const dfl_collective_cost *cost = &p->exchanges.at[pass->arrivals[k].exchange].cost;

            net[cost->network] = fmax(net[cost->network], start + pass->arrivals[i].seconds) + cost->seconds;
        }
        from = i + 1;
        sum = 0;
    }
}

/* The chunk of a stage whose last pass is the next one behind `after` in time, by start and then by number; DFL_NONE = none. */
static uint32_t next_chunk(const dfl_plan_state *p, uint32_t stage, uint32_t after)
{
    const double *starts = p->pipeline.stages[stage].last_starts;
    uint32_t next = DFL_NONE;

    for (uint32_t c = 0; c < p->interleave; c++) {
        const bool has_larger = after == DFL_NONE || c > after;
        const bool is_behind = after == DFL_NONE || starts[c] > starts[after] || (has_larger && starts[c] == starts[after]);

        if (is_behind && (next == DFL_NONE || starts[c] < starts[next]))
            next = c;
    }
    return next;
}

/* Exchanges the gradients of a stage beside the last passes of its chunks that make them. Returns the end. */
static double exchange_gradients(const dfl_plan_state *p, uint32_t stage)
{
    const dfl_options *o = &p->frame.mapping->options;
    double *net = DFL_NEW_ARRAY(p->frame.arena, double, (size_t)p->frame.system->n_networks + 1);
    double end = p->pipeline.stages[stage].end;

    if (o->gradients_behind || (o->exchanges_block && !o->gradients_beside))
        return end + sum_gradients(p, stage);
    for (uint32_t c = next_chunk(p, stage, DFL_NONE); c != DFL_NONE; c = next_chunk(p, stage, c))
        exchange_buckets(p, last_passes(p)[c * p->stages + stage], p->pipeline.stages[stage].last_starts[c], net);
    for (uint32_t n = 0; n < p->frame.system->n_networks; n++)
        end = fmax(end, net[n]);
    return end;
}

/* Time that a stage spends on the messages that it sends, if nothing runs beside them. */
static double time_messages(const dfl_plan_state *p, uint32_t stage)
{
    const bool joined = p->out.schedule == DFL_SCHEDULE_JOINED;
    double seconds = 0;

    if (!p->frame.mapping->options.exchanges_block && !joined)
        return 0;
    for (uint32_t i = 0; i < p->n_kinds * p->interleave; i++) {
        const dfl_plan_kind *kind = &p->kinds[i / p->interleave];
        const uint32_t chunk = i % p->interleave * p->stages + stage;
        const double count = (double)kind->count;

        if (chunk + 1 < p->stages * p->interleave || joined)
            seconds += count * dfl_plan_message(p, kind, chunk, false)->seconds;
        if (kind->backward != NULL && (chunk > 0 || joined))
            seconds += count * dfl_plan_message(p, kind, chunk, true)->seconds;
    }
    return seconds;
}

/* Sets the end of every stage, and the parts of the step on the stage that ends last. */
static void find_step(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    double *step = p->out.step, latest = -1, spent = 0;

    p->exchanged = DFL_NEW_ARRAY(f->arena, double, p->stages);
    for (uint32_t s = 0; s < p->stages; s++) {
        p->exchanged[s] = exchange_gradients(p, s);
        if (dfl_plan_end(p, s) > latest) {
            latest = dfl_plan_end(p, s);
            p->out.last_stage = s;
        }
    }
    const uint32_t last = p->out.last_stage;
    for (uint32_t i = 0; i < p->n_kinds * p->interleave; i++)
        for (uint32_t k = 0; k < DFL_N_STEP_PARTS; k++) {
            const dfl_plan_kind *kind = &p->kinds[i / p->interleave];
            const uint32_t chunk = i % p->interleave * p->stages + last;

            step[k] += (double)kind->count * kind->forward[chunk]->step[k];
            step[k] += kind->backward ? (double)kind->count * kind->backward[chunk]->step[k] : 0;
            step[k] += kind->weights ? (double)kind->count * kind->weights[chunk]->step[k] : 0;
        }
    for (uint32_t k = 0; k < DFL_N_STEP_PARTS && dfl_plan_update(p, last); k++)
        step[k] += dfl_plan_update(p, last)->step[k];
    step[DFL_STEP_COLLECTIVES] += p->exchanged[last] - p->pipeline.stages[last].end;
    step[DFL_STEP_POINT_TO_POINT] += p->pipeline.stages[last].waits_for_messages + time_messages(p, last);
    for (uint32_t k = 0; k < DFL_N_STEP_PARTS; k++)
        spent += step[k];
    step[DFL_STEP_BUBBLE] = p->stages > 1 ? fmax(0, latest - spent) : 0; /* one stage never waits */
    p->out.bubble_seconds = step[DFL_STEP_BUBBLE];
}

/* ---- memory ---- */

dfl_stage_shape dfl_plan_shape(const dfl_plan_state *p, uint32_t stage)
{
    const dfl_frame *f = &p->frame;
    const dfl_stages *words = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stages : NULL;
    dfl_stage_shape shape = { .chunks = &p->chunk_layers[stage],
                              .flight = { .schedule = words != NULL ? words->schedule : DFL_SCHEDULE_ONE_F_ONE_B,
                                          .stages = p->stages, .stage = stage, .interleave = p->interleave,
                                          .micro_batches = f->micro_batches,
                                          .trains = dfl_plan_has_phase(f->workload, DFL_PHASE_BACKWARD) },
                              .has_first = stage == 0, .has_last = stage + 1 == p->stages };

    for (uint32_t c = 0; c < p->interleave; c++)
        shape.layers += p->chunk_layers[c * p->stages + stage];
    return shape;
}

/* Bits as a size: "4.2 GB". */
static const char *size_text(const dfl_frame *f, dfl_i128 bits)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    double bytes = dfl_i128_double(bits) / 8;
    uint32_t unit = 0;

    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 1000; unit++)
        bytes /= 1000;
    return dfl_arena_printf(f->arena, "%.4g %s", bytes, units[unit]);
}

/* Reports the memory that a stage exceeds. */
static bool check_capacity(const dfl_plan_state *p, uint32_t stage, const dfl_plan_memory *held)
{
    const dfl_frame *f = &p->frame;

    for (uint32_t m = 0; m < f->system->n_memories; m++) {
        const dfl_memory *memory = &f->system->memories[m];
        dfl_diag *d;

        if (memory->size_bits < 0 || held[m].peak_bits <= memory->size_bits)
            continue;
        d = dfl_report(f->sink, DFL_MAP_CAPACITY, f->mapping->span, "stage %lu needs %s of `%s`, which has %s: +%s",
                       (unsigned long)stage, size_text(f, held[m].peak_bits), dfl_sym_text(f->names, memory->name),
                       size_text(f, memory->size_bits), size_text(f, held[m].peak_bits - memory->size_bits));
        dfl_diag_label(f->sink, d, memory->size_span, "the size of `%s`", dfl_sym_text(f->names, memory->name));
        for (uint32_t h = 0; h < DFL_N_HELD; h++)
            if (held[m].held[h] > 0)
                dfl_diag_note(f->sink, d, "%s: %s", dfl_held_name(h), size_text(f, held[m].held[h]));
        dfl_diag_help(f->sink, d, "divide weights or layers among more chips, use smaller micro-batches, or `recompute` "
                      "activations");
        return false;
    }
    return true;
}

/* Whether two stages hold the same: other stages have other micro-batches in flight, if there are enough of them. */
static bool is_alike(const dfl_stage_shape *a, const dfl_stage_shape *b)
{
    const bool has_few = a->flight.micro_batches <= a->flight.stages - (a->flight.stage > b->flight.stage ? a : b)->flight.stage;
    const bool is_equal = !a->flight.trains || a->flight.schedule == DFL_SCHEDULE_GPIPE ||
                          (a->flight.schedule == DFL_SCHEDULE_ONE_F_ONE_B && a->flight.interleave == 1 && has_few);

    for (uint32_t c = 0; c < a->flight.interleave; c++)
        if (a->chunks[c * a->flight.stages] != b->chunks[c * a->flight.stages])
            return false;
    return is_equal && a->has_first == b->has_first && a->has_last == b->has_last;
}

/* What an earlier stage of the same shape holds, or NULL. */
static dfl_plan_memory *find_alike(const dfl_stage_shape *shapes, const dfl_plan_stage *stages, uint32_t n,
                                   const dfl_stage_shape *shape)
{
    for (uint32_t s = n; s-- > 0;)
        if (is_alike(&shapes[s], shape))
            return stages[s].memories;
    return NULL;
}

static bool find_stages(dfl_plan_state *p)
{
    dfl_plan_stage *stages = DFL_NEW_ARRAY(p->frame.arena, dfl_plan_stage, p->stages);
    dfl_stage_shape *shapes = DFL_NEW_ARRAY(p->frame.arena, dfl_stage_shape, p->stages);
    dfl_lives *lives;

    if (dfl_lives_find(&p->work, &p->layouts, &lives)) {
        dfl_held_report(&p->frame);
        return false;
    }
    for (uint32_t s = 0; s < p->stages; s++) {
        dfl_stage_shape shape = dfl_plan_shape(p, s);

        stages[s].layers = shape.layers;
        stages[s].end_seconds = dfl_plan_end(p, s);
        for (uint32_t c = 0; c < p->interleave; c++) {
            const dfl_plan_kind *kind = &p->kinds[0];

            stages[s].forward_seconds += kind->forward[c * p->stages + s]->seconds;
            stages[s].backward_seconds += kind->backward ? kind->backward[c * p->stages + s]->seconds : 0;
            stages[s].backward_seconds += kind->weights ? kind->weights[c * p->stages + s]->seconds : 0;
        }
        stages[s].memories = find_alike(shapes, stages, s, &shape);
        shapes[s] = shape;
        if (stages[s].memories == NULL)
            stages[s].memories = dfl_held_find(&p->frame, &p->layouts, lives, &shape);
        if (stages[s].memories == NULL || !check_capacity(p, s, stages[s].memories))
            return false;
    }
    p->out.stages = stages;
    p->out.n_stages = p->stages;
    return true;
}

bool dfl_plan_is_open(const dfl_mapping *mapping)
{
    if (mapping->n_decisions > 0 && mapping->decided == NULL)
        return true;
    for (uint32_t i = 0; i < mapping->root->n_lines; i++)
        if (mapping->root->lines[i].kind != DFL_LINE_KEEP && mapping->root->lines[i].by == DFL_BY_HOLE)
            return true;
    return false;
}

bool dfl_plan_uses_all(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    dfl_frame f = dfl_frame_open(arena, sink, names, mapping);

    return f.home != DFL_NONE && check_body(&f) && dfl_frame_divide(&f) && f.is_full;
}

bool dfl_plan_start(dfl_plan_state *p, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    p->frame = dfl_frame_open(arena, sink, names, mapping);
    return p->frame.home != DFL_NONE && check_options(&p->frame) && check_body(&p->frame);
}

/* Sets what the evaluation of all steps needs: branches, times of einsums, exchanges. `known`: the exchanges, else NULL. */
static bool find_work(dfl_plan_state *p, const dfl_plan_exchanges *known)
{
    if (!dfl_branches_find(&p->frame, &p->branches))
        return false;
    p->times = dfl_chip_times_find(&p->frame, &p->branches, NULL);
    if (p->times == NULL || !dfl_offload_find(&p->frame, &p->layouts, &p->work.offload))
        return false;
    if (known != NULL)
        p->exchanges = *known;
    else if (!dfl_exchanges_find(&p->frame, &p->layouts, NULL, &p->exchanges))
        return false;
    p->work = (dfl_plan_work){ .frame = &p->frame, .times = p->times, .exchanges = &p->exchanges,
                               .is_recomputed = p->frame.recomputed, .branches = &p->branches,
                               .offload = p->work.offload, .memo = p->memo != NULL ? p->memo->groups : NULL };
    if (!dfl_iterations_find(&p->work, &p->layouts, p->times, &p->exchanges) ||
        !dfl_grouping_find(&p->work, &p->branches, p->times))
        return false;
    p->again = dfl_chip_times_again(&p->frame, &p->branches, p->times);
    p->work.again = p->again;
    return p->again != NULL;
}

bool dfl_plan_find_step(dfl_plan_state *p, const dfl_plan_exchanges *known)
{
    if (!find_work(p, known))
        return false;
    dfl_plan_divide_layers(p);
    if (!dfl_plan_kinds_find(p))
        return false;
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        time_chunks(p, &p->kinds[k]);
        if (!find_message(p, &p->kinds[k]))
            return false;
    }
    time_update(p);
    if (!run_pipeline(p) || is_stopped(p->frame.arena)) /* a recurrence that is stopped has no end */
        return false;
    find_step(p);
    return true;
}

dfl_plan_memo *dfl_plan_memo_new(dfl_arena *arena)
{
    enum { KEPT = 1 << 20 }; /* numbers of all keys of a table, 8 bytes each */
    dfl_plan_memo *memo = DFL_NEW(arena, dfl_plan_memo);

    *memo = (dfl_plan_memo){ .groups = dfl_memo_new(arena, KEPT), .pipelines = dfl_memo_new(arena, KEPT) };
    return memo;
}

const dfl_result *dfl_plan_evaluate(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                    dfl_plan_memo *memo)
{
    dfl_plan_state *p = DFL_NEW(arena, dfl_plan_state);

    p->memo = memo;
    if (!dfl_plan_start(p, arena, sink, names, mapping) || !dfl_frame_build(&p->frame))
        return NULL;
    dfl_homes_set(&p->frame);
    if (!dfl_layouts_find(&p->frame, &p->layouts) || !dfl_plan_find_step(p, NULL) || !find_stages(p) || !dfl_plan_record(p))
        return NULL;
    return dfl_plan_result_of(p);
}
