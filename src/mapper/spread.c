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

void dfl_spread_start(dfl_search *s)
{
    const dfl_job *job = s->job;
    uint32_t all = (1u << job->n_axes) - 1;

    for (uint32_t o = 0; o < job->n_operands; o++)
        s->inside[o][0] = s->outside[o][0] = 1;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        s->whole[0][r] = 1;
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        const dfl_term_group *group = &s->terms.group[g];
        s->group_least[g] = s->group_most[g] = 1;
        s->group_last[g] = 0;
        for (uint32_t bits = group->ranks; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            bool last = s->last_gap[r] <= group->gap;
            s->group_last[g] |= (uint32_t)last << r;
            s->group_least[g] *= last ? (double)job->extent[r] : s->need[r][group->gap];
            s->group_most[g] *= (double)job->extent[r];
        }
    }
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        *(t->joules < 0 ? &s->losses[t->factor] : &s->gains[t->factor]) += t->joules;
        if (t->seconds != 0)
            s->busy[s->n_busy++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_job_operand *o = &job->operand[s->t->keep[i].operand];
        uint32_t ranks = o->plain & ~s->cut_above[i], n = s->n_whole_keeps;
        if (ranks == 0 || isinf(job->place[s->t->keep[i].place].bits))
            continue;
        s->whole_keep[n].keep = i;
        s->whole_keep[n].ranks = ranks;
        s->whole_keep[n].bits = o->bits * (s->t->keep[i].home ? 1 : job->place[s->t->keep[i].place].buffers);
        for (uint32_t bits = ranks; bits != 0; bits &= bits - 1)
            s->whole_keep[n].bits *= (double)job->extent[__builtin_ctz(bits)];
        s->n_whole_keeps++;
    }
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        const dfl_term_factor *f = &s->terms.factor[i];
        s->negative[f->group] |= f->negative;
        uint32_t dividing = f->under | (!f->distinct && s->group_last[f->group] != 0 ? all & ~f->over : 0);
        for (uint32_t decided = 0; decided <= job->n_axes; decided++) {
            s->undecided[decided][i] = 1;
            for (uint32_t left = dividing & ~((1u << decided) - 1); left != 0; left &= left - 1)
                s->undecided[decided][i] /= (double)job->axis[__builtin_ctz(left)].size;
        }
    }
}

/* Takes over the parts on axis `a`: products over sets of the axes up to it. */
static void note_axis(dfl_search *s, uint32_t a)
{
    const dfl_job *job = s->job;

    for (uint32_t o = 0; o < job->n_operands; o++) {
        double inside = 1, outside = 1;
        for (uint32_t r = 0; r < job->n_ranks; r++)
            *(job->operand[o].ranks >> r & 1 ? &inside : &outside) *= (double)s->parts[a][r];
        for (uint32_t mask = 0; mask < 1u << a; mask++) {
            s->inside[o][mask | 1u << a] = s->inside[o][mask] * inside;
            s->outside[o][mask | 1u << a] = s->outside[o][mask] * outside;
        }
    }
    for (uint32_t r = 0; r < job->n_ranks; r++)
        s->whole[a + 1][r] = s->whole[a][r] * (double)s->parts[a][r];
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
    double *factor = s->factor;

    memset(s->joules, 0, s->terms.n_groups * sizeof *s->joules);
    for (uint32_t p = 0; p < s->n_used; p++)
        for (uint32_t set = 0; set < 2; set++)
            memset(s->all_ports[set][s->used_ports[p]], 0, s->terms.n_groups * sizeof *s->joules);
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        const dfl_term_factor *f = &s->terms.factor[i];
        factor[i] = job->operand[f->operand].elements / s->inside[f->operand][f->under] *
                    (f->distinct ? 1 : s->outside[f->operand][f->over]);
        if (job->windows)
            factor[i] *= halo(s, &job->operand[f->operand], f->over | f->under);
    }
    for (uint32_t g = 0; g < s->terms.n_groups && job->windows; g++) {
        const dfl_term_group *group = &s->terms.group[g];
        const dfl_job_operand *o = group->window < 0 ? NULL : &job->operand[group->window];
        s->strided[g] = o == NULL ? 1 : fmax(1, halo(s, o, group->inner) / halo(s, o, group->axes));
    }
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        s->joules[t->by.group] += t->joules * factor[t->factor];
        s->all_ports[0][t->port][t->by.group] += t->seconds * factor[t->factor];
        s->all_ports[1][t->port][t->by.group] += t->above && !s->goal->alone ? 0 : t->seconds * factor[t->factor];
    }
}

/*
 * What the template costs at least once the first `decided` axes are. A rank that no gap behind a term's can cut has all of
 * its iterations there, less what the axes outside of `over` take of them; any other may have one, or as many as a gap
 * needs. An axis that is not decided divides a term once at most by its size, whatever the ranks on it.
 */
void dfl_spread_bound(const dfl_search *s, uint32_t decided, double *least_joules, double *least_seconds)
{
    const dfl_job *job = s->job;
    const dfl_terms *terms = &s->terms;
    uint32_t known = (1u << decided) - 1;
    double least[DFL_TERM_GROUPS] = { 0 }, most[DFL_TERM_GROUPS] = { 0 }, low[DFL_TERMS], high[DFL_TERMS];
    double joules = job->points * job->joules, ports[DFL_TERM_PORTS] = { 0 }, seconds = job->points * job->seconds;

    for (uint32_t a = decided; a < job->n_axes; a++)
        seconds /= (double)job->axis[a].size;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        seconds /= s->whole[decided][r];
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
        double factor = job->operand[f->operand].elements / s->inside[f->operand][f->under & known] *
                        (f->distinct ? 1 : s->outside[f->operand][f->over & known]);
        low[i] = factor * (f->distinct ? 1 : least[f->group]) * s->undecided[decided][i];
        high[i] = f->negative ? factor * (f->distinct ? 1 : most[f->group]) : low[i];
        joules += s->gains[i] * low[i] + s->losses[i] * high[i];
    }
    *least_joules = joules;
    *least_seconds = seconds;
    if (s->goal != NULL && !s->goal->by_time)
        return;
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &terms->at[s->busy[i]];
        if (!t->above || (s->goal != NULL && s->goal->alone))
            ports[t->port] += t->seconds * (t->seconds < 0 ? high : low)[t->factor];
    }
    for (uint32_t p = 0; p < s->n_used; p++)
        seconds = seconds > ports[s->used_ports[p]] ? seconds : ports[s->used_ports[p]];
    *least_seconds = seconds;
}

/* Whether keeps have room as far as the axes that are decided, and all of the others, cut what no loop above them can. */
static bool room_ahead(const dfl_search *s, uint32_t decided)
{
    for (uint32_t k = 0; k < s->n_whole_keeps; k++) {
        uint32_t i = s->whole_keep[k].keep;
        double bits = s->whole_keep[k].bits;
        for (uint32_t a = 0; a < s->job->n_axes; a++) {
            if (!(s->axes_of[i] >> a & 1))
                continue;
            if (a >= decided)
                bits /= (double)s->job->axis[a].size;
            else
                for (uint32_t ranks = s->whole_keep[k].ranks; ranks != 0; ranks &= ranks - 1)
                    bits /= (double)s->parts[a][__builtin_ctz(ranks)];
        }
        if (bits > s->job->place[s->t->keep[i].place].bits)
            return false;
    }
    return true;
}

static bool promising(const dfl_search *s, uint32_t decided)
{
    double joules, seconds;

    if (!room_ahead(s, decided))
        return false;
    dfl_spread_bound(s, decided, &joules, &seconds);
    return dfl_tile_useful(s->goal, joules, seconds);
}

/* Spreads rank `r` and those behind it over axis `a`, then the axes inside of it. `seconds` are those of the unit if all
   instances were busy that the parts so far on this axis leave, `free` for each of them. */
static void spread_from(dfl_search *s, uint32_t a, uint32_t r, int64_t free, double seconds,
                        void (*search)(dfl_search *s))
{
    const dfl_job *job = s->job;
    int64_t left;
    bool last;

    if (dfl_halted(s->goal->halt))
        return;
    if (r == job->n_ranks) {
        note_axis(s, a);
        s->rows->evaluated++;
        if (!promising(s, a + 1))
            s->rows->pruned++;
        else if (a + 1 == job->n_axes)
            search(s);
        else
            spread_from(s, a + 1, 0, job->axis[a + 1].size, seconds * (double)free, search);
        return;
    }
    if (!(job->axis[a].ranks >> r & 1)) {
        spread_from(s, a, r + 1, free, seconds, search);
        return;
    }
    last = job->axis[a].ranks >> (r + 1) == 0;
    left = job->extent[r] / s->shared_by[r];
    for (uint32_t b = 0; b < a; b++)
        left /= s->parts[b][r];
    /* many parts first: what keeps most instances busy sets the limit for the others */
    for (uint32_t i = s->divisors[r].n; i-- > 0;) {
        int64_t d = s->divisors[r].at[i];
        if (d > free || left % d != 0 || (double)left < (double)d * s->need[r][s->t->n_keeps])
            continue;
        if (last && !dfl_tile_useful(s->goal, s->floor_joules, seconds * (double)free / (double)d)) {
            s->rows->pruned++;
            break; /* nor with fewer parts */
        }
        s->parts[a][r] = d;
        spread_from(s, a, r + 1, free / d, seconds, search);
        if (s->effort != 0 && s->rows->evaluated > s->effort)
            break;
    }
    s->parts[a][r] = 1;
}

void dfl_spreads_each(dfl_search *s, void (*search)(dfl_search *s))
{
    double seconds = s->job->points * s->job->seconds;

    for (uint32_t a = 0; a < s->job->n_axes; a++)
        seconds /= (double)s->job->axis[a].size;
    if (s->job->n_axes > 0)
        spread_from(s, 0, 0, s->job->axis[0].size, seconds, search);
    else
        search(s);
}
