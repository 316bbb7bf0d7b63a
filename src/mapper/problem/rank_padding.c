/* Longer ranks with more ways to be cut. */
#include "mapper/problem/rank_padding.h"

#include <string.h>

/* How much longer a rank may get, in hundredths, in each way; the last two go up to multiples of the largest array axis. */
static const int64_t SLACK[DFL_RAGGED_WAYS] = { 8, 30, 8, 30 };

static uint32_t count_divisors(int64_t n)
{
    uint32_t count = 1;

    for (int64_t p = 2; p <= n / p; p++) {
        uint32_t power = 1;
        for (; n % p == 0; n /= p)
            power++;
        count *= power;
    }
    return n > 1 ? 2 * count : count;
}

/* The multiple of `step` with most divisors from n on, up to the slack or to the first multiple; the smallest of them. */
static int64_t longer(int64_t n, int64_t slack, int64_t step)
{
    enum { TRIES = 512 };
    int64_t first = (n + step - 1) / step * step, best = first, last;
    uint32_t most = 0;

    if (n > INT64_C(1) << 40)
        return n;
    last = n + n * slack / 100;
    for (int64_t i = first, tries = 0; (i <= last || i == first) && tries < TRIES; i += step, tries++) {
        uint32_t count = count_divisors(i);
        if (count > most) {
            most = count;
            best = i;
        }
    }
    return best;
}

static void lengthen(const dfl_mapping *m, uint32_t way, int64_t *extent)
{
    int64_t widest = 1;

    for (uint32_t a = 0; a < m->system->n_axes; a++)
        if (m->system->axes[a].size > widest)
            widest = m->system->axes[a].size;
    for (uint32_t r = 0; r < m->workload->n_ranks; r++) {
        int64_t n = m->workload->ranks[r].extent, step = way >= DFL_RAGGED_WAYS / 2 && n >= widest ? widest : 1;
        extent[r] = n <= 3 ? n : longer(n, SLACK[way], step);
    }
}

dfl_mapping *dfl_rank_padding_longer(dfl_arena *arena, const dfl_mapping *m, uint32_t way)
{
    uint32_t n = m->workload->n_ranks;
    size_t size = n * sizeof(int64_t);
    int64_t *extent = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1), *other = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);
    dfl_rank *ranks = DFL_NEW_ARRAY(arena, dfl_rank, (size_t)n + 1);
    dfl_workload *w = DFL_NEW(arena, dfl_workload);
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);

    lengthen(m, way, extent);
    for (uint32_t r = 0; r < n; r++)
        other[r] = m->workload->ranks[r].extent;
    if (memcmp(extent, other, size) == 0)
        return NULL;
    for (uint32_t before = 0; before < way; before++) {
        lengthen(m, before, other);
        if (memcmp(extent, other, size) == 0)
            return NULL;
    }
    *w = *m->workload;
    for (uint32_t r = 0; r < n; r++) {
        ranks[r] = m->workload->ranks[r];
        ranks[r].extent = extent[r];
    }
    w->ranks = ranks;
    *out = *m;
    out->workload = w;
    return out;
}
