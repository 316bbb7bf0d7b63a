#include "plan/pass/iterations.h"

#include "plan/layout/lines.h"
#include "plan/layout/masks.h"

/* The first einsum of which a condition has the iteration; DFL_NONE = no iterations differ. */
static uint32_t first_varying(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (dfl_mask_varies(f, e))
            return e;
    return DFL_NONE;
}

/* Refuses what is evaluated with equal iterations. False after a report. */
static bool check_plan(const dfl_plan_work *work, uint32_t einsum)
{
    const dfl_frame *f = work->frame;
    const dfl_span span = f->workload->einsums[einsum].where[0].sum.span;

    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (f->workload->einsums[e].phase == DFL_PHASE_BACKWARD)
            return dfl_frame_refuse(f, span, "the iteration of a repeat in a `where` of a training step",
                                    "leave the iteration out of the condition");
    if (f->stage_slot != DFL_NONE)
        return dfl_frame_refuse(f, span, "the iteration of a repeat in a `where` beside stages", "leave out `pipeline`");
    if (work->branches->n_open > 0)
        return dfl_frame_refuse(f, span, "the iteration of a repeat in a `where` of groups that are searched",
                                "write the braces of the einsums that run together");
    return work->offload == NULL ||
           dfl_frame_refuse(f, span, "the iteration of a repeat in a `where` beside homes outside of the chips",
                            "keep the tensors in a memory of the chips");
}

/* Iterations of the longest repeat. */
static int64_t count_iterations(const dfl_frame *f)
{
    int64_t n = 1;

    for (uint32_t r = 0; r < f->workload->n_ranks; r++)
        if (f->repeats[r] && f->workload->ranks[r].extent > n)
            n = f->workload->ranks[r].extent;
    return n;
}

/* Sets the times of an einsum to the means over the iterations of its repeat. */
static void set_means(const dfl_plan_work *work, uint32_t einsum, dfl_chip_time *t)
{
    const uint32_t repeat = dfl_frame_repeat(work->frame, &work->frame->workload->einsums[einsum]);
    const int64_t n = repeat != DFL_NONE ? work->frame->workload->ranks[repeat].extent : 1;
    dfl_chip_time sum = *t;

    if (repeat == DFL_NONE)
        return;
    sum.work_seconds = sum.least_seconds = sum.launch_seconds = sum.operation_seconds = sum.memory_seconds = sum.seconds = 0;
    sum.mean_points = sum.mean_read_bits = sum.mean_written_bits = 0;
    for (int64_t i = 0; i < n; i++) {
        const dfl_chip_time *of = &work->of_iteration[i].times[einsum];

        sum.work_seconds += of->work_seconds / (double)n;
        sum.least_seconds += of->least_seconds / (double)n;
        sum.launch_seconds += of->launch_seconds / (double)n;
        sum.operation_seconds += of->operation_seconds / (double)n;
        sum.memory_seconds += of->memory_seconds / (double)n;
        sum.seconds += of->seconds / (double)n;
        sum.mean_points += of->mean_points / (double)n;
        sum.mean_read_bits += of->mean_read_bits / (double)n;
        sum.mean_written_bits += of->mean_written_bits / (double)n;
    }
    *t = sum;
}

/* Sets an exchange to that of the iteration that moves most. */
static void set_largest(const dfl_plan_work *work, uint32_t exchange, dfl_plan_exchange *out)
{
    dfl_i128 part = 0;

    *out = work->of_iteration[0].exchanges->at[exchange];
    for (int64_t i = 0; i < work->n_iterations; i++) {
        const dfl_plan_exchange *x = &work->of_iteration[i].exchanges->at[exchange];

        if (x->bits > out->bits)
            *out = *x;
        part = x->has_parts && x->part_bits > part ? x->part_bits : part;
    }
    out->part_bits = part;
}

bool dfl_iterations_find(dfl_plan_work *work, const dfl_layouts *layouts, dfl_chip_time *times, dfl_plan_exchanges *exchanges)
{
    const dfl_frame *f = work->frame;
    const uint32_t varying = first_varying(f);
    struct dfl_mask_counts *counts;
    dfl_plan_work *all;

    if (varying == DFL_NONE)
        return true;
    if (!check_plan(work, varying))
        return false;
    work->n_iterations = count_iterations(f);
    counts = dfl_mask_counts_new(f->arena);
    work->of_iteration = all = DFL_NEW_ARRAY(f->arena, dfl_plan_work, (size_t)work->n_iterations);
    for (int64_t i = 0; i < work->n_iterations; i++) {
        dfl_frame *frame = DFL_NEW(f->arena, dfl_frame);
        dfl_plan_exchanges *moved = DFL_NEW(f->arena, dfl_plan_exchanges);

        *frame = *f;
        frame->iteration = i;
        frame->counts = counts;
        all[i] = *work;
        all[i].of_iteration = NULL;
        all[i].frame = frame;
        all[i].times = dfl_chip_times_find(frame, work->branches, times);
        all[i].exchanges = moved;
        if (all[i].times == NULL ||
            (layouts != NULL && !dfl_exchanges_find(frame, layouts, i > 0 ? all[i - 1].exchanges : exchanges, moved)))
            return false;
    }
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        set_means(work, e, &times[e]);
    for (uint32_t x = 0; layouts != NULL && x < exchanges->n; x++)
        set_largest(work, x, &exchanges->at[x]);
    return true;
}
