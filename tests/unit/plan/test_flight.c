/* Bits in flight against a walk over all operations of the schedule, and the numbers of ZB-H1 by hand. */
#include "tests/harness/check.h"

#include "pipeline/pipeline.h"
#include "plan/memory/flight.h"
#include "support/budget.h"

enum { MOST_STAGES = 4, MOST_BATCHES = 12, MOST_CHUNKS = 3 };

/* Bits of chunk k by what they wait for: powers of ten, so that a sum shows each number. */
static dfl_stored bits_of(uint32_t k, bool is_split)
{
    return (dfl_stored){ .until_backward = 1 + 3 * (dfl_i128)k, .until_weights = is_split ? 10000 : 0,
                         .from_backward = is_split ? 100 : 0 };
}

/* The most bits at once during one of the operations of a stage. */
static dfl_i128 walk(dfl_arena *arena, const dfl_pipeline *p, uint32_t stage)
{
    const bool is_split = p->weight_gradient != NULL;
    const uint64_t n = dfl_pipeline_operations(p);
    dfl_stage_operation **list = dfl_pipeline_list(arena, p);
    dfl_i128 most = 0;

    for (uint64_t now = 0; now < n; now++) {
        dfl_i128 sum = 0;

        for (uint32_t k = 0; k < p->interleave; k++)
            for (uint32_t m = 0; m < p->micro_batches; m++) {
                uint64_t at[3] = { 0, 0, 0 };
                const dfl_stored bits = bits_of(k, is_split);

                for (uint64_t i = 0; i < n; i++)
                    if (list[stage][i].chunk == k * p->stages + stage && list[stage][i].micro_batch == m)
                        at[list[stage][i].pass] = i;
                sum += at[DFL_STAGE_FORWARD] <= now && now <= at[DFL_STAGE_BACKWARD] ? bits.until_backward : 0;
                sum += at[DFL_STAGE_FORWARD] <= now && now <= at[DFL_STAGE_WEIGHT] ? bits.until_weights : 0;
                sum += at[DFL_STAGE_BACKWARD] <= now && now <= at[DFL_STAGE_WEIGHT] ? bits.from_backward : 0;
            }
        most = sum > most ? sum : most;
    }
    return most;
}

static void compare(dfl_arena *arena, dfl_schedule schedule, uint32_t stages, uint32_t micro_batches, uint32_t interleave)
{
    double one[MOST_STAGES * MOST_CHUNKS];
    const bool is_split = schedule == DFL_SCHEDULE_ZERO_BUBBLE;
    const dfl_pipeline p = { .schedule = schedule, .stages = stages, .interleave = interleave, .micro_batches = micro_batches,
                             .forward = one, .backward = one, .weight_gradient = is_split ? one : NULL, .send_forward = one,
                             .send_backward = one };

    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        one[i] = 1;
    if (dfl_pipeline_conflict(&p) != NULL)
        return;
    for (uint32_t s = 0; s < stages; s++) {
        const dfl_flight flight = { .schedule = schedule, .stages = stages, .stage = s, .interleave = interleave,
                                    .micro_batches = micro_batches, .trains = true };
        dfl_stored stored[MOST_CHUNKS];
        dfl_i128 peak;

        for (uint32_t k = 0; k < interleave; k++)
            stored[k] = bits_of(k, is_split);
        assert_false(dfl_flight_peak(&flight, stored, &peak));
        assert_int_equal((int64_t)peak, (int64_t)walk(arena, &p, s));
    }
}

static void equals_all_operations(void **state)
{
    static const dfl_schedule schedules[] = { DFL_SCHEDULE_GPIPE, DFL_SCHEDULE_ONE_F_ONE_B, DFL_SCHEDULE_ZERO_BUBBLE };
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
        for (uint32_t p = 1; p <= MOST_STAGES; p++)
            for (uint32_t m = 1; m <= MOST_BATCHES; m++)
                for (uint32_t v = 1; v <= MOST_CHUNKS; v++)
                    compare(arena, schedules[i], p, m, v);
    dfl_arena_free(arena);
}

/* Stage 1 of 4 with 8 micro-batches: 3 wait for their backward pass, 4 for their weights, and of 2 the gradients wait. */
static void delays_weights(void **state)
{
    const dfl_flight flight = { .schedule = DFL_SCHEDULE_ZERO_BUBBLE, .stages = 4, .stage = 1, .interleave = 1,
                                .micro_batches = 8, .trains = true };
    const dfl_stored stored = { .until_backward = 1, .until_weights = 10, .from_backward = 100 };
    dfl_i128 peak;

    (void)state;
    assert_false(dfl_flight_peak(&flight, &stored, &peak));
    assert_int_equal((int64_t)peak, 3 * 1 + 4 * 10 + 2 * 100);
}

static void reports_overflow(void **state)
{
    const dfl_flight flight = { .schedule = DFL_SCHEDULE_GPIPE, .stages = 1, .interleave = 1, .micro_batches = 4,
                                .trains = true };
    const dfl_stored stored = { .until_backward = (dfl_i128)1 << 125 };
    dfl_i128 peak;

    (void)state;
    assert_true(dfl_flight_peak(&flight, &stored, &peak));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_all_operations),
        cmocka_unit_test(delays_weights),
        cmocka_unit_test(reports_overflow),
    };

    return CHECK_GROUP("plan.flight", tests);
}
