#include "mapper/program/plane.h"

#include <math.h>

/* Largest sum of multipliers: no product with it overflows. */
#define MOST 0x1p500

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
