#include "plan/pass/allotment.h"

#include <math.h>

/* The times that a piece fills `lanes` units side by side, with `rows` of them on one another. */
static double fill_count(const dfl_compute *c, const dfl_allotment_work *w, double streamed, int64_t lanes, int64_t rows)
{
    const double up = w->has_rows ? ceil(streamed / (double)(rows * c->rows)) : 1;
    const double across = ceil((w->has_rows ? w->n * w->batch : streamed) / (double)(lanes * c->lanes));

    return up * across;
}

/* The time on these units: of whole pieces, and of the last one with the rest. Pieces beyond the rows are empty. */
static double seconds_of(const dfl_compute *c, const dfl_allotment_work *w, int64_t lanes, int64_t rows)
{
    const double all = w->has_rows ? w->m : w->n * w->batch;
    const double piece = ceil(all / w->pieces);
    const double whole = floor(all / piece);
    const double fills = whole * fill_count(c, w, piece, lanes, rows) + fill_count(c, w, all - whole * piece, lanes, rows);

    return fills * w->k * w->point_seconds;
}

const double *dfl_allotment_seconds(dfl_arena *arena, const dfl_compute *compute, int64_t units, const dfl_allotment_work *work)
{
    double *out = DFL_NEW_ARRAY(arena, double, (size_t)units);

    for (int64_t u = 0; u < units; u++)
        out[u] = INFINITY;
    for (int64_t lanes = 1; lanes <= units; lanes++)
        for (int64_t rows = 1; rows <= (work->has_rows ? units / lanes : 1); rows++)
            out[lanes * rows - 1] = fmin(out[lanes * rows - 1], seconds_of(compute, work, lanes, rows));
    for (int64_t u = 1; u < units; u++)
        out[u] = fmin(out[u], out[u - 1]);
    return out;
}

/*
 * Each einsum starts with one unit; the slowest one takes the least number of units that makes it faster, until too few are
 * left. At each point every einsum has the least number of units with which it is no slower than the slowest one was before. So
 * a faster division gives it at least as many, and the slowest one more: if these are too many, there is none.
 */
double dfl_allotment_divide(const double *const *seconds, uint32_t n, int64_t units, int64_t *taken)
{
    int64_t left = units - (int64_t)n;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        taken[i] = 1;
        sum += seconds[i][units - 1];
    }
    if (left < 0 || n == 0)
        return sum;
    for (;;) {
        uint32_t slowest = 0;
        int64_t more;

        for (uint32_t i = 1; i < n; i++)
            if (seconds[i][taken[i] - 1] > seconds[slowest][taken[slowest] - 1])
                slowest = i;
        more = taken[slowest];
        while (more < units && seconds[slowest][more] >= seconds[slowest][taken[slowest] - 1])
            more++;
        if (more == units || more + 1 - taken[slowest] > left)
            return seconds[slowest][taken[slowest] - 1];
        left -= more + 1 - taken[slowest];
        taken[slowest] = more + 1;
    }
}
