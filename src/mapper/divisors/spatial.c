/* What a spread of ranks over axes costs. */
#include <math.h>
#include <string.h>

#include "mapper/divisors/port_time.h"
#include "mapper/divisors/sliding.h"
#include "support/hash.h"

/* Takes over `parts`: products over sets of axes. */
static void note(dfl_search *s)
{
    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        s->spread[0][r] = 1;
        for (uint32_t mask = 1; mask < 1u << s->problem->n_axes; mask++)
            s->spread[mask][r] = s->spread[mask & (mask - 1)][r] * (double)s->parts[__builtin_ctz(mask)][r];
    }
}

void dfl_spatial_start(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    uint32_t all = (1u << problem->n_axes) - 1;
    double share[DFL_AXIS_SETS]; /* one over the sizes of a set of axes */

    share[0] = 1;
    for (uint32_t axes = 1; axes <= all; axes++)
        share[axes] = share[axes & (axes - 1)] / (double)problem->axis[__builtin_ctz(axes)].size;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        s->inside[o][0] = s->outside[o][0] = 1;
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        s->whole[0][r] = 1;
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        const dfl_term_group *group = &s->terms.group[g];
        s->group_least[g] = s->group_most[g] = 1;
        s->group_last[g] = 0;
        for (uint32_t bits = group->ranks; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            bool last = s->last_gap[r] <= group->gap;
            s->group_most[g] *= (double)problem->extent[r];
            if (group->window >= 0 && group->gap < s->t->n_keeps)
                continue; /* parts of a window may stay while another rank advances */
            s->group_last[g] |= (uint32_t)last << r;
            s->group_least[g] *= last ? (double)problem->extent[r] : s->need[r][group->gap];
        }
    }
    for (uint32_t i = 0; i < s->terms.n_factors; i++)
        s->gains[i] = s->losses[i] = s->sure[i] = 0;
    memset(s->negative, 0, sizeof s->negative);
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        *(t->joules < 0 ? &s->losses[t->factor] : &s->gains[t->factor]) += t->joules;
        s->sure[t->factor] += t->sure;
        if (t->seconds != 0)
            s->busy[s->n_busy++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_problem_operand *o = &problem->operand[s->t->keep[i].operand];
        uint32_t ranks = o->plain & ~s->cut_above[i], n = s->n_whole_keeps;
        if (ranks == 0 || isinf(problem->place[s->t->keep[i].place].bits))
            continue;
        s->whole_keep[n].keep = i;
        s->whole_keep[n].ranks = ranks;
        s->whole_keep[n].bits = o->bits * dfl_template_buffers(problem, &s->t->keep[i]);
        for (uint32_t bits = ranks; bits != 0; bits &= bits - 1)
            s->whole_keep[n].bits *= (double)problem->extent[__builtin_ctz(bits)];
        s->n_whole_keeps++;
    }
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        const dfl_term_factor *f = &s->terms.factor[i];
        s->negative[f->group] |= f->negative;
        uint32_t dividing = f->under | (!f->distinct && s->group_last[f->group] != 0 ? all & ~f->over : 0);
        for (uint32_t decided = 0; decided <= problem->n_axes; decided++)
            s->undecided[decided][i] = share[dividing & ~((1u << decided) - 1)];
    }
}

/* What is left of the ranks of every group. */
static void find_all(const dfl_search *s, dfl_spatial *p)
{
    p->taken = s->constant;
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        double all = 1, most = 1;
        for (uint32_t bits = s->group_last[g]; bits != 0; bits &= bits - 1)
            all *= (double)p->left[__builtin_ctz(bits)];
        p->all[g] = all;
        if (!(p->joules[g] < 0))
            continue;
        for (uint32_t bits = s->terms.group[g].ranks; bits != 0; bits &= bits - 1)
            most *= (double)p->left[__builtin_ctz(bits)];
        p->taken += p->joules[g] * most;
    }
}

static inline void add_busy(const dfl_search *s, const dfl_term_of *t, size_t at, double seconds)
{
    const size_t size = (size_t)s->n_used * s->terms.n_groups;

    for (uint32_t set = 0; set < s->n_sets && t->keep >= s->apart[set]; set++)
        s->now->ports[set * size + at] += seconds;
}

/* Sets the coefficients of each term group, J and s per iteration, for the present parts on the axes. */
static void scale(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    double *factor = s->now->factor, *joules = s->now->joules;
    uint32_t n_groups = s->terms.n_groups;

    memset(joules, 0, n_groups * sizeof *joules);
    memset(s->now->ports, 0, (size_t)s->n_sets * s->n_used * n_groups * sizeof *joules);
    for (uint32_t g = 0; g < n_groups && problem->windows; g++)
        s->now->window[g] = dfl_sliding_least(s, g);
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        const dfl_term_factor *f = &s->terms.factor[i];
        factor[i] = problem->operand[f->operand].elements / s->inside[f->operand][f->under] *
                    (f->distinct ? 1 : s->outside[f->operand][f->over]);
        if (problem->windows && (f->distinct || s->terms.group[f->group].window < 0))
            factor[i] *= dfl_sliding_parts(s, &problem->operand[f->operand], f->over | f->under);
        else if (problem->windows)
            factor[i] *= s->now->window[f->group];
    }
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        size_t at = (size_t)s->port_at[t->port] * n_groups + t->by.group;
        joules[t->by.group] += t->joules * factor[t->factor];
        if (t->seconds == 0)
            continue;
        add_busy(s, t, at, t->seconds * factor[t->factor]);
    }
}

dfl_spatial *dfl_spatial_new(const dfl_search *s, dfl_arena *arena)
{
    dfl_spatial *p = DFL_NEW(arena, dfl_spatial);
    uint32_t n_groups = s->terms.n_groups, n_ranks = s->problem->n_ranks;

    p->parts = DFL_NEW_ARRAY(arena, int64_t, (size_t)s->problem->n_axes * n_ranks + 1);
    p->joules = DFL_NEW_ARRAY(arena, double, n_groups + 1);
    p->factor = DFL_NEW_ARRAY(arena, double, s->terms.n_factors + 1);
    p->all = DFL_NEW_ARRAY(arena, double, n_groups + 1);
    p->ports = DFL_NEW_ARRAY(arena, double, (size_t)s->n_sets * s->n_used * n_groups + 1);
    p->inner = DFL_NEW_ARRAY(arena, double, (size_t)s->t->n_keeps * n_ranks + 1);
    p->window = s->problem->windows ? DFL_NEW_ARRAY(arena, double, n_groups + 1) : NULL;
    return p;
}

bool dfl_spatial_take(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    dfl_spatial *p = s->now;
    double steps = 1;

    note(s);
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        p->left[r] = problem->extent[r] / (int64_t)dfl_spatial_parts(s, r, s->axes_of[s->t->n_keeps]);
        steps *= (double)p->left[r];
        for (uint32_t a = 0; a < problem->n_axes; a++)
            p->parts[a * problem->n_ranks + r] = s->parts[a][r];
        for (uint32_t i = 0; i < s->t->n_keeps; i++)
            p->inner[i * problem->n_ranks + r] = (double)problem->extent[r] / dfl_spatial_parts(s, r, s->axes_of[i]);
    }
    p->unit_seconds = steps * problem->seconds;
    s->rows->evaluated++;
    if (!dfl_tile_useful(s->goal, s->constant, p->unit_seconds))
        return false;
    scale(s);
    find_all(s, p);
    s->set = dfl_port_time_least(s);
    return dfl_sharing_useful(s);
}

/* Whether `a` is at most `b` in every number that costs and room are made of, where the loops have the same to cut. */
static bool as_good(const dfl_search *s, const dfl_spatial *a, const dfl_spatial *b)
{
    size_t n_groups = s->terms.n_groups, n_ports = s->n_sets * s->n_used * n_groups;

    for (size_t g = 0; g < n_groups; g++)
        if (a->joules[g] > b->joules[g])
            return false;
    for (size_t i = 0; i < n_ports && s->goal->by_time; i++)
        if (a->ports[i] > b->ports[i])
            return false;
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        for (uint32_t r = 0; r < s->problem->n_ranks && dfl_search_room_counts(s, i); r++)
            if (a->inner[i * s->problem->n_ranks + r] > b->inner[i * s->problem->n_ranks + r])
                return false;
    return true;
}

void dfl_spatials_add(dfl_search *s, dfl_spatials *all)
{
    size_t size = s->problem->n_ranks * sizeof *s->now->left;
    const bool compare = !s->problem->windows && !s->t->form; /* written lines may ask for any */
    dfl_spatial **link = &all->home[dfl_hash(s->now->left, size, 0) % DFL_SPREAD_HOMES], *p = *link;

    for (; p != NULL && compare; p = p->next)
        if (memcmp(p->left, s->now->left, size) == 0 && as_good(s, p, s->now))
            return;
    while (*link != NULL && compare) {
        p = *link;
        p->useful = memcmp(p->left, s->now->left, size) != 0 || !as_good(s, s->now, p);
        if (p->useful)
            link = &p->next;
        else
            *link = p->next;
    }
    link = &all->home[dfl_hash(s->now->left, size, 0) % DFL_SPREAD_HOMES];
    s->now->useful = true;
    s->now->next = *link;
    *link = s->now;
    DFL_PUSH(s->rows->scratch, &all->at, s->now);
    s->now = dfl_spatial_new(s, s->rows->scratch);
}
