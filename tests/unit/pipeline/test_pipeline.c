/* The stages of a pipeline in time: closed forms of equal stages, schedules drawn by hand, and the laws of every schedule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness/check.h"

#include "pipeline/pipeline.h"
#include "tests/harness/draw.h"

enum { MOST = 12 };

static double larger(double a, double b) { return a > b ? a : b; }

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* A pipeline of equal chunks: times f, b, w of a chunk, message c. */
static dfl_pipeline make_equal(dfl_arena *arena, dfl_schedule schedule, uint32_t stages, uint32_t interleave,
                               uint32_t micro_batches, double f, double b, double w, double c)
{
    const uint32_t chunks = stages * interleave;
    double *times = DFL_NEW_ARRAY(arena, double, 5 * (size_t)chunks);

    for (uint32_t i = 0; i < chunks; i++) {
        times[i] = f;
        times[chunks + i] = b;
        times[2 * chunks + i] = w;
        times[3 * chunks + i] = i + 1 < chunks ? c : 0;
        times[4 * chunks + i] = i > 0 ? c : 0;
    }
    return (dfl_pipeline){
        .schedule = schedule, .stages = stages, .interleave = interleave, .micro_batches = micro_batches, .forward = times,
        .backward = times + chunks, .weight_gradient = schedule == DFL_SCHEDULE_ZERO_BUBBLE ? times + 2 * chunks : NULL,
        .send_forward = times + 3 * chunks, .send_backward = times + 4 * chunks,
    };
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

static void check_gpipe(dfl_arena *arena, uint32_t stages, uint32_t m, double c)
{
    const double f = 1.5, b = 3.25;
    dfl_pipeline p = make_equal(arena, DFL_SCHEDULE_GPIPE, stages, 1, m, f, b, 0, c);
    dfl_pipeline_times t = dfl_pipeline_run(arena, &p);

    assert_close(t.seconds, (m + stages - 1) * (f + b) + 2 * (stages - 1) * c, 1e-12);
    for (uint32_t k = 0; k < stages; k++)
        assert_int_equal(t.stages[k].in_flight, m);
}

static void check_one_f_one_b(dfl_arena *arena, uint32_t stages, uint32_t m, double c)
{
    const double f = 1.5, b = 3.25;
    dfl_pipeline p = make_equal(arena, DFL_SCHEDULE_ONE_F_ONE_B, stages, 1, m, f, b, 0, c);
    dfl_pipeline_times t = dfl_pipeline_run(arena, &p);

    if (c == 0)
        assert_close(t.seconds, (m + stages - 1) * (f + b), 1e-12);
    else if (m % stages == 0 && stages > 1)
        assert_close(t.seconds, (m + stages - 1) * (f + b) + (2.0 * (stages - 1) * m / stages + 2.0 * (stages - 2)) * c, 1e-12);
    for (uint32_t k = 0; k < stages; k++)
        assert_int_equal(t.stages[k].in_flight, lesser(m, stages - k));
}

static void check_interleaved(dfl_arena *arena, uint32_t stages, uint32_t interleave, uint32_t m)
{
    const double f = 1.5, b = 3.25, v = interleave;
    dfl_pipeline p = make_equal(arena, DFL_SCHEDULE_ONE_F_ONE_B, stages, interleave, m, f / v, b / v, 0, 0);

    if (m % stages) {
        assert_non_null(dfl_pipeline_conflict(&p));
        return;
    }
    assert_null(dfl_pipeline_conflict(&p));
    dfl_pipeline_times t = dfl_pipeline_run(arena, &p);
    assert_close(t.seconds, m * (f + b) + (stages - 1) * (f + b) / v, 1e-12);
    for (uint32_t k = 0; k < stages; k++)
        assert_int_equal(t.stages[k].in_flight,
                         lesser(2 * (int64_t)(stages - k - 1) + (int64_t)(interleave - 1) * stages + 1, (int64_t)m * interleave));
}

/* The closed form holds for M >= P and weight gradients that are not longer than a forward pass and input gradients. */
static void check_zero_bubble(dfl_arena *arena, uint32_t stages, uint32_t m)
{
    static const double rows[][3] = { { 2, 2.25, 1.75 }, { 2, 2, 2 }, { 4, 1, 1 }, { 1, 4, 1 } };

    for (int k = 0; k < 4; k++) {
        const double f = rows[k][0], b = rows[k][1], w = rows[k][2];
        dfl_pipeline p = make_equal(arena, DFL_SCHEDULE_ZERO_BUBBLE, stages, 1, m, f, b, w, 0);
        dfl_pipeline_times t = dfl_pipeline_run(arena, &p);

        assert_close(t.seconds, m >= stages ? m * (f + b + w) + (stages - 1) * (f + b - w) : (m + stages - 1) * (f + b) + w,
                     1e-12);
        for (uint32_t i = 0; i < stages; i++)
            assert_int_equal(t.stages[i].in_flight, lesser(m, stages));
    }
}

/* A pipeline of `joined` operations is a flow of equal jobs through the stages: the sum of their times, and the largest one for
   every further micro-batch. */
static void check_joined(dfl_arena *arena, uint32_t stages, uint32_t v, uint32_t m)
{
    const uint32_t chunks = stages * v, rest = m % stages;
    const double f = 1.5, b = 3.25, c = 0.25, each = f + b + 2 * c;
    dfl_pipeline p = make_equal(arena, DFL_SCHEDULE_JOINED, stages, v, m, f, b, 0, c);
    double *forward = DFL_NEW_ARRAY(arena, double, chunks), *all = DFL_NEW_ARRAY(arena, double, chunks), sum = 0, most = 0;

    for (uint32_t i = 0; i < chunks; i++)
        all[i] = c;
    p.send_forward = p.send_backward = all;
    assert_null(dfl_pipeline_conflict(&p));
    assert_close(dfl_pipeline_run(arena, &p).seconds,
                 (m * v + stages - 1 + (v > 1 && rest > 0 ? (v - 1) * (stages - rest) : 0)) * each, 1e-12);
    assert_int_equal(dfl_pipeline_run(arena, &p).stages[0].in_flight,
                     v == 1 ? lesser(m, stages)
                            : lesser(2 * (int64_t)(stages - 1) + (int64_t)(v - 1) * stages + 1, (int64_t)m * v));
    if (v > 1)
        return;
    for (uint32_t i = 0; i < stages; i++) {
        forward[i] = 1 + (i * 5 + m) % 7 / 4.0;
        sum += forward[i] + b + 2 * c;
        most = forward[i] + b + 2 * c > most ? forward[i] + b + 2 * c : most;
    }
    p.forward = forward;
    assert_close(dfl_pipeline_run(arena, &p).seconds, sum + (m - 1) * most, 1e-12);
}

static void matches_closed_forms(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    static const double messages[] = { 0, 0.125, 1, 20 };

    (void)state;
    for (uint32_t stages = 1; stages <= MOST; stages++)
        for (uint32_t m = 1; m <= MOST; m++) {
            for (int k = 0; k < 4; k++) {
                double c = stages > 1 ? messages[k] : 0;
                check_gpipe(arena, stages, m, c);
                check_one_f_one_b(arena, stages, m, c);
            }
            for (uint32_t v = 1; v <= MOST; v++) {
                check_joined(arena, stages, v, m);
                if (v > 1)
                    check_interleaved(arena, stages, v, m);
            }
            check_zero_bubble(arena, stages, m);
            dfl_arena_reset(arena);
        }
    dfl_arena_free(arena);
}

/* ---- schedules drawn by hand ------------------------------------------------------------------------------------- */

enum { MOST_STAGES = 4 };

typedef struct {
    const char *name;
    dfl_pipeline pipeline;
    double seconds;
    uint32_t last;
    dfl_stage_times stages[MOST_STAGES];   /* end, busy, waits for messages, idle, in flight, start of the last backward pass,
                                              start of the last operation of each chunk that makes gradients of weights */
    const char *order;                     /* of stage 0: pass, chunk, micro-batch of each operation */
} drawn_case;

#define T (const double[])
#define L (double[])

static const drawn_case drawn_cases[] = {
    { "1F1B, 2 stages, the second slower",
      { DFL_SCHEDULE_ONE_F_ONE_B, 2, 1, 3, T{ 1, 2 }, T{ 2, 3 }, NULL, T{ 0.5, 0 }, T{ 0, 0.5 }, NULL }, 19, 0,
      { { 19, 9, 1.5, 8.5, 2, 17, L{ 17 } }, { 16.5, 15, 0.5, 3.5, 1, 13.5, L{ 13.5 } } }, "F00 F01 B00 F02 B01 B02 " },
    { "GPipe, 3 stages, a slow message back",
      { DFL_SCHEDULE_GPIPE, 3, 1, 2, T{ 1, 3, 1 }, T{ 2, 1, 2 }, NULL, T{ 1, 0.5, 0 }, T{ 0, 0, 2 }, NULL }, 18.5, 0,
      { { 18.5, 6, 0, 12.5, 2, 16.5, L{ 16.5 } }, { 16.5, 8, 4, 6.5, 2, 15.5, L{ 15.5 } },
        { 13.5, 6, 1, 11.5, 2, 11.5, L{ 11.5 } } }, "F00 F01 B00 B01 " },
    { "interleaved, 2 stages with 2 chunks each",
      { DFL_SCHEDULE_ONE_F_ONE_B, 2, 2, 2, T{ 1, 1, 2, 1 }, T{ 2, 1, 1, 2 }, NULL, T{ 0, 0, 0, 0 }, T{ 0, 0, 0, 0 }, NULL }, 15, 0,
      { { 15, 12, 0, 3, 4, 13, L{ 13, 10 } }, { 12, 10, 0, 5, 3, 11, L{ 11, 8 } } }, "F00 F01 F20 F21 B20 B21 B00 B01 " },
    { "zero bubble, 2 stages",
      { DFL_SCHEDULE_ZERO_BUBBLE, 2, 1, 3, T{ 1, 1 }, T{ 1, 2 }, T{ 1, 1 }, T{ 0, 0 }, T{ 0, 0 }, NULL }, 13, 0,
      { { 13, 9, 0, 4, 2, 11, L{ 12 } }, { 13, 12, 0, 1, 2, 9, L{ 12 } } }, "F00 F01 B00 W00 F02 B01 W01 B02 W02 " },
    { "forward only, 4 stages",
      { DFL_SCHEDULE_ONE_F_ONE_B, 4, 1, 2, T{ 1, 2, 1, 3 }, NULL, NULL, T{ 0, 0, 0, 0 }, NULL, NULL }, 10, 3,
      { { 2, 2, 0, 8, 1, 0, L{ 1 } }, { 5, 4, 0, 6, 1, 0, L{ 3 } }, { 6, 2, 0, 8, 1, 0, L{ 5 } },
        { 10, 6, 0, 4, 1, 0, L{ 7 } } }, "F00 F01 " },
    { "the last micro-batch is half as large",
      { DFL_SCHEDULE_ONE_F_ONE_B, 2, 1, 3, T{ 1, 2, 0.5, 1 }, T{ 2, 3, 1, 1.5 }, NULL, T{ 0.5, 0, 0.25, 0 }, T{ 0, 0.5, 0, 0.25 },
        (const uint32_t[]){ 0, 0, 1 } }, 15.25, 0,
      { { 15.25, 7.5, 1.25, 6.5, 2, 14.25, L{ 14.25 } }, { 14, 12.5, 0.5, 2.25, 1, 12.5, L{ 12.5 } } }, "F00 F01 B00 F02 B01 B02 " },
    { "one stage is its work alone",
      { DFL_SCHEDULE_ONE_F_ONE_B, 1, 1, 2, T{ 3 }, T{ 5 }, NULL, T{ 0 }, T{ 0 }, NULL }, 16, 0,
      { { 16, 16, 0, 0, 1, 11, L{ 11 } } }, "F00 B00 F01 B01 " },
};

static void matches_drawing(void **state)
{
    const drawn_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    char order[128] = "";
    size_t len = 0;

    assert_null(dfl_pipeline_conflict(&c->pipeline));
    dfl_pipeline_times t = dfl_pipeline_run(arena, &c->pipeline);
    assert_close(t.seconds, c->seconds, 1e-12);
    assert_int_equal(t.last, c->last);
    for (uint32_t k = 0; k < c->pipeline.stages; k++) {
        assert_close(t.stages[k].end, c->stages[k].end, 1e-12);
        assert_close(t.stages[k].busy, c->stages[k].busy, 1e-12);
        assert_close(t.stages[k].waits_for_messages, c->stages[k].waits_for_messages, 1e-12);
        assert_close(t.stages[k].idle, c->stages[k].idle, 1e-12);
        assert_int_equal(t.stages[k].in_flight, c->stages[k].in_flight);
        assert_close(t.stages[k].last_backward_start, c->stages[k].last_backward_start, 1e-12);
        for (uint32_t i = 0; i < c->pipeline.interleave; i++)
            assert_close(t.stages[k].last_starts[i], c->stages[k].last_starts[i], 1e-12);
    }
    const dfl_stage_operation *list = dfl_pipeline_list(arena, &c->pipeline)[0];
    for (uint64_t i = 0; i < dfl_pipeline_operations(&c->pipeline); i++)
        len += (size_t)snprintf(order + len, sizeof order - len, "%c%u%u ", "FBW"[list[i].pass], list[i].chunk,
                                list[i].micro_batch);
    assert_string_equal(order, c->order);
    dfl_arena_free(arena);
}

/* ---- pipelines that cannot run ----------------------------------------------------------------------------------- */

static const dfl_pipeline refused[] = {
    { DFL_SCHEDULE_ONE_F_ONE_B, 4, 2, 6, T{ 0 }, T{ 0 }, NULL, T{ 0 }, T{ 0 }, NULL },
    { DFL_SCHEDULE_GPIPE, 4, 2, 6, T{ 0 }, T{ 0 }, NULL, T{ 0 }, T{ 0 }, NULL },
    { DFL_SCHEDULE_ZERO_BUBBLE, 4, 2, 8, T{ 0 }, T{ 0 }, T{ 0 }, T{ 0 }, T{ 0 }, NULL },
    { DFL_SCHEDULE_ZERO_BUBBLE, 4, 1, 8, T{ 0 }, NULL, NULL, T{ 0 }, NULL, NULL },
    { DFL_SCHEDULE_ZERO_BUBBLE, 4, 1, 8, T{ 0 }, T{ 0 }, NULL, T{ 0 }, T{ 0 }, NULL },
    { DFL_SCHEDULE_ONE_F_ONE_B, 4, 1, 8, T{ 0 }, T{ 0 }, T{ 0 }, T{ 0 }, T{ 0 }, NULL },
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_non_null(dfl_pipeline_conflict(&refused[i]));
    assert_string_equal(dfl_schedule_name(DFL_SCHEDULE_GPIPE), "gpipe");
    assert_string_equal(dfl_schedule_name(DFL_SCHEDULE_ONE_F_ONE_B), "one_f_one_b");
    assert_string_equal(dfl_schedule_name(DFL_SCHEDULE_ZERO_BUBBLE), "zero_bubble");
    assert_string_equal(dfl_schedule_name(DFL_SCHEDULE_JOINED), "joined");
}

/* ---- random pipelines -------------------------------------------------------------------------------------------- */

static double *draw_times(dfl_arena *arena, uint64_t *state, uint32_t n, uint32_t largest)
{
    double *times = DFL_NEW_ARRAY(arena, double, n);

    for (uint32_t i = 0; i < n; i++)
        times[i] = draw(state, 4) ? draw(state, largest) / 16.0 : 0;
    return times;
}

static dfl_pipeline draw_pipeline(dfl_arena *arena, uint64_t *state)
{
    dfl_pipeline p = { .schedule = (dfl_schedule)draw(state, 3), .stages = 1 + draw(state, 6), .interleave = 1 };

    p.micro_batches = 1 + draw(state, 14);
    if (p.schedule != DFL_SCHEDULE_ZERO_BUBBLE && draw(state, 2)) {
        p.interleave = 2 + draw(state, 3);
        p.micro_batches = p.stages * (1 + draw(state, 4));
    }
    const uint32_t chunks = p.stages * p.interleave;
    p.forward = draw_times(arena, state, chunks, 100);
    p.send_forward = draw_times(arena, state, chunks, 40);
    if (p.schedule == DFL_SCHEDULE_ZERO_BUBBLE || draw(state, 5)) {
        p.backward = draw_times(arena, state, chunks, 200);
        p.send_backward = draw_times(arena, state, chunks, 40);
    }
    if (p.schedule == DFL_SCHEDULE_ZERO_BUBBLE)
        p.weight_gradient = draw_times(arena, state, chunks, 100);
    return p;
}

/* Where the operation (pass, chunk, micro-batch) stands in the list of its stage; fails unless it stands there once. */
static const dfl_stage_operation *find_once(const dfl_pipeline *p, dfl_stage_operation **list, dfl_stage_pass pass,
                                            uint32_t chunk, uint32_t micro_batch)
{
    const dfl_stage_operation *found = NULL, *at = list[chunk % p->stages];

    for (uint64_t i = 0; i < dfl_pipeline_operations(p); i++)
        if (at[i].pass == pass && at[i].chunk == chunk && at[i].micro_batch == micro_batch) {
            assert_null(found);
            found = &at[i];
        }
    assert_non_null(found);
    return found;
}

/* End of what an operation waits for on another chunk or in the pass before, and arrival of its message. */
static void find_ready(const dfl_pipeline *p, dfl_stage_operation **list, const dfl_stage_operation *op, double *ready,
                       double *arrival)
{
    const uint32_t last = p->stages * p->interleave - 1, m = op->micro_batch;

    *ready = *arrival = 0;
    if (op->pass == DFL_STAGE_WEIGHT) {
        *ready = *arrival = find_once(p, list, DFL_STAGE_BACKWARD, op->chunk, m)->end;
    } else if (op->pass == DFL_STAGE_BACKWARD) {
        /* the activations of the own forward pass are there as well */
        assert_true(op->start >= find_once(p, list, DFL_STAGE_FORWARD, op->chunk, m)->end);
        if (op->chunk < last) {
            *ready = find_once(p, list, DFL_STAGE_BACKWARD, op->chunk + 1, m)->end;
            *arrival = *ready + p->send_backward[op->chunk + 1];
        }
    } else if (op->chunk > 0) {
        *ready = find_once(p, list, DFL_STAGE_FORWARD, op->chunk - 1, m)->end;
        *arrival = *ready + p->send_forward[op->chunk - 1];
    }
}

/* Chunks in flight just after the operation `at` of a list begins. */
static int64_t count_in_flight(const dfl_pipeline *p, const dfl_stage_operation *list, uint64_t at)
{
    const dfl_stage_pass release = p->weight_gradient ? DFL_STAGE_WEIGHT : DFL_STAGE_BACKWARD;
    int64_t n = 0;

    if (!p->backward)
        return 1;
    for (uint64_t i = 0; i <= at; i++)
        n += list[i].pass == DFL_STAGE_FORWARD ? 1 : list[i].pass == release && i < at ? -1 : 0;
    return n;
}

static void check_stage(const dfl_pipeline *p, dfl_stage_operation **list, uint32_t stage, const dfl_pipeline_times *times)
{
    const uint64_t n = dfl_pipeline_operations(p);
    const dfl_stage_times *t = &times->stages[stage];
    double end = 0, busy = 0, waits = 0, last_backward = 0, ready, arrival;
    int64_t in_flight = 0;

    for (uint64_t i = 0; i < n; i++) {
        const dfl_stage_operation *op = &list[stage][i];
        const double *seconds = op->pass == DFL_STAGE_FORWARD ? p->forward : op->pass == DFL_STAGE_BACKWARD ? p->backward
                                                                                                            : p->weight_gradient;
        assert_int_equal(op->chunk % p->stages, stage);
        find_once(p, list, op->pass, op->chunk, op->micro_batch);
        find_ready(p, list, op, &ready, &arrival);
        /* no operation overlaps the one before, none starts before its message arrives, and none starts later than it could */
        assert_true(op->start == larger(end, arrival));
        assert_true(op->end == op->start + seconds[op->chunk]);
        waits += op->start - larger(end, ready);
        busy += op->end - op->start;
        end = op->end;
        last_backward = op->pass == DFL_STAGE_BACKWARD ? op->start : last_backward;
        in_flight = count_in_flight(p, list[stage], i) > in_flight ? count_in_flight(p, list[stage], i) : in_flight;
    }
    assert_true(t->end == end && t->last_backward_start == last_backward);
    assert_close(t->busy, busy, 1e-12);
    assert_close(t->waits_for_messages, waits, 1e-12);
    assert_close(t->busy + t->waits_for_messages + t->idle, times->seconds, 1e-12);
    assert_int_equal(t->in_flight, in_flight);
}

static void obeys_laws(void **state)
{
    enum { CASES = 1500 };
    dfl_arena *arena = dfl_arena_new(NULL);
    uint64_t seed = 19;

    (void)state;
    for (int k = 0; k < CASES; k++) {
        dfl_pipeline p = draw_pipeline(arena, &seed);
        double longest = 0;
        assert_null(dfl_pipeline_conflict(&p));
        dfl_pipeline_times times = dfl_pipeline_run(arena, &p);
        dfl_stage_operation **list = dfl_pipeline_list(arena, &p);
        for (uint32_t stage = 0; stage < p.stages; stage++) {
            check_stage(&p, list, stage, &times);
            longest = larger(longest, times.stages[stage].end);
        }
        assert_true(times.seconds == longest && times.stages[times.last].end == longest);
        dfl_arena_reset(arena);
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_closed_forms), cmocka_unit_test(refuses), cmocka_unit_test(obeys_laws),
    };
    int failed = CHECK_GROUP("pipeline", tests);

    return failed + CHECK_TABLE("pipeline.drawn", drawn_cases, matches_drawing);
}
