/* Spreads of ranks over axes, and what they cost at least. */
#include <math.h>
#include <string.h>

#include "mapper/search.h"

void dfl_spread_note(dfl_search *s)
{
    for (uint32_t r = 0; r < s->job->n_ranks; r++) {
        s->spread[0][r] = 1;
        for (uint32_t mask = 1; mask < 1u << s->job->n_axes; mask++)
            s->spread[mask][r] = s->spread[mask & (mask - 1)][r] * (double)s->parts[__builtin_ctz(mask)][r];
    }
}

/* How much more than its elements the parts of an operand on a set of axes hold, because windows overlap. */
static double halo(const dfl_search *s, const dfl_job_operand *o, uint32_t axes)
{
    double parts = 1;
    int64_t piece[DFL_JOB_RANKS];

    for (uint32_t r = 0; r < s->job->n_ranks; r++) {
        piece[r] = s->job->extent[r] / (int64_t)dfl_spread(s, r, axes);
        parts *= o->ranks >> r & 1 ? dfl_spread(s, r, axes) : 1;
    }
    return fmax(1, dfl_job_tile(o, piece) * parts / o->elements);
}

/* Coefficients of the groups for the present spread. */
void dfl_spread_scale(dfl_search *s)
{
    const dfl_job *job = s->job;

    memset(s->joules, 0, s->terms.n_groups * sizeof *s->joules);
    for (uint32_t p = 0; p < s->n_used; p++)
        for (uint32_t set = 0; set < 2; set++)
            memset(s->all_ports[set][s->used_ports[p]], 0, s->terms.n_groups * sizeof *s->joules);
    for (uint32_t o = 0; o < job->n_operands; o++)
        for (uint32_t mask = 0; mask < 1u << job->n_axes; mask++) {
            double inside = 1, outside = 1;
            for (uint32_t r = 0; r < job->n_ranks; r++)
                *(job->operand[o].ranks >> r & 1 ? &inside : &outside) *= dfl_spread(s, r, mask);
            s->inside[o][mask] = inside;
            s->outside[o][mask] = outside;
            s->halo[o][mask] = job->windows ? halo(s, &job->operand[o], mask) : 1;
        }
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        double factor = job->operand[t->operand].elements / s->inside[t->operand][t->under] *
                        (t->distinct ? 1 : s->outside[t->operand][t->over]) * s->halo[t->operand][t->over | t->under];
        s->joules[t->group] += t->joules * factor;
        s->all_ports[0][t->port][t->group] += t->seconds * factor;
        s->all_ports[1][t->port][t->group] += t->above && !s->goal->alone ? 0 : t->seconds * factor;
    }
}

/*
 * What the template costs at least once the first `decided` axes are. A rank that no gap behind a term's can cut has all of
 * its iterations there, less what the axes outside of `over` take of them; any other may have one. An axis that is not
 * decided divides a term once at most by its size, whatever the ranks on it.
 */
void dfl_spread_bound(const dfl_search *s, uint32_t decided, double *least_joules, double *least_seconds)
{
    const dfl_job *job = s->job;
    uint32_t known = (1u << decided) - 1, all = (1u << job->n_axes) - 1;
    double joules = job->points * job->joules, ports[DFL_TERM_PORTS] = { 0 }, steps = job->points, seconds;

    for (uint32_t a = 0; a < job->n_axes; a++)
        if (a >= decided)
            steps /= (double)job->axis[a].size;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        steps /= dfl_spread(s, r, known);
    seconds = steps * job->seconds;
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        const dfl_job_operand *o = &job->operand[t->operand];
        bool negative = t->joules < 0 || t->seconds < 0;
        uint32_t gap = s->terms.group[t->group].gap, dividing = t->under;
        double factor = o->elements;
        for (uint32_t r = 0; r < job->n_ranks; r++) {
            if (o->ranks >> r & 1) {
                factor /= dfl_spread(s, r, t->under & known);
            } else if (!t->distinct && (negative || s->last_gap[r] <= gap)) {
                factor *= (double)job->extent[r] / dfl_spread(s, r, known & ~t->over);
                dividing |= all & ~t->over;
            } else if (!t->distinct) {
                factor *= dfl_spread(s, r, t->over & known) * (double)(s->shared_gap[r] <= gap ? s->shared_by[r] : 1);
            }
        }
        for (uint32_t left = negative ? 0 : dividing & ~known; left != 0; left &= left - 1)
            factor /= (double)job->axis[__builtin_ctz(left)].size;
        joules += t->joules * factor;
        ports[t->port] += t->above && !(s->goal && s->goal->alone) ? 0 : t->seconds * factor;
    }
    for (uint32_t p = 0; p < 2 * job->n_places; p++)
        seconds = fmax(seconds, ports[p]);
    *least_joules = joules;
    *least_seconds = seconds;
}

static bool promising(const dfl_search *s, uint32_t decided)
{
    double joules, seconds;

    dfl_spread_bound(s, decided, &joules, &seconds);
    return dfl_tile_useful(s->goal, joules, seconds);
}

/* Spreads rank `r` and those behind it over axis `a`, then the axes inside of it. */
static void spread_from(dfl_search *s, uint32_t a, uint32_t r, int64_t free, void (*search)(dfl_search *s))
{
    const dfl_job *job = s->job;
    int64_t left;

    if (r == job->n_ranks) {
        if (a + 1 == job->n_axes) {
            search(s);
            return;
        }
        dfl_spread_note(s);
        s->rows->evaluated++;
        if (promising(s, a + 1))
            spread_from(s, a + 1, 0, job->axis[a + 1].size, search);
        else
            s->rows->pruned++;
        return;
    }
    left = job->extent[r] / s->shared_by[r];
    for (uint32_t b = 0; b < a; b++)
        left /= s->parts[b][r];
    /* many parts first: what keeps most instances busy sets the limit for the others */
    for (uint32_t i = job->axis[a].ranks >> r & 1 ? s->divisors[r].n : 1; i-- > 0;) {
        int64_t d = s->divisors[r].at[i];
        if (d > free || d > left || left % d != 0)
            continue;
        s->parts[a][r] = d;
        spread_from(s, a, r + 1, free / d, search);
        if (s->effort != 0 && s->rows->evaluated > s->effort)
            break;
    }
    s->parts[a][r] = 1;
}

void dfl_spreads_each(dfl_search *s, void (*search)(dfl_search *s))
{
    if (s->job->n_axes > 0)
        spread_from(s, 0, 0, s->job->axis[0].size, search);
    else
        search(s);
}
