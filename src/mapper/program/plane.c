#include "mapper/program/plane.h"

#include <math.h>

/* Room for rounding in a trimmed side, relative and absolute: SEARCH.md, B20. */
#define SLACK 0x1p-40
/* Largest sum of multipliers: no product with it overflows. */
#define MOST 0x1p500

static double lesser(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

void dfl_geometric_tangent(const dfl_geometric_program *p, const dfl_geometric_sums *sums, const double *x,
                           const double *multiplier, bool limits_only, dfl_geometric_plane *out)
{
    double all = limits_only ? 0 : 1, constant = limits_only ? 0 : sums->value[0];

    for (uint32_t j = 0; j < p->n_vars; j++)
        out->slope[j] = 0;
    for (uint32_t i = p->first_slope[0]; i < p->first_slope[1] && !limits_only; i++)
        out->slope[p->slope_var[i]] = sums->slope[i];
    for (uint32_t k = 1; k < p->n_sums; k++) {
        const double m = multiplier[k] > 0 ? multiplier[k] : 0;
        all += m;
        constant += m * sums->value[k];
        for (uint32_t i = p->first_slope[k]; i < p->first_slope[k + 1]; i++)
            out->slope[p->slope_var[i]] += m * sums->slope[i];
    }
    for (uint32_t j = 0; j < p->n_vars; j++)
        constant -= out->slope[j] * x[j];
    out->constant = all < MOST ? constant - all * p->rounding : -INFINITY;
}

double dfl_geometric_least(const dfl_geometric_program *p, const dfl_geometric_plane *plane, const dfl_geometric_box *box)
{
    double sum = plane->constant;

    for (uint32_t j = 0; j < p->n_vars; j++)
        sum += plane->slope[j] * (plane->slope[j] > 0 ? box->low[j] : box->high[j]);
    return sum;
}

bool dfl_geometric_trim(const dfl_geometric_program *p, const dfl_geometric_plane *plane, double cutoff, dfl_geometric_box *box)
{
    const double left = cutoff - dfl_geometric_least(p, plane, box);

    if (left < 0)
        return false;
    for (uint32_t j = 0; j < p->n_vars; j++) {
        const double slope = plane->slope[j];
        if (slope > 0)
            box->high[j] = lesser(box->high[j], box->low[j] + left / slope * (1 + SLACK) + SLACK);
        else if (slope < 0)
            box->low[j] = larger(box->low[j], box->high[j] + left / slope * (1 + SLACK) - SLACK);
    }
    return true;
}
