/* Sums, and the corners of the polygon. */
#include "mapper/problem/criteria.h"

#include <math.h>

/* Of a corner, which is computed from sums. */
#define ROUNDING (1 + 1e-12)

double dfl_value_joules(const void *objective, double joules, double seconds)
{
    (void)objective;
    (void)seconds;
    return joules;
}

double dfl_value_seconds(const void *objective, double joules, double seconds)
{
    (void)objective;
    (void)joules;
    return seconds;
}

double dfl_value_mixed(const void *rate, double joules, double seconds)
{
    return joules + *(const double *)rate * seconds;
}

dfl_criteria dfl_criteria_zero(void)
{
    return (dfl_criteria){ { 0 } };
}

dfl_criteria dfl_criteria_none(void)
{
    dfl_criteria c;

    for (uint32_t i = 0; i < DFL_COSTS; i++)
        c.at[i] = INFINITY;
    return c;
}

void dfl_criteria_add(dfl_criteria *to, const dfl_criteria *more)
{
    for (uint32_t i = 0; i < DFL_COSTS; i++)
        to->at[i] += more->at[i];
}

void dfl_criteria_lower(dfl_criteria *to, const dfl_criteria *other)
{
    for (uint32_t i = 0; i < DFL_COSTS; i++)
        to->at[i] = other->at[i] < to->at[i] ? other->at[i] : to->at[i];
}

dfl_criteria dfl_criteria_with(const dfl_goal *goal, const dfl_criteria *rest, double joules, double seconds)
{
    dfl_criteria c = *rest;

    c.at[DFL_COST_JOULES] += joules;
    c.at[DFL_COST_SECONDS] += seconds;
    for (uint32_t i = 0; i < goal->n_mixes; i++)
        c.at[DFL_COST_MIXED + i] += joules + goal->rate[i] * seconds;
    return c;
}

void dfl_goal_rates(dfl_goal *goal, double first, double part)
{
    for (goal->n_mixes = 0; goal->n_mixes < DFL_MIXES; goal->n_mixes++) {
        double rate = goal->n_mixes == 0 ? first : goal->rate[goal->n_mixes - 1] * part;
        goal->rate[goal->n_mixes] = rate;
        goal->per_rate[goal->n_mixes] = 1 / rate;
        goal->per_step[goal->n_mixes] = 1 / (rate - rate * part);
    }
}

static inline double more(double a, double b) { return a > b ? a : b; }
static inline double less(double a, double b) { return a < b ? a : b; }

static inline double value(const dfl_goal *goal, double joules, double seconds)
{
    double all = joules + goal->leakage * seconds;

    return goal->product ? all * seconds : goal->value(goal->objective, all, seconds);
}

static inline double least_seconds(const dfl_criteria *c, double seconds)
{
    seconds += c->at[DFL_COST_SECONDS];
    for (uint32_t i = 0; i < DFL_PORTS; i++)
        seconds = more(seconds, c->at[DFL_COST_BUSY + i]);
    return seconds;
}

/* The least at the corners of the chain of lower edges, from the fastest to the one with least energy, of `c` and so many joules
   and seconds more; `least` are the seconds of all at least. */
static inline double corners(const dfl_goal *goal, const dfl_criteria *c, double joules, double seconds, double least)
{
    double all = c->at[DFL_COST_JOULES] + joules, most_joules = all, most_seconds = least, best, mixed[DFL_MIXES] = { 0 };

    for (uint32_t i = 0; i < goal->n_mixes; i++) {
        mixed[i] = c->at[DFL_COST_MIXED + i] + (joules + goal->rate[i] * seconds);
        most_joules = more(most_joules, mixed[i] - goal->rate[i] * least);
        most_seconds = more(most_seconds, (mixed[i] - all) * goal->per_rate[i]);
    }
    best = less(value(goal, most_joules, least), value(goal, all, most_seconds));
    for (uint32_t i = 0; i + 1 < goal->n_mixes; i++) {
        double s = (mixed[i] - mixed[i + 1]) * goal->per_step[i], j = mixed[i] - goal->rate[i] * s;
        if (s > least && j > all)
            best = less(best, value(goal, j, s));
    }
    return best;
}

double dfl_goal_least(const dfl_goal *goal, const dfl_criteria *c)
{
    double least = least_seconds(c, 0);

    if (!(least < INFINITY) || goal->n_mixes == 0)
        return value(goal, c->at[DFL_COST_JOULES], least);
    return corners(goal, c, 0, 0, least);
}

bool dfl_goal_worth(const dfl_goal *goal, const dfl_criteria *rest, double joules, double seconds, double limit)
{
    double least = least_seconds(rest, seconds);

    if (value(goal, rest->at[DFL_COST_JOULES] + joules, least) > limit)
        return false;
    return goal->n_mixes == 0 || limit == INFINITY || corners(goal, rest, joules, seconds, least) <= limit * ROUNDING;
}

bool dfl_goal_within(const dfl_goal *goal, const dfl_criteria *c, double limit)
{
    return dfl_goal_worth(goal, c, 0, 0, limit);
}
