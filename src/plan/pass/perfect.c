#include "plan/pass/perfect.h"

#include <math.h>

#include "plan/pass/engines.h"
#include "plan/pass/iterations.h"

/* Adds the exchanges of an einsum of the chunk, which runs `iterations` times in it, to the engines of its branch. */
static void add_exchanges(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t einsum, int64_t iterations,
                          dfl_engines *busy, dfl_chunk_time *out)
{
    for (uint32_t i = 0; i < work->exchanges->n; i++) {
        if (!dfl_chunk_exchanges(work->frame, chunk, einsum, &work->exchanges->at[i]))
            continue;
        if (work->exchanges->at[i].bits == 0)
            continue;
        dfl_engines_add_exchange(work, i, busy);
        out->count[i] += iterations;
    }
}

/* Adds the time of a branch: the time of its longest engine. What its network needs beyond the others is exposed; each exchange
   on the busiest network has its share of it. */
static void add_branch(const dfl_plan_work *work, const dfl_engines *busy, double iterations, dfl_step_part part,
                       dfl_chunk_time *out)
{
    const double chip = dfl_engines_chip(work, busy), net = dfl_engines_network(work, busy), exposed = fmax(0, net - chip);

    out->seconds += iterations * fmax(chip, net);
    out->step[part] += iterations * chip;
    out->step[DFL_STEP_COLLECTIVES] += iterations * exposed;
    for (uint32_t i = 0; i < work->exchanges->n && exposed > 0; i++)
        if (busy->nets[work->exchanges->at[i].cost.network] == net)
            out->exposed[i] += iterations * exposed * busy->exchanges[i] / net;
}

/* Whether an einsum runs in a chunk as a part of the step: einsums of its phase, or recomputed ones in the backward phase. */
static bool runs_as(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t einsum, bool is_again)
{
    const dfl_einsum *e = &work->frame->workload->einsums[einsum];

    if (is_again ? !dfl_frame_is_again(work->frame, einsum) : e->phase != chunk->phase)
        return false;
    return dfl_chunk_has(work->frame, chunk, einsum);
}

/* [place]: the einsums in the order of their branches; in a branch in workload order. */
static uint32_t *sort_by_branch(const dfl_plan_work *work)
{
    const uint32_t n = work->frame->workload->n_einsums;
    uint32_t *first = DFL_NEW_ARRAY(work->frame->arena, uint32_t, (size_t)work->branches->n + 1);
    uint32_t *out = DFL_NEW_ARRAY(work->frame->arena, uint32_t, n);

    for (uint32_t e = 0; e < n; e++)
        first[work->branches->of[e] + 1]++;
    for (uint32_t b = 0; b < work->branches->n; b++)
        first[b + 1] += first[b];
    for (uint32_t e = 0; e < n; e++)
        out[first[work->branches->of[e]]++] = e;
    return out;
}

/* Adds what the transfers of a chunk to and from memories outside of the chips need beyond its work. */
static void add_transfers(const dfl_plan_work *work, const dfl_chunk *chunk, bool has_again, dfl_chunk_time *out)
{
    const dfl_workload *w = work->frame->workload;
    uint32_t *einsums = DFL_NEW_ARRAY(work->frame->arena, uint32_t, (size_t)w->n_einsums + 1);
    bool *is_done = DFL_NEW_ARRAY(work->frame->arena, bool, (size_t)w->n_einsums + 1);
    double seconds = 0;

    for (uint32_t from = 0; from < w->n_einsums && work->offload != NULL; from++) {
        const bool has_layers = dfl_frame_repeat(work->frame, &w->einsums[from]) != DFL_NONE && chunk->phase != DFL_PHASE_UPDATE;
        const int64_t first = has_layers, others = dfl_chunk_iterations(work->frame, chunk, from) - first;
        size_t n = 0;

        for (uint32_t e = from; e < w->n_einsums; e++) {
            if (is_done[e] || dfl_frame_repeat(work->frame, &w->einsums[e]) != dfl_frame_repeat(work->frame, &w->einsums[from]) ||
                (!runs_as(work, chunk, e, false) && !(has_again && runs_as(work, chunk, e, true))))
                continue;
            is_done[e] = true;
            einsums[n++] = e;
        }
        if (n > 0 && others > 0)
            seconds += (double)others * dfl_chunk_transfers(work, chunk, false, einsums, n, others, out);
        if (n > 0 && first > 0 && others >= 0)
            seconds += dfl_chunk_transfers(work, chunk, true, einsums, n, 1, out);
    }
    out->step[DFL_STEP_OFFLOAD] += fmax(0, seconds - out->seconds);
    out->seconds = fmax(out->seconds, seconds);
}

/* Adds the time of `n` einsums of a branch, which all belong to one repeat, in an iteration; `times` equal ones. */
static void run_branch(const dfl_plan_work *work, const dfl_chunk *chunk, const uint32_t *einsums, uint32_t n, bool is_again,
                       const uint32_t *branch_of, int64_t times, dfl_step_part part, dfl_engines *busy, dfl_chunk_time *out)
{
    dfl_engines_clear(busy);
    for (uint32_t i = 0; i < n; i++)
        if (runs_as(work, chunk, einsums[i], is_again)) {
            dfl_engines_add(work, branch_of, is_again, einsums[i], busy);
            add_exchanges(work, chunk, einsums[i], times, busy, out);
        }
    add_branch(work, busy, (double)times, part, out);
}

dfl_chunk_time dfl_chunk_run_perfect(const dfl_plan_work *work, const dfl_chunk *chunk)
{
    static const dfl_step_part parts[] = { [DFL_PHASE_FORWARD] = DFL_STEP_FORWARD, [DFL_PHASE_BACKWARD] = DFL_STEP_BACKWARD,
                                           [DFL_PHASE_UPDATE] = DFL_STEP_UPDATE };
    const dfl_frame *f = work->frame;
    const uint32_t n = f->workload->n_einsums, *branch_of = work->branches->of, *sorted = sort_by_branch(work);
    const uint32_t *again_of = dfl_branches_again(f, branch_of, work->branches->n);
    const bool has_again = chunk->phase == DFL_PHASE_BACKWARD && chunk->part != DFL_CHUNK_WEIGHTS;
    dfl_engines busy = dfl_engines_new(work);
    dfl_chunk_time out = { .exposed = DFL_NEW_ARRAY(f->arena, double, (size_t)work->exchanges->n + 1),
                           .count = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)work->exchanges->n + 1) };

    for (uint32_t from = 0, to = 0; from < n; from = to) {
        while (to < n && branch_of[sorted[to]] == branch_of[sorted[from]])
            to++;
        for (int again = 0; again <= (has_again ? 1 : 0); again++) {
            const uint32_t repeat = dfl_frame_repeat(f, &f->workload->einsums[sorted[from]]);
            const bool varies = work->of_iteration != NULL && repeat != DFL_NONE;
            int64_t iterations = 0;

            for (uint32_t i = from; i < to; i++)
                if (runs_as(work, chunk, sorted[i], again == 1))
                    iterations = dfl_chunk_iterations(f, chunk, sorted[i]);
            for (int64_t k = 0; k < (varies ? iterations : iterations > 0); k++)
                run_branch(varies ? dfl_iteration_work(work, k) : work, chunk, &sorted[from], to - from, again == 1,
                           again == 1 ? again_of : branch_of, varies ? 1 : iterations,
                           again == 1 ? DFL_STEP_RECOMPUTE : parts[chunk->phase], &busy, &out);
        }
    }
    add_transfers(work, chunk, has_again, &out);
    return out;
}
