/* The search of one template: shared loops, then cuts for every spread. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "mapper/divisors/divisors_internal.h"
#include "mapper/divisors/occupancy.h"
#include "mapper/divisors/port_time.h"
#include "mapper/divisors/sliding.h"

/* The spread is chosen: with `best_only` its cuts, as if all loops were the einsum's own, else it waits for the shared loops. */
static void use_spread(dfl_search *s)
{
    if (dfl_deadline_passed(s->goal->halt))
        return;
    if (!dfl_spatial_take(s))
        s->rows->pruned++;
    else if (s->goal->best_only)
        dfl_search_alone(s);
    else
        dfl_spatials_add(s, &s->spreads);
}

/* Of the spreads in the list those that are left, in the order they were found. */
static uint32_t useful_spreads(dfl_spatials *all)
{
    uint32_t n = 0;

    for (size_t i = 0; i < all->at.n; i++)
        if (all->at.at[i]->useful)
            all->at.at[n++] = all->at.at[i];
    return n;
}

/* Gaps that loops of the einsum's own may stand in: with `best_only` all. */
static void find_own_gaps(dfl_search *s)
{
    for (uint32_t r = 0; r < s->problem->n_ranks; r++)
        for (uint32_t g = 0; g < s->n_gaps; g++) {
            uint32_t allow = s->goal->best_only ? s->t->allow[g] : dfl_template_own(s->t, g);
            if (allow >> r & 1) {
                s->own_needs[r] |= (s->t->needs >> g & 1) << s->own_gaps[r];
                s->own_gaps[r]++;
            }
            s->cut_at[r][g] = (uint8_t)s->own_gaps[r];
        }
}

/* Of all ranks; those of the problem before are still there. */
static void find_divisors(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    dfl_pareto_set *rows = s->rows;

    if (rows->divided != problem)
        dfl_problem_divide(rows->arena, problem, rows->divisors);
    rows->divided = problem;
    memcpy(s->divisors, rows->divisors, sizeof s->divisors);
}

static dfl_search *start(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t)
{
    dfl_search *s;
    dfl_arena_reset(rows->scratch);
    if (rows->search == NULL)
        rows->search = DFL_NEW(rows->arena, dfl_search);
    s = rows->search;
    memset(s, 0, offsetof(dfl_search, terms));
    s->rows = rows;
    s->problem = problem;
    s->t = t;
    s->n_gaps = t->n_keeps + 1;
    dfl_terms_make(problem, t, &s->terms);
    for (uint32_t g = 0; g < s->n_gaps; g++)
        s->axes_of[g] = dfl_template_axes(problem, t, (int)g);
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        for (uint32_t g = 0; g < s->n_gaps; g++) {
            uint32_t above = g > 0 ? s->cut_above[g - 1] : 0, own = g > 0 ? s->own_above[g - 1] : 0;
            if (t->allow[g] >> r & 1)
                s->last_gap[r] = g;
            s->cut_above[g] = above | t->allow[g];
            s->own_above[g] = own | dfl_template_own(t, g);
        }
        for (uint32_t g = 0; g < s->n_gaps; g++)
            s->need[r][g] = (g > 0 ? s->need[r][g - 1] : 1) * ((t->needs & 1u << g) != 0 && t->allow[g] == 1u << r ? 2 : 1);
        for (uint32_t a = 0; a < problem->n_axes; a++)
            s->parts[a][r] = 1;
        s->shared_by[r] = 1;
        s->shared_gap[r] = DFL_NONE;
    }
    for (uint32_t i = 0; i < s->terms.n; i++)
        s->ports |= (uint32_t)(s->terms.at[i].seconds != 0) << s->terms.at[i].port;
    for (uint32_t ports = s->ports; ports != 0; ports &= ports - 1)
        s->port_at[__builtin_ctz(ports)] = (uint8_t)s->n_used++;
    for (uint32_t i = 0; i < t->n_keeps; i++)
        s->limited[i] = !isinf(problem->place[t->keep[i].place].bits);
    s->constant = problem->points * problem->joules;
    find_divisors(s);
    dfl_spatial_start(s);
    return s;
}

void dfl_tile_bound(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t, double *joules,
                    double *seconds, double *busy, double *below)
{
    const dfl_search *s = start(rows, problem, t);

    dfl_spatial_bound(s, joules, seconds);
    dfl_spatial_port_time(s, busy, below);
}

void dfl_tile_squeeze(dfl_pareto_set *rows, double *joules,
                      double *seconds) { dfl_occupancy_bound(rows->search, joules, seconds); }

/* The template, prepared; what was opened last for another goal need not be prepared again. */
static dfl_search *open(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t, dfl_tile_goal *goal)
{
    dfl_search *s = rows->search;
    bool any = goal->best_only && goal->n_tracks == 0;
    double seconds;

    if (s != NULL && any && s->again && s->problem == problem && s->t == t) {
        s->goal = goal;
        s->spent = false;
        return s;
    }
    s = start(rows, problem, t);
    s->goal = goal;
    find_own_gaps(s);
    dfl_cuts_prepare(s);
    dfl_spatial_bound(s, &s->floor_joules, &seconds);
    dfl_port_time_sets(s);
    dfl_spatials_prepare(s);
    dfl_sharing_loops(s);
    s->now = dfl_spatial_new(s, rows->scratch);
    s->again = any;
    return s;
}

bool dfl_tile_search(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t, dfl_tile_goal *goal)
{
    dfl_search *s = open(rows, problem, t, goal);

    s->effort = goal->effort == 0 ? 0 : rows->evaluated - rows->swept + goal->effort;
    dfl_spatials_each(s, use_spread);
    if (t->through)
        dfl_share_through(s, s->spreads.at.at, useful_spreads(&s->spreads));
    else if (!goal->best_only)
        dfl_share(s, s->spreads.at.at, useful_spreads(&s->spreads));
    return !s->spent;
}

