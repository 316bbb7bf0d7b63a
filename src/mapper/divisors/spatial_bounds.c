/* What a template costs at least while some axes have no ranks yet. */
#include <math.h>

#include "mapper/divisors/divisors_internal.h"

/*
 * What factors are at least, and at most where they count negative, for the parts on the first `decided` axes; those from axis
 * `open` on are not decided. A rank that no gap behind a term's can cut has all of its iterations there, less what the axes
 * outside of `over` take of them; any other may have one, or as many as a gap needs. An axis that is not decided divides a
 * term once at most by its size, whatever the ranks on it.
 */
void dfl_spatial_factors(const dfl_search *s, uint32_t decided, uint32_t open, double *low, double *high)
{
    const dfl_problem *problem = s->problem;
    const dfl_terms *terms = &s->terms;
    uint32_t known = (1u << decided) - 1;
    double least[DFL_TERM_GROUPS] = { 0 }, most[DFL_TERM_GROUPS] = { 0 };

    for (uint32_t g = 0; g < terms->n_groups; g++) {
        double parts = 1;
        for (uint32_t bits = s->group_last[g]; bits != 0; bits &= bits - 1)
            parts *= s->whole[decided][__builtin_ctz(bits)];
        least[g] = s->group_least[g] / parts;
        if (!s->negative[g])
            continue;
        for (uint32_t bits = terms->group[g].ranks & ~s->group_last[g]; bits != 0; bits &= bits - 1)
            parts *= s->whole[decided][__builtin_ctz(bits)];
        most[g] = s->group_most[g] / parts;
    }
    for (uint32_t i = 0; i < terms->n_factors; i++) {
        const dfl_term_factor *f = &terms->factor[i];
        double factor = (f->distinct ? 1 : s->outside[f->operand][f->over & known]) / s->inside[f->operand][f->under & known];
        low[i] = problem->operand[f->operand].touched * factor * (f->distinct ? 1 : least[f->group]) * s->undecided[open][i];
        high[i] = f->negative ? problem->operand[f->operand].elements * factor * (f->distinct ? 1 : most[f->group]) : low[i];
    }
}

/* The same of the whole template; then, whatever the loops are, every element passes once, from each instance what its share of
   all is at least. */
static void whole_factors(const dfl_search *s, double *low, double *high)
{
    const dfl_problem *problem = s->problem;

    dfl_spatial_factors(s, 0, 0, low, high);
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        const dfl_term_factor *f = &s->terms.factor[i];
        double once = problem->operand[f->operand].touched;
        for (uint32_t axes = f->under; axes != 0; axes &= axes - 1)
            once /= (double)problem->axis[__builtin_ctz(axes)].size;
        low[i] = fmax(low[i], once);
    }
}

void dfl_spatial_bound(const dfl_search *s, double *least_joules, double *least_seconds)
{
    const dfl_problem *problem = s->problem;
    double low[DFL_TERMS], high[DFL_TERMS];
    double joules = s->constant, sure = s->constant, ports[DFL_TERM_PORTS] = { 0 }, seconds = problem->points * problem->seconds;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        seconds /= (double)problem->axis[a].size;
    whole_factors(s, low, high);
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        joules += s->gains[i] * low[i] + s->losses[i] * high[i];
        sure += s->sure[i] * low[i];
    }
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        if (!t->above || (s->goal != NULL && s->goal->alone))
            ports[s->port_at[t->port]] += t->seconds * (t->seconds < 0 ? high : low)[t->factor];
    }
    for (uint32_t p = 0; p < s->n_used && p < DFL_TERM_PORTS; p++)
        seconds = seconds > ports[p] ? seconds : ports[p];
    *least_joules = joules > sure ? joules : sure;
    *least_seconds = seconds;
}

void dfl_spatial_port_time(const dfl_search *s, double *busy, double *below)
{
    double low[DFL_TERMS], high[DFL_TERMS];

    whole_factors(s, low, high);
    for (uint32_t p = 0; p < DFL_TERM_PORTS; p++)
        busy[p] = below[p] = 0;
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        const double seconds = t->seconds * (t->seconds < 0 ? high : low)[t->factor];
        busy[t->port] += seconds;
        below[t->port] += t->above ? 0 : seconds;
    }
}
