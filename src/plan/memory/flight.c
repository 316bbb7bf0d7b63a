#include "plan/memory/flight.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Adds `n` times `bits`. True on overflow. */
static bool add_times(dfl_i128 *sum, int64_t n, dfl_i128 bits)
{
    dfl_i128 all;

    return dfl_mul(n, bits, &all) || dfl_add(*sum, all, sum);
}

/* One chunk per stage: the i-th operation of a kind belongs to micro-batch i. With `zero_bubble`, stage p runs the gradients of
   weights p micro-batches late. During the backward operation of micro-batch j, the forward operations of min(M, j + P - p) have
   begun, j backward ones have ended, and max(0, j - p) of the weights. All three numbers are the largest that occur once j is p
   and M is at least P; before that, each j may be the peak. */
static bool peak_of_delayed(const dfl_flight *f, const dfl_stored *s, dfl_i128 *out)
{
    const int64_t behind = (int64_t)f->stages - f->stage, late = f->stage;

    *out = 0;
    for (int64_t j = 0; j < smaller(f->micro_batches, f->stages); j++) {
        const int64_t begun = smaller(f->micro_batches, j + behind), weighed = j > late ? j - late : 0;
        dfl_i128 sum = 0;

        if (add_times(&sum, begun - j, s->until_backward) || add_times(&sum, begun - weighed, s->until_weights) ||
            add_times(&sum, j + 1 - weighed, s->from_backward))
            return true;
        *out = sum > *out ? sum : *out;
    }
    return false;
}

/* The chunk of the i-th operation of a stage: groups of as many micro-batches as stages, the last one maybe smaller, go through
   all chunks. */
static uint32_t chunk_of(const dfl_flight *f, int64_t i, bool is_forward)
{
    const int64_t full = (int64_t)f->stages * f->interleave, group = i / full;
    const int64_t width = smaller(f->stages, f->micro_batches - group * f->stages);
    const uint32_t step = (uint32_t)((i - group * full) / width);

    return is_forward ? step : f->interleave - 1 - step;
}

/* Several chunks per stage: the operations one by one. Behind the warm-up the chunks in flight repeat after a group of
   micro-batches, so that two groups have the peak. */
static bool peak_of_chunks(const dfl_flight *f, const dfl_stored *s, dfl_i128 *out)
{
    const int64_t all = f->micro_batches * f->interleave, behind = (int64_t)f->stages - f->stage - 1;
    const int64_t warm = f->schedule == DFL_SCHEDULE_GPIPE ? all : 2 * behind + (int64_t)(f->interleave - 1) * f->stages + 1;
    const int64_t most = f->schedule == DFL_SCHEDULE_GPIPE ? all
                         : smaller(all, warm + 2 * (int64_t)f->stages * f->interleave);
    dfl_i128 sum = 0;

    *out = 0;
    for (int64_t i = 0; i < most; i++) {
        if (i >= warm)
            sum -= s[chunk_of(f, i - warm, false)].until_backward;
        if (dfl_add(sum, s[chunk_of(f, i, true)].until_backward, &sum))
            return true;
        *out = sum > *out ? sum : *out;
    }
    return false;
}

bool dfl_flight_peak(const dfl_flight *f, const dfl_stored *stored, dfl_i128 *out)
{
    *out = 0;
    if (!f->trains)
        return false;
    if (f->schedule == DFL_SCHEDULE_ZERO_BUBBLE)
        return peak_of_delayed(f, stored, out);
    if (f->interleave > 1)
        return peak_of_chunks(f, stored, out);
    return dfl_mul(f->schedule == DFL_SCHEDULE_GPIPE ? f->micro_batches
                                                      : smaller(f->micro_batches, (int64_t)f->stages - f->stage),
                   stored->until_backward, out);
}
