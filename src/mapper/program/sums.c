#include "mapper/program/sums.h"

#include "mapper/program/exponential.h"

/* Shares, value and slopes of a curved sum, whose monomials have the values `out->share`. */
static void add_up(const dfl_geometric_program *p, uint32_t sum, dfl_geometric_sums *out)
{
    const uint32_t first = p->first_term[sum], end = p->first_term[sum + 1];
    double total = 0, scale, slope[DFL_GEOMETRIC_VARS];

    for (uint32_t t = first; t < end; t++)
        total += out->share[t];
    out->value[sum] = dfl_logarithm(total);
    scale = 1 / total;
    for (uint32_t i = p->first_slope[sum]; i < p->first_slope[sum + 1]; i++)
        slope[p->slope_var[i]] = 0;
    for (uint32_t t = first; t < end; t++) {
        const double share = out->share[t] * scale;
        out->share[t] = share;
        for (uint32_t i = p->first_power[t]; i < p->first_power[t + 1]; i++)
            slope[p->var[i]] += share * p->power[i];
    }
    for (uint32_t i = p->first_slope[sum]; i < p->first_slope[sum + 1]; i++)
        out->slope[i] = slope[p->slope_var[i]];
}

void dfl_geometric_evaluate(const dfl_geometric_program *p, const double *x, dfl_geometric_sums *out)
{
    const uint32_t curved = p->first_term[p->n_curved];
    double exponent[DFL_GEOMETRIC_TERMS];

    for (uint32_t t = 0; t < p->n_terms; t++) {
        double sum = p->offset[t];
        for (uint32_t i = p->first_power[t]; i < p->first_power[t + 1]; i++)
            sum += p->power[i] * x[p->var[i]];
        exponent[t] = sum;
    }
    dfl_exponentials(exponent, curved, out->share);
    for (uint32_t k = 0; k < p->n_curved; k++)
        add_up(p, k, out);
    for (uint32_t k = p->n_curved; k < p->n_sums; k++) {
        const uint32_t t = p->first_term[k], n = p->first_power[t + 1] - p->first_power[t];
        out->value[k] = exponent[t];
        for (uint32_t i = 0; i < n; i++)
            out->slope[p->first_slope[k] + i] = p->power[p->first_power[t] + i];
    }
}
