/* Shares of peak rates. */
#include "ir/efficiency.h"

#include <math.h>

/* Index of the last of the ascending values that is at most `x`; `n` if all values are larger. */
static uint32_t find_last(const double *values, uint32_t n, double x)
{
    uint32_t low = 0, high = n;

    if (x < values[0])
        return n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (values[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double dfl_efficiency_share(const dfl_efficiency *e, double work)
{
    uint32_t i = find_last(e->at, e->n, work);

    if (i == e->n)
        return 0;
    if (!e->curve || i + 1 == e->n)
        return e->share[i];
    double part = (work - e->at[i]) / (e->at[i + 1] - e->at[i]);
    return e->share[i] + part * (e->share[i + 1] - e->share[i]);
}

double dfl_efficiency_grid_share(const dfl_efficiency *e, const double shape[DFL_GRID_DIMS])
{
    uint32_t low[DFL_GRID_DIMS];
    double part[DFL_GRID_DIMS], sum = 0;

    for (int d = 0; d < DFL_GRID_DIMS; d++) {
        const double *values = e->of[d];
        low[d] = find_last(values, e->n_of[d], shape[d]);
        if (low[d] == e->n_of[d])
            return 0;
        bool last = low[d] + 1 == e->n_of[d];
        part[d] = last ? 0 : log(shape[d] / values[low[d]]) / log(values[low[d] + 1] / values[low[d]]);
    }
    for (uint32_t corner = 0; corner < 1u << DFL_GRID_DIMS; corner++) {
        double weight = 1;
        uint32_t at = 0;
        for (int d = 0; d < DFL_GRID_DIMS; d++) {
            bool up = corner >> d & 1;
            weight *= up ? part[d] : 1 - part[d];
            at = at * e->n_of[d] + low[d] + (up && part[d] > 0);
        }
        sum += weight * e->share[at];
    }
    return sum;
}

void dfl_efficiency_print(dfl_strbuf *out, const dfl_efficiency *e)
{
    if (dfl_efficiency_is_grid(e)) {
        dfl_strbuf_printf(out, " grid %u x %u x %u", e->n_of[0], e->n_of[1], e->n_of[2]);
        return;
    }
    dfl_strbuf_z(out, e->curve ? " curve" : " table");
    for (uint32_t i = 0; i < e->n; i++)
        dfl_strbuf_printf(out, "%s%.6g %.6g", i > 0 ? ", " : " ", e->at[i], e->share[i]);
}

static bool is_ascending(const double *values, uint32_t n, double least)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(values[i] >= least) || !isfinite(values[i]) || (i > 0 && values[i - 1] >= values[i]))
            return false;
    return n > 0;
}

const char *dfl_efficiency_verify(const dfl_efficiency *e)
{
    if (!dfl_efficiency_is_grid(e) && !is_ascending(e->at, e->n, 0))
        return "points of an efficiency are not ascending";
    for (int d = 0; dfl_efficiency_is_grid(e) && d < DFL_GRID_DIMS; d++)
        if (!is_ascending(e->of[d], e->n_of[d], 1))
            return "extents of an efficiency are not ascending";
    for (uint32_t i = 0; i < e->n; i++)
        if (!(e->share[i] > 0 && e->share[i] <= 1))
            return "an efficiency is not between 0 and 1";
    return NULL;
}
