/* The order in which a stage runs its operations: the schedules, written down operation by operation. */
#include "oracle/chips/order.h"

typedef DFL_VEC(chip_operation) operation_vec;

/* The i-th forward or backward operation of a stage: micro-batches in groups of as many as there are stages, each group through
   all chunks of the stage; backward in the opposite order of chunks. */
static chip_operation pick(const chips *c, chip_kind kind, int64_t i)
{
    const int64_t width = c->interleave == 1 ? 1 : c->n_stages, step = i / width % c->interleave;

    return (chip_operation){ kind, kind == CHIPS_FORWARD ? step : c->interleave - 1 - step,
                             i / (width * c->interleave) * width + i % width };
}

static bool trains(const chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->w->einsums[e].phase == DFL_PHASE_BACKWARD)
            return true;
    return false;
}

static dfl_schedule schedule_of(const chips *c)
{
    for (uint32_t i = 0; i < c->mapping->root->n_lines; i++)
        if (c->mapping->root->lines[i].stages != NULL)
            return c->mapping->root->lines[i].stages->schedule;
    return DFL_SCHEDULE_ONE_F_ONE_B;
}

/* Forward operations before the first backward one comes in turn. */
static int64_t warm_up(const chips *c, uint32_t stage, int64_t all)
{
    const int64_t behind = (int64_t)c->n_stages - 1 - stage;

    if (schedule_of(c) == DFL_SCHEDULE_GPIPE)
        return all;
    return c->interleave == 1 ? behind : 2 * behind + (c->interleave - 1) * c->n_stages;
}

uint32_t dfl_chips_order(const chips *c, uint32_t stage, chip_operation **out)
{
    const int64_t all = c->micro_batches * c->interleave, warm = warm_up(c, stage, all);
    const bool has_weights = schedule_of(c) == DFL_SCHEDULE_ZERO_BUBBLE;
    int64_t forward = 0, backward = 0, weights = 0;
    operation_vec v = { 0 };

    if (!trains(c)) { /* one chunk after the other, as the micro-batches come */
        for (int64_t i = 0; i < all; i++)
            DFL_PUSH(c->arena, &v, ((chip_operation){ CHIPS_FORWARD, i % c->interleave, i / c->interleave }));
        *out = v.at;
        return (uint32_t)v.n;
    }
    while (forward < all && forward < warm)
        DFL_PUSH(c->arena, &v, pick(c, CHIPS_FORWARD, forward++));
    while (backward < all) {
        if (forward < all)
            DFL_PUSH(c->arena, &v, pick(c, CHIPS_FORWARD, forward++));
        DFL_PUSH(c->arena, &v, pick(c, CHIPS_BACKWARD, backward++));
        if (has_weights && backward > stage) /* those of the micro-batch that came `stage` before */
            DFL_PUSH(c->arena, &v, pick(c, CHIPS_WEIGHTS, weights++));
    }
    while (has_weights && weights < all)
        DFL_PUSH(c->arena, &v, pick(c, CHIPS_WEIGHTS, weights++));
    *out = v.at;
    return (uint32_t)v.n;
}
