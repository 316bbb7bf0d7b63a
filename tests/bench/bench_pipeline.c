/*
 * Measures the recurrence of pipelines: operations per second of one core, for 16 unequal stages and 3072 micro-batches with
 * each schedule.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "pipeline/pipeline.h"

enum { STAGES = 16, MICRO_BATCHES = 3072, MOST_CHUNKS = 4 * STAGES, ROUNDS = 5, TIMES = 10 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench(dfl_schedule schedule, uint32_t interleave)
{
    double times[MOST_CHUNKS], message[MOST_CHUNKS], best = INFINITY;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_pipeline p = {
        .schedule = schedule, .stages = STAGES, .interleave = interleave, .micro_batches = MICRO_BATCHES, .forward = times,
        .backward = times, .weight_gradient = schedule == DFL_SCHEDULE_ZERO_BUBBLE ? times : NULL, .send_forward = message,
        .send_backward = message,
    };

    for (uint32_t c = 0; c < STAGES * interleave; c++) {
        times[c] = 1e-3 * (1 + c % 3);
        message[c] = 1e-4;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < TIMES; i++) {
            dfl_arena_reset(arena);
            dfl_pipeline_run(arena, &p);
        }
        double took = (now() - start) / TIMES;
        best = took < best ? took : best;
    }
    double operations = (double)dfl_pipeline_operations(&p) * STAGES;
    printf("%-11s interleave %u           %8.2f ms, %.0f million operations/s and core (bar 20)\n", dfl_schedule_name(schedule),
           interleave, best * 1e3, operations / best / 1e6);
    dfl_arena_free(arena);
}

int main(void)
{
    bench(DFL_SCHEDULE_GPIPE, 1);
    bench(DFL_SCHEDULE_ONE_F_ONE_B, 1);
    bench(DFL_SCHEDULE_ONE_F_ONE_B, 4);
    bench(DFL_SCHEDULE_ZERO_BUBBLE, 1);
    return 0;
}
