#include "plan/perfect.h"

#include <math.h>
#include <string.h>

/* The engines of one branch in one pass. */
typedef struct {
    double *units, *ports, *nets; /* [compute], [2 * memory + is_write], [network]: busy time */
    double *exchanges;            /* [exchange]: its share of the time of its network */
    int64_t iterations;           /* of the einsums of the branch in the chunk; 0 = none of them runs */
} engines;

static double exchange_seconds(const dfl_frame *f, const dfl_plan_exchange *x)
{
    return x->place == DFL_EXCHANGE_ONCE ? x->cost.seconds / (double)f->micro_batches : x->cost.seconds;
}

/* Adds an einsum of the chunk to the engines of its branch. */
static void add_einsum(const dfl_plan_work *work, const dfl_chunk *chunk, uint32_t einsum, engines *busy, dfl_chunk_time *out)
{
    const dfl_frame *f = work->frame;
    const dfl_chip_time *t = &work->times[einsum];

    busy->iterations = dfl_chunk_iterations(f, chunk, einsum);
    busy->units[t->compute] += t->operation_seconds;
    dfl_chip_time_add_ports(f, work->branches->of, einsum, t, busy->ports);
    for (uint32_t i = 0; i < work->exchanges->n; i++) {
        const dfl_plan_exchange *x = &work->exchanges->at[i];

        if (!dfl_chunk_exchanges(f, chunk, einsum, x))
            continue;
        busy->exchanges[i] = exchange_seconds(f, x);
        busy->nets[x->cost.network] += busy->exchanges[i];
        out->count[i] += busy->iterations;
    }
}

static double longest(const double *times, uint32_t n)
{
    double most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, times[i]);
    return most;
}

/* Adds the time of a branch: the time of its longest engine. What its network needs beyond the others is exposed; each exchange
   on the busiest network has its share of it. */
static void add_branch(const dfl_plan_work *work, const engines *busy, dfl_step_part part, dfl_chunk_time *out)
{
    const dfl_system *s = work->frame->system;
    const double iterations = (double)busy->iterations;
    uint32_t slowest;
    double chip = fmax(longest(busy->units, s->n_computes), dfl_busiest_memory(s, busy->ports, &slowest));
    double net = longest(busy->nets, s->n_networks), exposed = fmax(0, net - chip);

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

    if (is_again ? e->phase != DFL_PHASE_FORWARD || !work->is_recomputed[e->output.tensor] : e->phase != chunk->phase)
        return false;
    return dfl_chunk_has(work->frame, chunk, einsum);
}

dfl_chunk_time dfl_chunk_run_perfect(const dfl_plan_work *work, const dfl_chunk *chunk)
{
    static const dfl_step_part parts[] = { [DFL_PHASE_FORWARD] = DFL_STEP_FORWARD, [DFL_PHASE_BACKWARD] = DFL_STEP_BACKWARD,
                                           [DFL_PHASE_UPDATE] = DFL_STEP_UPDATE };
    const dfl_frame *f = work->frame;
    const dfl_system *s = f->system;
    const size_t n_exchanges = (size_t)work->exchanges->n + 1;
    const bool has_again = chunk->phase == DFL_PHASE_BACKWARD && chunk->part != DFL_CHUNK_WEIGHTS;
    const size_t n_busy = s->n_computes + 2 * (size_t)s->n_memories + s->n_networks + n_exchanges;
    double *all = DFL_NEW_ARRAY(f->arena, double, n_busy);
    engines busy = { .units = all, .ports = all + s->n_computes, .nets = all + s->n_computes + 2 * (size_t)s->n_memories };
    dfl_chunk_time out = { .exposed = DFL_NEW_ARRAY(f->arena, double, n_exchanges),
                           .count = DFL_NEW_ARRAY(f->arena, int64_t, n_exchanges) };

    busy.exchanges = busy.nets + s->n_networks;
    for (uint32_t b = 0; b < work->branches->n; b++)
        for (int again = 0; again <= (has_again ? 1 : 0); again++) {
            memset(all, 0, n_busy * sizeof *all);
            busy.iterations = 0;
            for (uint32_t e = 0; e < f->workload->n_einsums; e++)
                if (work->branches->of[e] == b && runs_as(work, chunk, e, again == 1))
                    add_einsum(work, chunk, e, &busy, &out);
            if (busy.iterations > 0)
                add_branch(work, &busy, again == 1 ? DFL_STEP_RECOMPUTE : parts[chunk->phase], &out);
        }
    return out;
}
