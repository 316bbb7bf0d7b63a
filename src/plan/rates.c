#include "plan/rates.h"

#include <float.h>
#include <math.h>

#include "plan/layout/rows.h"

/* Seconds of one point of a product if all units of a chip do nothing else. */
static double point_seconds(const dfl_plan_state *p, uint32_t einsum)
{
    const dfl_frame *f = &p->frame;
    const uint32_t unit = p->times[einsum].compute;

    return dfl_point_seconds(f->names, f->workload, &f->workload->einsums[einsum], &f->system->computes[unit]) /
           dfl_chip_units(f, unit);
}

/* Points of all products of a step; those that the backward phase makes again count twice in `*all`. */
static double count_products(const dfl_plan_state *p, double *all)
{
    const dfl_workload *w = p->frame.workload;
    double sum = 0;

    *all = 0;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];
        const bool again = einsum->phase == DFL_PHASE_FORWARD && p->work.is_recomputed[einsum->output.tensor];
        dfl_i128 work;

        if (!einsum->is_mac || dfl_einsum_work(w, einsum, &work))
            continue;
        sum += dfl_i128_double(work);
        *all += dfl_i128_double(work) * (again ? 2 : 1);
    }
    return sum;
}

static bool has_rank(const dfl_access *access, uint32_t rank)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (dfl_index_coef(&access->index[d], rank) != 0)
            return true;
    return false;
}

/* Whether an einsum takes whole rows of a weight, one for each of the positions `at`: its result has all ranks of the positions,
   and one of a row. A product with gathered rows, as that of an expert, a sum of rows, as that of a bag, and single values are
   none. */
static bool takes_rows(const dfl_workload *w, const dfl_einsum *e, const dfl_access *rows, const dfl_access *at)
{
    const dfl_tensor *t = &w->tensors[rows->tensor];
    bool has_row = false;

    if (e->is_mac || w->tensors[at->tensor].role != DFL_ROLE_INPUT || w->tensors[t->table].role != DFL_ROLE_WEIGHT)
        return false;
    for (uint32_t d = 0; d < at->n_dims; d++)
        for (uint32_t k = 0; k < at->index[d].n_terms; k++)
            if (!has_rank(&e->output, at->index[d].terms[k].rank))
                return false;
    for (uint32_t d = 0; d < t->n_table_dims; d++)
        for (uint32_t k = 0; k < t->table_index[d].n_terms; k++) {
            const uint32_t rank = t->table_index[d].terms[k].rank;

            has_row |= has_rank(&e->output, rank) && !has_rank(at, rank);
        }
    return has_row;
}

/* The tokens of a step: the most positions at which an einsum takes whole rows of a weight, as an embedding; 0 = none. */
static double count_tokens(const dfl_workload *w)
{
    double most = 0;

    for (uint32_t e = 0; e < w->n_einsums && w->has_gathered; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs && w->einsums[e].phase == DFL_PHASE_FORWARD; i++) {
            const dfl_access *rows = &w->einsums[e].inputs[i];
            const dfl_access *at = w->tensors[rows->tensor].gathered ? dfl_rows_gathered_at(&w->einsums[e], rows->tensor) : NULL;
            dfl_i128 n;

            if (at != NULL && takes_rows(w, &w->einsums[e], rows, at) && !dfl_tensor_elements(&w->tensors[at->tensor], &n))
                most = fmax(most, dfl_i128_double(n));
        }
    return most;
}

/* Whether a time is too short to change the latency of a step in double precision. A unit that runs all products of a step in
   such a time models no hardware: other units take the time of its work, so a share of its peak has no meaning. */
static bool takes_nothing(double seconds, double latency) { return seconds <= latency * DBL_EPSILON; }

void dfl_plan_set_rates(dfl_plan_state *p)
{
    const dfl_workload *w = p->frame.workload;
    const double latency = dfl_plan_latency(p);
    double best = INFINITY, all, products = count_products(p, &all);

    for (uint32_t e = 0; e < w->n_einsums; e++)
        best = w->einsums[e].is_mac ? fmin(best, point_seconds(p, e)) : best;
    if (!isfinite(best) || !(latency > 0) || takes_nothing(all * best / (double)p->out.chips, latency))
        best = products = all = 0;
    p->out.peak_flops = best > 0 ? 2 / best : 0;
    p->out.model_utilization = best > 0 ? products * best / (double)p->out.chips / latency : 0;
    p->out.hardware_utilization = best > 0 ? all * best / (double)p->out.chips / latency : 0;
    p->out.tokens_per_second = latency > 0 ? count_tokens(w) / latency : 0;
}
