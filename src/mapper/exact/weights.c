/* Rates from the slopes of the objective, ports from the templates. */
#include "mapper/exact/weights.h"

#include <math.h>

/* The second rate is this part of the first one: where the best mappings are bound by time, it holds the corner of those with
   less energy back. Any part will do; this one was chosen by trial. */
static const double MORE_SECONDS = 0.25;

dfl_criteria dfl_weights_templates(const dfl_einsum_classes *k, bool beside, bool roomy)
{
    dfl_criteria all = dfl_criteria_zero();

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_einsum_class *c = &k->at.at[k->of[e]];
        double joules = INFINITY, seconds = INFINITY;
        for (size_t i = 0; i < c->candidates.n; i++) {
            const dfl_candidate *x = &c->candidates.at[i];
            joules = fmin(joules, roomy ? x->roomy_joules : x->joules);
            seconds = fmin(seconds, roomy ? x->roomy_seconds : x->seconds);
        }
        all.at[DFL_COST_JOULES] += joules;
        all.at[DFL_COST_SECONDS] = beside ? fmax(all.at[DFL_COST_SECONDS], seconds) : all.at[DFL_COST_SECONDS] + seconds;
    }
    return all;
}

dfl_criteria dfl_weights_units(const dfl_einsum_classes *k, bool beside)
{
    dfl_criteria all = dfl_criteria_zero();

    for (uint32_t e = 0; e < k->n; e++) {
        double joules = INFINITY, least = INFINITY;
        for (size_t i = 0; i < k->problems[e].n; i++) {
            const dfl_problem *problem = k->problems[e].at[i];
            double seconds = problem->points * problem->seconds;
            for (uint32_t a = 0; a < problem->n_axes; a++)
                seconds /= (double)problem->axis[a].size;
            joules = fmin(joules, problem->points * problem->joules);
            least = fmin(least, seconds);
        }
        all.at[DFL_COST_JOULES] += joules;
        all.at[DFL_COST_SECONDS] = beside ? fmax(all.at[DFL_COST_SECONDS], least) : all.at[DFL_COST_SECONDS] + least;
    }
    return all;
}

static void choose_rates(const dfl_einsum_classes *k, const dfl_objective *objective, dfl_tile_goal *goal)
{
    dfl_criteria all = dfl_weights_templates(k, false, false);
    double joules = all.at[DFL_COST_JOULES], seconds = all.at[DFL_COST_SECONDS], per_joule, per_second;

    if (!goal->by_energy || !goal->by_time || !dfl_objective_cornered(objective) || !(seconds > 0 && seconds < INFINITY))
        return;
    dfl_objective_slopes(objective, 0, joules + goal->of.leakage * seconds, seconds, &per_joule, &per_second);
    if (!(per_joule > 0 && per_second > 0))
        return;
    dfl_goal_rates(&goal->of, per_second / per_joule + goal->of.leakage, MORE_SECONDS);
}

static double busy(const dfl_candidate *x, uint32_t port)
{
    for (uint32_t p = 0; p < x->problem->n_places; p++)
        if (x->problem->place[p].memory == port / 2)
            return x->times->busy[2 * p + port % 2];
    return 0;
}

/* Of a pattern, or of the whole class (DFL_NONE). */
static double least_busy(const dfl_einsum_class *c, uint32_t pattern, uint32_t port)
{
    double least = INFINITY;

    for (size_t i = 0; i < c->candidates.n; i++)
        if (pattern == DFL_NONE || c->candidates.at[i].pattern == pattern)
            least = fmin(least, busy(&c->candidates.at[i], port));
    return least < INFINITY ? least : 0;
}

/* The busiest ports. */
static void choose_ports(dfl_arena *scratch, const dfl_einsum_classes *k, dfl_tile_goal *goal)
{
    uint32_t n = 2 * k->m->system->n_memories;
    double *all = DFL_NEW_ARRAY(scratch, double, (size_t)n + 1), *of = DFL_NEW_ARRAY(scratch, double, k->at.n + 1);

    for (uint32_t port = 0; port < n; port++) {
        for (size_t c = 0; c < k->at.n; c++)
            of[c] = least_busy(&k->at.at[c], DFL_NONE, port);
        for (uint32_t e = 0; e < k->n; e++)
            all[port] += of[k->of[e]];
    }
    for (goal->n_ports = 0; goal->n_ports < DFL_PORTS; goal->n_ports++) {
        uint32_t best = DFL_NONE;
        for (uint32_t port = 0; port < n; port++)
            if (all[port] > 0 && (best == DFL_NONE || all[port] > all[best]))
                best = port;
        if (best == DFL_NONE)
            return;
        all[best] = 0;
        goal->port[goal->n_ports] = best;
    }
}

void dfl_weights_look(const dfl_objective *o, bool front, dfl_tile_goal *goal)
{
    bool plain = front && o->room == DFL_NONE;

    goal->by_energy = goal->by_time = plain;
    for (uint32_t i = 0; i < (front ? dfl_objective_count(o) : 1); i++) {
        goal->by_energy |= dfl_objective_term(o, i, 1, 1) != dfl_objective_term(o, i, 2, 1);
        goal->by_time |= dfl_objective_term(o, i, 1, 1) != dfl_objective_term(o, i, 1, 2);
    }
    goal->by_time |= goal->by_energy && goal->of.leakage > 0;
}

bool dfl_weights_count_waits(const dfl_mapping *m, const dfl_objective *objective, bool front)
{
    dfl_tile_goal goal = { .of = { .leakage = dfl_system_leakage(m->system) } };

    dfl_weights_look(objective, front, &goal);
    return goal.by_time && !m->options.overlap_perfect;
}

void dfl_weights_choose(dfl_arena *scratch, dfl_einsum_classes *k, const dfl_objective *objective, bool plain,
                        dfl_tile_goal *goal)
{
    goal->of.n_mixes = goal->n_ports = 0;
    if (!plain)
        choose_rates(k, objective, goal);
    if (!plain && goal->by_time)
        choose_ports(scratch, k, goal);
    for (size_t c = 0; c < k->at.n; c++)
        for (uint32_t p = 0; p < k->at.at[c].patterns.n; p++)
            for (uint32_t i = 0; i < DFL_PORTS; i++)
                k->at.at[c].patterns.at[p].least.at[DFL_COST_BUSY + i] =
                    i < goal->n_ports ? least_busy(&k->at.at[c], p, goal->port[i]) : 0;
}

dfl_criteria dfl_weights_lifted(const dfl_einsum_classes *k)
{
    dfl_criteria all = dfl_weights_templates(k, true, true), units = dfl_weights_units(k, false);

    all.at[DFL_COST_SECONDS] = fmax(all.at[DFL_COST_SECONDS], units.at[DFL_COST_SECONDS]);
    return all;
}
